import { spawn, type ChildProcessByStdio } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";

/**
 * ffmpeg in a process of its own. It is fed files of strangers, so it may open nothing but local files and its own pipes,
 * read nothing as a play list, take no longer than a limit, and it does not outlive the gateway: everything it makes goes
 * (also) to a pipe, and a closed pipe ends it.
 */
export interface Ffmpeg {
  /** Whether there is one: looked for anew each time, because it may have been installed meanwhile. */
  find(): string | null;
  /**
   * @param args outputs, the last of them `pipe:1`
   * @param onOutput gets what it writes there
   * @returns what it said on stderr
   * @throws {FfmpegFailed} also when there is none
   */
  run(input: string, args: string[], onOutput: (chunk: Buffer) => void): Promise<string>;
  /** Ends what is running. */
  stop(): void;
}

/** ffmpeg is not installed, ended with an error or took too long; the message says which. */
export class FfmpegFailed extends Error {
  constructor(why: string) {
    super(`ffmpeg ${why}`);
    this.name = "FfmpegFailed";
  }
}

const TIME_LIMIT_SECONDS = 120;
const MAX_SAID_CHARACTERS = 16_000;
const OPTIONAL_PACKAGE = "@ffmpeg-installer/ffmpeg";
/** Containers of sound and video. Play lists (hls, concat, dash …), which name further files, are not among them. */
const FORMATS =
  "mp3,mov,wav,w64,ogg,flac,aac,amr,amrnb,amrwb,aiff,au,caf,ape,wv,ac3,eac3,dts,mpeg,mpegts,mpegvideo,matroska,avi,flv,asf";
const NICENESS = 10;

/** @param configured path or name of the program; null looks for `ffmpeg` */
export function createFfmpeg(configured: string | null): Ffmpeg {
  const running = new Set<ChildProcessByStdio<null, Readable, Readable>>();
  const stop = (): void => {
    for (const child of running) child.kill("SIGKILL");
  };
  process.once("exit", stop);

  async function run(
    program: string,
    args: string[],
    onOutput: (chunk: Buffer) => void,
  ): Promise<{ said: string; ended: string | null }> {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: {} });
    running.add(child);
    // What people wait for, above all messages, goes first.
    if (child.pid !== undefined) lowerPriority(child.pid);
    let said = "";
    child.stdout.on("data", onOutput);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (said.length < MAX_SAID_CHARACTERS) said += text;
    });
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, TIME_LIMIT_SECONDS * 1000);
    try {
      const ended = await new Promise<string | null>((resolve) => {
        child.once("error", (error: NodeJS.ErrnoException) => resolve(`did not start (${error.code})`));
        child.once("close", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}`));
      });
      return { said, ended: late ? `took longer than ${TIME_LIMIT_SECONDS} s` : ended };
    } finally {
      clearTimeout(limit);
      running.delete(child);
    }
  }

  const find = (): string | null => inPath(configured ?? "ffmpeg") ?? (configured ? null : ofPackage());
  return {
    find,
    async run(input, args, onOutput) {
      const program = find();
      if (program === null) throw new FfmpegFailed("is not installed");
      const limits = ["-nostdin", "-hide_banner", "-timelimit", String(TIME_LIMIT_SECONDS)];
      const reading = [
        "-protocol_whitelist",
        "file,pipe",
        "-format_whitelist",
        FORMATS,
        "-i",
        `file:${input}`,
      ];
      const { said, ended } = await run(program, [...limits, ...reading, ...args], onOutput);
      if (ended !== null) throw new FfmpegFailed(ended);
      return said;
    },
    stop() {
      process.removeListener("exit", stop);
      stop();
    },
  };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already.
  }
}

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

/** A package that brings the program; nobody needs to have it. */
function ofPackage(): string | null {
  try {
    const { path } = createRequire(import.meta.url)(OPTIONAL_PACKAGE) as { path: string };
    return isExecutable(path) ? path : null;
  } catch {
    return null;
  }
}
