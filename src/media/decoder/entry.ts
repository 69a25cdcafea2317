import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { builtFile, sourceFile, tsxFile } from "../../model/built-file.ts";
import { limited, lowerPriority } from "./limits.ts";

/** The file that the build makes of `main.ts`, see `nitro.config.ts`. */
const DECODER_FILE = "decoder.mjs";
const NICENESS = 5;
const MEBIBYTE = 1024 * 1024;
/** Node takes 60 MiB of it before it has read anything; what reads TypeScript takes more. */
const MEMORY_BYTES = 140 * MEBIBYTE;
const MEMORY_BYTES_OF_SOURCES = 300 * MEBIBYTE;
/** More than all jobs of one process may take together, see `RETIRES_AFTER_MS`. */
const CPU_SECONDS = 120;
/** A small heap, and few stacks. */
const NODE_OPTIONS = ["--max-old-space-size=48", "--max-semi-space-size=1", "--v8-pool-size=1"];
/** Few threads, and freed memory is given back at once. */
const FRUGAL = { UV_THREADPOOL_SIZE: "2", MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "131072" };
/** It gets nothing of the gateway's surroundings that may be secret. */
const KEPT_OF_ENVIRONMENT = ["PATH", "LD_LIBRARY_PATH", "TMPDIR"];

/**
 * Starts the process that reads strangers' files, with limits of its own. In the sources it is `main.ts`, read with tsx.
 *
 * @throws Error when neither a build nor the sources are there
 */
export function spawnDecoder(from: string = import.meta.url): ChildProcess {
  const source = sourceFile("./main.ts", from);
  const program =
    source === null
      ? [fileURLToPath(builtFile(DECODER_FILE, from))]
      : ["--import", tsxFile("loader.mjs", from), fileURLToPath(source)];
  const limits = {
    memoryBytes: source === null ? MEMORY_BYTES : MEMORY_BYTES_OF_SOURCES,
    cpuSeconds: CPU_SECONDS,
  };
  const [file, args] = limited(process.execPath, [...NODE_OPTIONS, ...program], limits);
  const child = spawn(file, args, {
    // What it says on stderr could hold bytes of the file.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    env: { ...environment(), ...FRUGAL },
  });
  if (child.pid !== undefined) lowerPriority(child.pid, NICENESS);
  return child;
}

function environment(): Record<string, string> {
  const entries = KEPT_OF_ENVIRONMENT.map((name) => [name, process.env[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, string>;
}
