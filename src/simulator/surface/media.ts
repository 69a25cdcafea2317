/** The media host: what it saw, and what a phone loads from it. */
import type { MediaBody } from "./content.ts";

/** A file that a phone has loaded, checked (MAC and both hashes) and decrypted. */
export interface LoadedMedia extends MediaBody {
  bytes: Uint8Array;
}

/** One request to the media host. */
export interface MediaRequest {
  seq: number;
  /** Milliseconds, simulator clock. */
  at: number;
  direction: "upload" | "download";
  /** First part of the path: `image`, `video`, `audio`, `document`, `newsletter-image`… */
  type: string;
  status: number;
  /** Bytes of the body that were taken or given. */
  bytes: number;
  /** Direct path of the file. */
  directPath?: string;
  /** True for simulated phones, false for clients that came over TLS. */
  byPhone: boolean;
}

/** Which requests; what is left out matches any. */
export interface MediaRequestFilter {
  direction?: "upload" | "download";
  type?: string;
  status?: number;
  /** Default false: what simulated phones load and store is left out. */
  byPhone?: boolean;
  since?: number;
}
