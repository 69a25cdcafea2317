import { timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../store/store.ts";

/** Which message's file a link is for. */
export interface LinkTarget {
  deviceId: number;
  inboxId: number;
}

/** Longer than a webhook is tried (76 hours and a fifth): the link in an event that arrives late still works. */
export const LINK_LIFE_MS = 5 * 24 * 3600 * 1000;

/** Signed addresses of received files: whoever has one may fetch the file until it expires. */
export interface Links {
  /** @returns what stands in the URL: a name and a signature, nothing secret of the message */
  make(target: LinkTarget): string;
  /** Null when it is not ours, or has expired. */
  read(token: string): LinkTarget | null;
}

/** Links that need no key: who has one may load this one file, until the link expires. */
export function createLinks(box: Pick<SecretBox, "hmac">, now: () => number): Links {
  const sign = (payload: string): Buffer => box.hmac("media-link", payload);
  return {
    make({ deviceId, inboxId }) {
      const expires = Math.ceil((now() + LINK_LIFE_MS) / 1000);
      const payload = [deviceId, inboxId, expires].map((number) => number.toString(36)).join("-");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    read(token) {
      const [, payload = "", signature = ""] = /^([0-9a-z-]{5,40})\.([\w-]{43})$/.exec(token) ?? [];
      const given = Buffer.from(signature, "base64url");
      const right = sign(payload);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const [deviceId, inboxId, expires] = payload.split("-").map((part) => Number.parseInt(part, 36));
      if (deviceId === undefined || inboxId === undefined || expires === undefined) return null;
      return now() < expires * 1000 ? { deviceId, inboxId } : null;
    },
  };
}
