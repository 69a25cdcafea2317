import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { PNG } from "pngjs";
import { removeFolder } from "../../_setup/folders.ts";

/** Small real files, made here so that none has to be kept. */

export function pdf(): Buffer {
  return Buffer.from(
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
  );
}

export function png(width = 4, height = 3): Buffer {
  const image = new PNG({ width, height });
  for (let i = 0; i < image.data.length; i++) image.data[i] = (i * 37) & 255;
  return PNG.sync.write(image);
}

/** One channel, 8 kHz: loud in its second half. */
export function wav(seconds: number): Buffer {
  const samples = Math.round(seconds * 8_000);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples * 2, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples * 2, 40);
  const sound = Buffer.alloc(samples * 2);
  for (let i = 0; i < samples; i++) {
    const loudness = i < samples / 2 ? 3_000 : 30_000;
    sound.writeInt16LE(Math.round(Math.sin((i / 8_000) * 2 * Math.PI * 440) * loudness), i * 2);
  }
  return Buffer.concat([head, sound]);
}

/** An old Office file as far as it is looked at: its mark, and a stream's name. */
export function cfb(stream: string): Buffer {
  const file = Buffer.alloc(1_536);
  Buffer.from("d0cf11e0a1b11ae1", "hex").copy(file);
  Buffer.from("Root Entry", "utf16le").copy(file, 512);
  Buffer.from(stream, "utf16le").copy(file, 640);
  return file;
}

const CONTENT_TYPES = "[Content_Types].xml";

export const docx = (before: Record<string, string> = {}): Buffer =>
  zip({
    ...before,
    "word/document.xml": "<w:document/>",
    [CONTENT_TYPES]: types("word/document", "wordprocessingml.document"),
  });

export const xlsx = (): Buffer =>
  zip({ [CONTENT_TYPES]: types("xl/workbook", "spreadsheetml.sheet"), "xl/workbook.xml": "<workbook/>" });

const types = (part: string, type: string): string =>
  `<Types><Override PartName="/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`;

/** Entries are stored as they are. */
export function zip(entries: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(data.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), data]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), shared, more, Buffer.from(name)]),
    );
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

/**
 * A file made by the real ffmpeg.
 *
 * @param args what comes between the program's name and the output
 */
export function byFfmpeg(extension: string, args: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "parley-sample-"));
  const path = join(folder, `sample.${extension}`);
  try {
    execFileSync("ffmpeg", ["-loglevel", "error", ...args.split(" "), path]);
    return readFileSync(path);
  } finally {
    removeFolder(folder);
  }
}

/** Ten pictures a second. */
export const gif = (width: number, height: number, seconds: number): Buffer =>
  byFfmpeg("gif", `-f lavfi -i testsrc=size=${width}x${height}:rate=10:duration=${seconds}`);
export const mp3 = (): Buffer => byFfmpeg("mp3", "-f lavfi -i sine=440:duration=3");
export const mp4 = (): Buffer =>
  byFfmpeg("mp4", "-f lavfi -i testsrc=duration=2:size=320x180:rate=10 -pix_fmt yuv420p");
/** Mono, as phones record, or with two channels. */
export const opus = (channels: 1 | 2 = 1): Buffer =>
  byFfmpeg(
    "ogg",
    `-f lavfi -i sine=440:duration=3 -c:a libopus -ac ${channels} -ar 16000 -frame_duration 60`,
  );
