import type { Store } from "../store/store.ts";
import type { NumberLife } from "./number-life.ts";

/** Longer than any QR lives; states are published anew with every change. */
const TTL_SECONDS = 24 * 60 * 60;

/** What other processes may know of a number: its link state, and what it shows for linking, sealed. */
export interface PublishedSession {
  state: string;
  since: number;
  /** Base64 of the sealed JSON of `{qr, code}`: whoever has these owns the link. */
  shown: string | null;
}

/** Puts link state and QR of a number into the shared cache. Losing it loses nothing. */
export function publishSession(store: Pick<Store, "cache" | "box">, life: NumberLife): void {
  const { id, state, since } = life.device;
  const { qr, code } = life.shown();
  const shown =
    qr === null && code === null
      ? null
      : store.box.sealJson({ qr, code }, `numbers:${id}`).toString("base64");
  const session: PublishedSession = { state, since, shown };
  // The cache is allowed to be away.
  void store.cache.setItem(`numbers:${id}`, session as never, { ttl: TTL_SECONDS }).catch(() => undefined);
}
