import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One page for people who use the gateway. */
export interface Guide {
  /** `clients/php.md` */
  name: string;
  /** Its heading. */
  title: string;
  /** UTF-8. */
  bytes: number;
}

/** What is written for whoever works on Parley itself, and pictures. */
const LEFT_OUT = /^(?:decisions|pictures|passkey)(?:\/|$)|^(?:architecture|simulator-truth)\.md$/;

/** Whether a file of `docs/`, or a folder, is for users. @param name from there, with slashes */
export const isForUsers = (name: string): boolean =>
  !LEFT_OUT.test(name) && (name.endsWith(".md") || !/\.\w+$/.test(name));

/** The pages of this gateway's own version. */
export interface Guides {
  list(): Promise<Guide[]>;
  /** @returns Markdown; null: there is no such page */
  read(name: string): Promise<string | null>;
}

/** @param folder `docs/`; null: the pages are not there */
export function openGuides(folder: string | null): Guides {
  let known: Promise<Guide[]> | undefined;
  const list = (): Promise<Guide[]> => {
    if (folder === null) return Promise.resolve([]);
    return (known ??= listGuides(folder).catch((error: unknown) => {
      known = undefined;
      throw error;
    }));
  };
  return {
    list,
    async read(name) {
      // A name that is not in the list is no path: nothing leads out of the folder.
      const isKnown = (await list()).some((guide) => guide.name === name);
      return isKnown ? readFile(join(folder!, name), "utf8") : null;
    },
  };
}

async function listGuides(folder: string): Promise<Guide[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .filter((name) => name.endsWith(".md") && isForUsers(name));
  const guides: Guide[] = [];
  for (const name of names.toSorted()) {
    const text = await readFile(join(folder, name), "utf8");
    const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
    guides.push({ name, title, bytes: Buffer.byteLength(text) });
  }
  return guides;
}

/** A page that every copy of the folder has. */
const SOME_PAGE = "webhooks.md";

/** `docs/` above this module: the repository's, or the copy that a build carries; null: there is none. */
export function guidesFolder(from: string = dirname(fileURLToPath(import.meta.url))): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "docs", SOME_PAGE))) return join(folder, "docs");
    if (folder === dirname(folder)) return null;
  }
}
