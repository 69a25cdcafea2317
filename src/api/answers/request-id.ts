import { randomUUID } from "node:crypto";

/** The caller's own id when it is 1 to 128 printable ASCII characters, else a new one. */
export function requestIdFrom(header: string | null | undefined): string {
  return header && /^[\x20-\x7e]{1,128}$/.test(header) ? header : randomUUID();
}
