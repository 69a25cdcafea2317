import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BackupPlace } from "./place.ts";

const PART = ".part";

/** A folder of this machine, or one that is mounted there; made when it is missing. Only this user can read what is in it. */
export function folderPlace(folder: string): BackupPlace {
  return {
    shown: folder,
    async put(name, chunks) {
      const path = join(folder, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await pipeline(Readable.from(chunks), createWriteStream(path + PART, { flags: "w", mode: 0o600 }));
      await flush(path + PART);
      return (await stat(path + PART)).size;
    },
    read: (name, read) => read(createReadStream(join(folder, name + PART))),
    async keep(name) {
      await rename(join(folder, name + PART), join(folder, name));
      await flush(dirname(join(folder, name)));
    },
    // One that a crash has left goes the same way.
    async discard(name) {
      await rm(join(folder, name + PART), { force: true });
    },
    async list() {
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter((one) => one.endsWith(`.tar${PART}`) && one.startsWith("parley-auto-")))
        await rm(join(folder, name), { force: true });
      return names.filter((name) => !name.endsWith(PART));
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    close: async () => undefined,
  };
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
