import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { HTTPResponse, type H3Event } from "h3";
import { requestId } from "./answers/respond.ts";

/** Where the console is, for whoever is looking for it. */
export const CONSOLE_PATH = "/console";
const PAGE = "index.html";
/** Files whose names change with what is in them. */
const ASSETS = "assets/";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** Nothing but what this gateway itself serves, and no script or style within a page. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Best first. */
const ENCODINGS = { br: ".br", gzip: ".gz" } as const;
type Encoding = keyof typeof ENCODINGS;

type Bytes = Uint8Array<ArrayBuffer>;

interface BuiltFile {
  type: string;
  /** Its name changes with what is in it. */
  isImmutable: boolean;
  etag: string;
  plain: Bytes;
  packed: Partial<Record<Encoding, Bytes>>;
}

/** The console as it was built: files that are read once and answered from memory. */
export interface Console {
  /** Whether there is one. */
  readonly isBuilt: boolean;
  /**
   * Answers a GET of a path at or below `/console`; every address within the console is its page.
   *
   * @returns null for a file that does not exist
   */
  answer(event: H3Event): Promise<HTTPResponse | null>;
}

/** @param folder that a build has made; null: none has */
export function openConsole(folder: string | null): Console {
  const isBuilt = folder !== null && existsSync(join(folder, PAGE));
  let files: Promise<ReadonlyMap<string, BuiltFile>> | undefined;

  return {
    isBuilt,
    async answer(event) {
      if (!isBuilt) return null;
      files ??= readFiles(folder);
      const known = await files.catch((error: unknown) => {
        files = undefined;
        throw error;
      });
      const name = event.url.pathname.slice(CONSOLE_PATH.length + 1);
      const file = known.get(name) ?? (isFile(name) ? null : known.get(PAGE)!);
      return file && answerWith(event, file);
    },
  };
}

/**
 * What looks like a file and is none must not be answered with a page that a browser would read as a script. Addresses within the
 * console may hold those of chats, which have dots.
 */
const isFile = (name: string): boolean => name.startsWith(ASSETS) || TYPES[extname(name)] !== undefined;

/** Whether a path is the console's. */
export const isOfConsole = (path: string): boolean =>
  path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);

/** The folder beside the one that the built server lies in; null outside of a build. */
export function consoleBesideServer(from: string = import.meta.url): string | null {
  for (let folder = dirname(fileURLToPath(from)); ; folder = dirname(folder)) {
    const beside = join(dirname(folder), "console");
    if (folder.endsWith(`${sep}server`)) return existsSync(join(beside, PAGE)) ? beside : null;
    if (folder === dirname(folder)) return null;
  }
}

function answerWith(event: H3Event, { type, isImmutable, etag, plain, packed }: BuiltFile): HTTPResponse {
  const headers: Record<string, string> = {
    ...HEADERS,
    "content-type": type,
    "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
    "x-request-id": requestId(event),
    vary: "accept-encoding",
    etag,
  };
  if (event.req.headers.get("if-none-match") === etag)
    return new HTTPResponse(null, { status: 304, headers });
  const encoding = (Object.keys(ENCODINGS) as Encoding[]).find(
    (one) => packed[one] !== undefined && takes(event.req.headers.get("accept-encoding"), one),
  );
  if (encoding !== undefined) headers["content-encoding"] = encoding;
  return new HTTPResponse(encoding === undefined ? plain : packed[encoding]!, { status: 200, headers });
}

/** `br;q=0` is how a browser would say that it does not. */
function takes(accepted: string | null, encoding: Encoding): boolean {
  const entry = (accepted ?? "")
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .find((one) => one === encoding || one.startsWith(`${encoding};`));
  return entry !== undefined && !/;\s*q=0(?:\.0*)?$/.test(entry);
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, BuiltFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
  const known = new Set(names);
  const files = new Map<string, BuiltFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    // Packed ones stand beside what they are of; maps of sources and the like are for nobody.
    if (type === undefined) continue;
    const plain = await bytesOf(join(folder, name));
    const packed: BuiltFile["packed"] = {};
    for (const [encoding, extension] of Object.entries(ENCODINGS) as [Encoding, string][])
      if (known.has(name + extension)) packed[encoding] = await bytesOf(join(folder, name + extension));
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    files.set(name, { type, isImmutable: name.startsWith(ASSETS), etag, plain, packed });
  }
  return files;
}

const bytesOf = async (file: string): Promise<Bytes> => new Uint8Array(await readFile(file));
