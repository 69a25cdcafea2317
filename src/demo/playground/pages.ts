import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";

/** A file of the page. */
export interface Page {
  bytes: Buffer;
  type: string;
  /** Its name has a hash in it. */
  immutable: boolean;
}

/** What the built page may consist of. */
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The built page, by path below `/playground`; empty when the folder is not there. */
export function readPages(folder: string): Map<string, Page> {
  const pages = new Map<string, Page>();
  for (const entry of list(folder)) {
    const type = TYPES[extname(entry)];
    if (type === undefined) continue;
    const path = `/${relative(folder, entry).replaceAll("\\", "/")}`;
    pages.set(path, { bytes: readFileSync(entry), type, immutable: path.startsWith("/assets/") });
  }
  const index = pages.get("/index.html");
  if (index !== undefined) for (const path of ["", "/"]) pages.set(path, index);
  return pages;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
