import { timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../store/store.ts";

/** Which received message's file a link is for. */
export interface LinkTarget {
  deviceId: number;
  inboxId: number;
}

/** Which sent message's file a link is for. */
export interface SentTarget {
  deviceId: number;
  /** WhatsApp's id of the message. */
  waId: string;
}

/** Longer than a webhook is tried (76 hours and a fifth): the link in an event that arrives late still works. */
export const LINK_LIFE_MS = 5 * 24 * 3600 * 1000;

/** Signed addresses of files: whoever has one may fetch the file until it expires. */
export interface Links {
  /** @returns what stands in the URL: a name and a signature, nothing secret of the message */
  make(target: LinkTarget | SentTarget): string;
  /** Null when it is not ours, or has expired. */
  read(token: string): LinkTarget | SentTarget | null;
}

/** Links that need no key: who has one may load this one file, until the link expires. */
export function createLinks(box: Pick<SecretBox, "hmac">, now: () => number): Links {
  const sign = (payload: string): Buffer => box.hmac("media-link", payload);
  return {
    make(target) {
      const expires = Math.ceil((now() + LINK_LIFE_MS) / 1000).toString(36);
      const device = target.deviceId.toString(36);
      const payload =
        "waId" in target
          ? ["sent", device, target.waId, expires].join("-")
          : [device, target.inboxId.toString(36), expires].join("-");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    read(token) {
      const [, payload = "", signature = ""] = /^([0-9A-Za-z-]{5,80})\.([\w-]{43})$/.exec(token) ?? [];
      const given = Buffer.from(signature, "base64url");
      const right = sign(payload);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const parts = payload.split("-");
      const isSent = parts[0] === "sent";
      const [device = "", message = "", expires = ""] = isSent ? parts.slice(1) : parts;
      if (now() >= number(expires) * 1000) return null;
      const deviceId = number(device);
      return isSent ? { deviceId, waId: message } : { deviceId, inboxId: number(message) };
    },
  };
}

const number = (text: string): number => Number.parseInt(text, 36);
