import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "./folders.ts";

/** Files made to exhaust whoever reads them. They are small to send; what they claim, or list, is large. */

/** A FLAC whose comments all have names of their own: 224 kB of them kept a parser busy for seconds. */
export function flacOfComments(comments: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4096, 0);
  info.writeUInt16BE(4096, 2);
  // 44,100 Hz, one channel, 16 bits, a second long.
  info.writeUInt32BE(((44_100 << 12) | (15 << 4)) >>> 0, 10);
  info.writeUInt32BE(44_100, 14);
  const entries = Array.from({ length: comments }, (_, number) => {
    const text = Buffer.from(`K${number.toString(36)}=v`);
    return Buffer.concat([u32le(text.length), text]);
  });
  const list = Buffer.concat([u32le(0), u32le(comments), ...entries]);
  return Buffer.concat([
    Buffer.from("fLaC"),
    flacBlock(0, info, false),
    flacBlock(4, list, true),
    Buffer.alloc(64),
  ]);
}

/** An MP4 of sound that holds nothing but empty boxes, `bytes` of them. */
export function m4aOfEmptyBoxes(bytes: number): Buffer {
  const empty = box("free", Buffer.alloc(0));
  const inside = Buffer.alloc(Math.floor(bytes / empty.length) * empty.length, empty);
  return Buffer.concat([
    box("ftyp", Buffer.from("M4A \0\0\0\0M4A ")),
    box("moov", Buffer.concat([box("mvhd", Buffer.alloc(100)), inside])),
  ]);
}

/** 36 bytes that say they are a WebP of `side` × `side` pixels. */
export function webpOfPixels(side: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0x2f;
  head.writeUInt32LE(((side - 1) | ((side - 1) << 14)) >>> 0, 1);
  const data = Buffer.concat([head, Buffer.from("07d0fffef7bfff8188", "hex"), Buffer.alloc(2)]);
  return riff("WEBP", [["VP8L", data]]);
}

/** An AVI whose one stream says that it is `side` × `side` pixels, with many small frames that say so too. */
export function aviOfPixels(side: number, frames: number): Buffer {
  const format = Buffer.alloc(40);
  format.writeUInt32LE(40, 0);
  format.writeInt32LE(side, 4);
  format.writeInt32LE(side, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(24, 14);
  format.write("MPNG", 16, "latin1");
  return avi([format], Array<Buffer>(frames).fill(pngHead(side)));
}

/** An AVI of very many streams. */
export function aviOfStreams(streams: number): Buffer {
  const format = Buffer.alloc(40);
  format.writeUInt32LE(40, 0);
  format.writeInt32LE(64, 4);
  format.writeInt32LE(64, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(24, 14);
  format.write("MJPG", 16, "latin1");
  return avi(Array<Buffer>(streams).fill(format), [Buffer.alloc(16)]);
}

/** An MP3 that begins with an APE tag of many items. */
export function mp3OfApeTag(items: number): Buffer {
  const entries = Buffer.concat(
    Array.from({ length: items }, (_, number) =>
      Buffer.concat([u32le(1), u32le(0), Buffer.from(`k${number.toString(36)}\0v`)]),
    ),
  );
  const head = Buffer.concat([
    Buffer.from("APETAGEX"),
    u32le(2000),
    u32le(entries.length + 32),
    u32le(items),
  ]);
  const flags = (value: number): Buffer => Buffer.concat([u32le(value), Buffer.alloc(8)]);
  const frame = Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(413)]);
  const frames = Buffer.concat(Array<Buffer>(40).fill(frame));
  return Buffer.concat([frames, head, flags(0xa0000000), entries, head, flags(0x80000000)]);
}

/** An Ogg/Opus file of real sound whose comments, a picture say, take `bytes`. */
export function opusOfComments(bytes: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "parley-hostile-"));
  try {
    const made = join(folder, "in.ogg");
    const meta = join(folder, "meta");
    spawnSync("sh", [
      "-c",
      `{ printf ';FFMETADATA1\\ncomment='; head -c ${bytes} /dev/zero | tr '\\0' x; echo; } >${meta}`,
    ]);
    const args = `-loglevel error -f lavfi -i sine=440:duration=3 -i ${meta} -map 0 -map_metadata 1 -c:a libopus -ac 1 -ar 16000 -frame_duration 60 ${made}`;
    spawnSync("ffmpeg", args.split(" "));
    return readFileSync(made);
  } finally {
    removeFolder(folder);
  }
}

function avi(formats: Buffer[], frames: Buffer[]): Buffer {
  const streams = formats.map((format) => {
    const head = Buffer.alloc(56);
    head.write("vids", 0, "latin1");
    head.write(format.toString("latin1", 16, 20), 4, "latin1");
    head.writeUInt32LE(1, 20);
    head.writeUInt32LE(25, 24);
    head.writeUInt32LE(frames.length, 32);
    return list("strl", [
      ["strh", head],
      ["strf", format],
    ]);
  });
  const main = Buffer.alloc(56);
  main.writeUInt32LE(40_000, 0);
  main.writeUInt32LE(frames.length, 16);
  main.writeUInt32LE(formats.length, 24);
  const header = list("hdrl", [["avih", main]], streams);
  const movie = list(
    "movi",
    frames.map((frame) => ["00dc", frame]),
  );
  const content = Buffer.concat([Buffer.from("AVI "), header, movie]);
  return Buffer.concat([Buffer.from("RIFF"), u32le(content.length), content]);
}

/** A PNG up to its first pixels. */
function pngHead(side: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 8;
  head[9] = 2;
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    u32be(13),
    Buffer.from("IHDR"),
    head,
    u32be(0),
    u32be(8),
    Buffer.from("IDAT"),
    Buffer.from("789c010000ffff00", "hex"),
    u32be(0),
  ]);
}

type Chunk = readonly [name: string, data: Buffer];

const chunk = ([name, data]: Chunk): Buffer =>
  Buffer.concat([Buffer.from(name), u32le(data.length), data, Buffer.alloc(data.length % 2)]);
const riff = (type: string, chunks: Chunk[]): Buffer =>
  chunk(["RIFF", Buffer.concat([Buffer.from(type), ...chunks.map(chunk)])]);
const list = (type: string, chunks: Chunk[], more: Buffer[] = []): Buffer =>
  chunk(["LIST", Buffer.concat([Buffer.from(type), ...chunks.map(chunk), ...more])]);

function box(name: string, data: Buffer): Buffer {
  return Buffer.concat([u32be(data.length + 8), Buffer.from(name), data]);
}

function flacBlock(type: number, data: Buffer, last: boolean): Buffer {
  const head = u32be(data.length);
  head[0] = type | (last ? 0x80 : 0);
  return Buffer.concat([head, data]);
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
