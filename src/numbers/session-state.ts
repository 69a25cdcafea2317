import type { Store } from "../store/store.ts";
import type { DeviceRecord } from "./device-record.ts";
import type { LinkShown } from "./link-session.ts";
import type { NumberLife } from "./number-life.ts";
import { drawQr } from "./qr.ts";

/** Longer than any QR lives; it is written anew with every change. */
const TTL_SECONDS = 24 * 60 * 60;

/** What is shown for linking a number. Sealed in the cache: whoever has it owns the link. */
interface Shown extends LinkShown {
  /** The QR as PNG data URI, once somebody has asked for it. */
  image: string | null;
}

/** What other processes see of a number beside its row; times are Unix milliseconds. */
type Seen = Pick<
  DeviceRecord,
  "state" | "since" | "lastIn" | "lastOut" | "reachout" | "newChats" | "waiting"
>;

/** As it lies in the cache; what is shown for linking is sealed, in base64. */
interface SessionState extends Seen {
  shown: string | null;
}

/** The session state of numbers in the cache. Losing it, or finding something else in its place, loses nothing. */
export interface SessionStates {
  /** Called at every change of state or QR. */
  publish(life: NumberLife): void;
  /**
   * The QR that a number shows, as PNG data URI. Drawing takes about 6 ms on the main thread, and callers ask for the same
   * QR again and again: it is drawn once, and lies in the session state for all who ask.
   */
  image(life: NumberLife, qr: string): Promise<string>;
  /** A number that lives in another process, with what that one has published: newer than its row, where there is any. */
  look(record: DeviceRecord): Promise<DeviceRecord>;
  forget(deviceId: number): void;
}

export function createSessionStates({ cache, box }: Pick<Store, "cache" | "box">): SessionStates {
  /** Drawn at this moment, by number. */
  const drawing = new Map<number, { qr: string; image: Promise<string> }>();

  function write({ device }: NumberLife, shown: Shown): Promise<void> {
    const { id, state, since, lastIn, lastOut } = device;
    const isEmpty = shown.qr === null && shown.code === null && shown.passkey === null;
    const sealed = isEmpty ? null : box.sealJson(shown, contextOf(id)).toString("base64");
    const { reachout = null, newChats, waiting = null } = device;
    const seen: Seen = { state, since, lastIn, lastOut, reachout, waiting, ...(newChats && { newChats }) };
    const session: SessionState = { ...seen, shown: sealed };
    // The cache is allowed to be away.
    return cache.setItem(keyOf(id), session as never, { ttl: TTL_SECONDS }).catch(() => undefined);
  }

  async function readShown(deviceId: number): Promise<Shown | null> {
    try {
      const session = await cache.getItem<SessionState>(keyOf(deviceId));
      if (typeof session?.shown !== "string") return null;
      return box.openJson<Shown>(Buffer.from(session.shown, "base64"), contextOf(deviceId));
    } catch {
      return null;
    }
  }

  async function findOrDraw(life: NumberLife, qr: string): Promise<string> {
    const known = await readShown(life.device.id);
    if (known?.qr?.text === qr && typeof known.image === "string") return known.image;
    const image = await drawQr(qr);
    // What it shows now may be another one already.
    if (life.shown().qr?.text === qr) await write(life, { ...life.shown(), image });
    return image;
  }

  return {
    publish: (life) => void write(life, { ...life.shown(), image: null }),
    image(life, qr) {
      const { id } = life.device;
      const known = drawing.get(id);
      if (known?.qr === qr) return known.image;
      const image = findOrDraw(life, qr).finally(() => {
        if (drawing.get(id)?.image === image) drawing.delete(id);
      });
      drawing.set(id, { qr, image });
      return image;
    },
    async look(record) {
      const session = await cache.getItem<SessionState>(keyOf(record.id)).catch(() => null);
      if (session === null || typeof session !== "object" || !(session.since >= record.since)) return record;
      const { shown: _, ...seen } = session;
      return { ...record, ...seen };
    },
    forget: (deviceId) => void cache.removeItem(keyOf(deviceId)).catch(() => undefined),
  };
}

const keyOf = (deviceId: number): string => `numbers:${deviceId}`;
const contextOf = keyOf;
