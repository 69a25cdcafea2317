import { spawn, type ChildProcessByStdio } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { systemTime } from "../model/time.ts";
import { Unreadable } from "./decoder/process.ts";
import { createTimeLimit, limited, lowerPriority } from "./decoder/limits.ts";

/**
 * ffmpeg in a process of its own. It is fed files of strangers, so it may open nothing but local files and its own pipes,
 * read nothing as a play list, take no longer and no more memory than its limits, and it does not outlive the gateway:
 * everything it makes goes (also) to a pipe, and a closed pipe ends it.
 */
export interface Ffmpeg {
  /** Whether there is one: looked for anew each time, because it may have been installed meanwhile. */
  find(): string | null;
  /**
   * @returns what it said on stderr
   * @throws {Unreadable} also when there is none
   */
  run(work: FfmpegWork): Promise<string>;
  /** Ends what is running. */
  stop(): void;
}

/** What ffmpeg is to make of a file. */
export interface FfmpegWork {
  input: string;
  /** How the input is to be read. */
  reading?: string[];
  /** Outputs, the last of them `pipe:1`. */
  args: string[];
  /** Gets what it writes there. */
  onOutput(chunk: Buffer): void;
  memoryBytes: number;
  /** Ends it. */
  signal: AbortSignal;
  /**
   * Asked twice a second once it has had its time whether what it has made by then is worth going on; default: no.
   *
   * @param ms that it has taken
   */
  mayGoOn?(ms: number): boolean;
}

const NICENESS = 10;
const ASKED_EVERY_MS = 500;
/** Of a processor; above what any work may take. */
const CPU_SECONDS = 90;
/** A frame of 8K. */
const MAX_PIXELS = 36_000_000;
const MAX_SAID_CHARACTERS = 16_000;
/** Containers of sound and video. Play lists (hls, concat, dash …), which name further files, are not among them. */
const FORMATS =
  "mp3,mov,wav,w64,ogg,flac,aac,amr,amrnb,amrwb,aiff,au,caf,ape,wv,ac3,eac3,dts,mpeg,mpegts,mpegvideo,matroska,avi,flv,asf";
const SAFE_READING = `-nostdin -hide_banner -max_pixels ${MAX_PIXELS} -threads 1 -filter_threads 1 -protocol_whitelist file,pipe -format_whitelist ${FORMATS}`;
/** What it says when it got less memory than it asked for, or a frame was larger than allowed. */
const EXCEEDED = /Cannot allocate memory|max pixel count/;

/** @param configured path or name of the program; null looks for `ffmpeg` */
export function createFfmpeg(configured: string | null): Ffmpeg {
  const running = new Set<ChildProcessByStdio<null, Readable, Readable>>();
  const stop = (): void => {
    for (const child of running) child.kill("SIGKILL");
  };
  process.once("exit", stop);

  const find = (): string | null => inPath(configured ?? "ffmpeg");

  async function run(program: string, work: FfmpegWork): Promise<string> {
    const { memoryBytes, signal, mayGoOn = () => false } = work;
    const [file, args] = limited(program, argumentsOf(work), { memoryBytes, cpuSeconds: CPU_SECONDS });
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: {} });
    running.add(child);
    const kill = (): void => void child.kill("SIGKILL");
    if (signal.aborted) kill();
    signal.addEventListener("abort", kill, { once: true });
    if (child.pid !== undefined) lowerPriority(child.pid, NICENESS);
    let said = "";
    child.stdout.on("data", work.onOutput);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (said.length < MAX_SAID_CHARACTERS) said += text;
    });
    const begun = systemTime.monotonic();
    const isOver = createTimeLimit(child.pid);
    let late = false;
    const cancel = systemTime.every(ASKED_EVERY_MS, () => {
      if (!isOver() || mayGoOn(systemTime.monotonic() - begun)) return;
      late = true;
      kill();
    });
    try {
      const ended = await new Promise<number | string | null>((resolve) => {
        child.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
        child.once("close", (code, signal) => resolve(code === 0 ? null : (signal ?? code)));
      });
      if (late) throw new Unreadable("ffmpeg took too long", { exceeded: true });
      const exceeded = typeof ended === "string" || EXCEEDED.test(said);
      if (ended !== null) throw new Unreadable(`ffmpeg ended with ${ended}`, { exceeded });
      return said;
    } finally {
      cancel();
      signal.removeEventListener("abort", kill);
      running.delete(child);
    }
  }

  return {
    find,
    async run(work) {
      const program = find();
      if (program === null) throw new Unreadable("ffmpeg is not installed");
      return run(program, work);
    },
    stop() {
      process.removeListener("exit", stop);
      stop();
    },
  };
}

const argumentsOf = ({ input, reading = [], args }: FfmpegWork): string[] => [
  ...SAFE_READING.split(" "),
  ...reading,
  "-i",
  `file:${input}`,
  ...args,
];

function inPath(program: string): string | null {
  if (program.includes("/")) return isExecutable(program) ? program : null;
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
