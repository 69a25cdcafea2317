import { Worker } from "node:worker_threads";
import { MANIFEST, parseManifest, type Manifest } from "./manifest.ts";

/** What the thread has found: SHA-256 in hex of each file, and the manifest's text. */
interface Found {
  hashes: Record<string, string>;
  manifest: string;
  /** Whether the archive came to its end. */
  whole: boolean;
}

// Hashing gigabytes keeps a core busy for seconds: it is no work for the event loop. As text, because a bundle has no file
// for the thread to start from. It reads what `pack` writes: plain files with short names, sizes in octal or, from 8 GiB on, binary.
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { createHash } = require("node:crypto");
const found = { hashes: {}, manifest: "", whole: false };
let head = Buffer.alloc(0), hash = null, name = "", left = 0, padding = 0, ends = 0;
const sizeOf = (block) => block[124] & 0x80
  ? Number(block.readBigUInt64BE(128))
  : parseInt(block.toString("latin1", 124, 136).replace(/[\\0 ]/g, "") || "0", 8);
const finish = () => { if (hash) { found.hashes[name] = hash.digest("hex"); hash = null; } };
const take = (chunk) => {
  for (let at = 0; at < chunk.length;) {
    if (left > 0) {
      const part = chunk.subarray(at, at + left);
      hash.update(part);
      if (name === workerData.manifest) found.manifest += part.toString("utf8");
      at += part.length;
      left -= part.length;
      if (left === 0) finish();
    } else if (padding > 0) {
      const skipped = Math.min(padding, chunk.length - at);
      padding -= skipped;
      at += skipped;
    } else {
      const part = chunk.subarray(at, at + 512 - head.length);
      head = Buffer.concat([head, part]);
      at += part.length;
      if (head.length < 512) continue;
      const block = head;
      head = Buffer.alloc(0);
      if (block[0] === 0) { ends++; continue; }
      if (ends > 0) throw new Error("something follows its end");
      name = block.toString("utf8", 0, 100).replace(/\\0.*$/s, "");
      left = sizeOf(block);
      if (!Number.isSafeInteger(left)) throw new Error("a size in it is no number");
      padding = (512 - (left % 512)) % 512;
      hash = createHash("sha256");
      if (left === 0) finish();
    }
  }
};
parentPort.on("message", (chunk) => {
  if (chunk === null) {
    found.whole = ends >= 2 && left === 0 && head.length === 0;
    parentPort.postMessage({ found });
    return parentPort.close();
  }
  take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  parentPort.postMessage({});
});
`;

/**
 * Reads a whole archive and compares every file with its manifest, in a thread of its own; nothing is held in memory.
 *
 * @param chunks the archive, wherever it lies
 * @throws Error in words for the operator when it is cut off or damaged; what the stream throws
 */
export async function checkArchive(chunks: AsyncIterable<Uint8Array>): Promise<Manifest> {
  const { hashes, manifest: text, whole } = await inThread(chunks);
  const manifest = parseManifest(text);
  const wrong = manifest.files.find(({ path, sha256 }) => hashes[path] !== sha256);
  if (wrong) throw new Error(`The backup is incomplete: ${wrong.path} is missing or damaged.`);
  if (!whole) throw new Error("The backup is incomplete: it has no end.");
  return manifest;
}

async function inThread(chunks: AsyncIterable<Uint8Array>): Promise<Found> {
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData: { manifest: MANIFEST } });
  const answers: ((answer: { found?: Found } | Error) => void)[] = [];
  const tell = (answer: { found?: Found } | Error): void => void answers.shift()?.(answer);
  worker.on("message", tell);
  worker.on("error", (error) => tell(error as Error));
  worker.on("exit", () => tell(new Error("the thread ended")));
  const ask = (chunk: Uint8Array | null): Promise<{ found?: Found }> =>
    new Promise((resolve, reject) => {
      answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(chunk);
    });
  try {
    for await (const chunk of chunks) await ask(chunk);
    return (await ask(null)).found!;
  } finally {
    await worker.terminate();
  }
}
