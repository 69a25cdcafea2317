import type { Time } from "../time.ts";
import { createHash } from "node:crypto";
import type { Random } from "../random.ts";
import type { MediaRequest, MediaRequestFilter } from "../surface/media.ts";

/** Above this total size, in bytes, the oldest files are dropped. */
const KEPT_BYTES = 1_073_741_824;
const KEPT_REQUESTS = 20_000;
/** How long a file's name is valid, in seconds. */
const NAME_LIFE_S = 30 * 86_400;

/** How a phone answers when it is asked to upload a file again. */
type Recall = "again" | "not_found" | "silent";

/** A file at the media host: ciphertext, or what is posted in channels as it is. */
export interface StoredFile {
  readonly directPath: string;
  /** First part of the upload's path. */
  readonly type: string;
  readonly bytes: Buffer;
  /** The host answers with this status, although phones that loaded the file earlier still have it. */
  gone?: number;
  /** What such a phone says when it is asked to store the file again. */
  recall?: Recall;
}

/** The media host's state: files by direct path, upload tokens, and the requests it has seen. */
export class MediaStore {
  /** `https://host:port`, once the host listens. */
  origin = "";
  readonly #random: Random;
  readonly #time: Time;
  readonly #files = new Map<string, StoredFile>();
  readonly #tokens = new Set<string>();
  #requests: MediaRequest[] = [];
  #bytes = 0;
  #lastFile = 0;
  #lastRequest = 0;

  constructor(random: Random, time: Time) {
    this.#random = random;
    this.#time = time;
  }

  /** Issues the token with which a device may upload. */
  tokenFor(device: string): string {
    const token = this.#random.fork(`token:${device}`).bytes(24).toString("base64url");
    this.#tokens.add(token);
    return token;
  }

  /** Whether the token was issued. */
  isToken(token: string | null): boolean {
    return token !== null && this.#tokens.has(token);
  }

  /** Stores a file under a new name. Names look like the real ones; those of channel files differ from the rest. */
  put(type: string, bytes: Uint8Array): StoredFile {
    const random = this.#random.fork(`file:${++this.#lastFile}`);
    const isForChannels = type.startsWith("newsletter-");
    const folder = isForChannels ? "/m1/v/t24/An" : "/o1/v/t24/f2/m233/AQ";
    const expires = Math.floor(this.#time.now() / 1000) + NAME_LIFE_S;
    const oh = `01_${random.bytes(18).toString("base64url")}`;
    const query = `ccb=9-4&oh=${oh}&oe=${expires.toString(16).toUpperCase()}&_nc_sid=e6ed6c`;
    const directPath = `${folder}${random.bytes(36).toString("base64url")}?${query}`;
    const file = { directPath, type, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    this.#files.set(directPath, file);
    this.#bytes += file.bytes.length;
    for (const oldest of this.#files.values()) {
      if (this.#bytes <= KEPT_BYTES || oldest === file) break;
      this.#files.delete(oldest.directPath);
      this.#bytes -= oldest.bytes.length;
    }
    return file;
  }

  find(directPath: string): StoredFile | undefined {
    return this.#files.get(directPath);
  }

  /** Notes a request; the newest 20,000 are kept. */
  record(request: Omit<MediaRequest, "seq" | "at">): void {
    this.#requests.push({ seq: ++this.#lastRequest, at: this.#time.now(), ...request });
    if (this.#requests.length > KEPT_REQUESTS * 1.5) this.#requests = this.#requests.slice(-KEPT_REQUESTS);
  }

  requests(filter: MediaRequestFilter = {}): MediaRequest[] {
    const { direction, type, status, byPhone = false, since } = filter;
    return this.#requests.filter(
      (request) =>
        request.byPhone === byPhone &&
        (direction === undefined || request.direction === direction) &&
        (type === undefined || request.type === type) &&
        (status === undefined || request.status === status) &&
        (since === undefined || request.seq > since),
    );
  }
}

/** How an upload names its bytes: their SHA-256, base64 for URLs, without padding. */
export const uploadName = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("base64url");
