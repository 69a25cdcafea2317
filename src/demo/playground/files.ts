import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FileView } from "./view.ts";

/** A file that can be sent, and where it lies. */
export interface SendableFile extends FileView {
  path: string;
}

/** Sample files, and what was dropped on the page. */
export interface Files {
  all(): FileView[];
  get(id: string): SendableFile | undefined;
  /** @param name as the person's machine calls it @param mimetype as the browser names it */
  keep(name: string, mimetype: string, bytes: Uint8Array): Promise<FileView>;
}

const SAMPLES = fileURLToPath(new URL("./samples/", import.meta.url));
/** Drawn and sounded for the demo. */
const SAMPLE_FILES: Omit<FileView, "sample">[] = [
  { id: "photo", name: "harbour.jpg", mimetype: "image/jpeg", kind: "image" },
  { id: "voice", name: "voice-note.ogg", mimetype: "audio/ogg; codecs=opus", kind: "voice" },
  { id: "video", name: "clip.mp4", mimetype: "video/mp4", kind: "video" },
  { id: "sticker", name: "smile.webp", mimetype: "image/webp", kind: "sticker" },
  { id: "document", name: "opening-hours.pdf", mimetype: "application/pdf", kind: "document" },
];
const MOST_DROPPED = 50;
const LONGEST_TYPE = 100;
const TYPE = /^[a-z]+\/[\w.+-]+$/;
const KINDS: [prefix: string, kind: FileView["kind"]][] = [
  ["image/gif", "document"],
  ["image/svg", "document"],
  ["image/", "image"],
  ["video/", "video"],
  ["audio/ogg", "voice"],
  ["audio/", "audio"],
];

/** @param folder where dropped files are kept until the demo ends */
export function createFiles(folder: string): Files {
  const files = new Map<string, SendableFile>(
    SAMPLE_FILES.map((file) => [file.id, { ...file, sample: true, path: join(SAMPLES, file.name) }]),
  );
  let last = 0;
  return {
    all: () => [...files.values()].map(viewOf),
    get: (id) => files.get(id),
    async keep(given, type, bytes) {
      const name = basename(given.replaceAll("\\", "/")).slice(-120) || "file";
      const mimetype = type.length <= LONGEST_TYPE && TYPE.test(type) ? type : "application/octet-stream";
      const id = `f${++last}`;
      const path = join(folder, id + extname(name).replaceAll(/[^.\w]/g, ""));
      await mkdir(folder, { recursive: true });
      await writeFile(path, bytes);
      const kind = KINDS.find(([prefix]) => mimetype.startsWith(prefix))?.[1] ?? "document";
      const file: FileView = { id, name, mimetype, kind, sample: false };
      files.set(id, { ...file, path });
      if (last > MOST_DROPPED) files.delete(`f${last - MOST_DROPPED}`);
      return file;
    },
  };
}

const viewOf = ({ id, name, mimetype, kind, sample }: SendableFile): FileView => ({
  id,
  name,
  mimetype,
  kind,
  sample,
});
