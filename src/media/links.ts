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

/** Which file another node asks for, as it lies on the disk. */
export interface FileTarget {
  /** Within `media`: `mf_…`, or `in/<device>-<inbox id>`. */
  name: string;
}

/** Which uploaded file a link is for: up to the end of this part. */
export interface PartTarget {
  deviceId: number;
  /** Id of the part, `mu_…`. */
  part: string;
}

/** What an address may be of. */
export type Target = LinkTarget | SentTarget | FileTarget | PartTarget;

/** Longer than a webhook is tried (76 hours and a fifth): the link in an event that arrives late still works. */
export const LINK_LIFE_MS = 5 * 24 * 3600 * 1000;

/** Who uploads a file sends it at once, or tries again the same day. */
export const PART_LIFE_MS = 24 * 3600 * 1000;

/** A node asks at once; clocks of two machines may be far apart. */
const BETWEEN_NODES_MS = 3600 * 1000;

/** Signed addresses of files: whoever has one may fetch the file until it expires. */
export interface Links {
  /** @returns what stands in the URL: a name and a signature, nothing secret of the message */
  make(target: Target): string;
  /** Null when it is not ours, or has expired. */
  read(token: string): Target | null;
}

/** Links that need no key: who has one may load this one file, until the link expires. */
export function createLinks(box: Pick<SecretBox, "hmac">, now: () => number): Links {
  // Compared as text: the last of 43 characters has two bits that mean nothing.
  const sign = (payload: string): Buffer =>
    Buffer.from(box.hmac("media-link", payload).toString("base64url"), "latin1");
  return {
    make(target) {
      const expires = Math.ceil((now() + lifeOf(target)) / 1000).toString(36);
      const payload = [...partsOf(target), expires].join("-");
      return `${payload}.${sign(payload).toString("latin1")}`;
    },
    read(token) {
      const [, payload = "", signature = ""] = /^([0-9A-Za-z-]{5,120})\.([\w-]{43})$/.exec(token) ?? [];
      const given = Buffer.from(signature, "latin1");
      const right = sign(payload);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const parts = payload.split("-");
      return now() >= number(parts.at(-1)!) * 1000 ? null : targetOf(parts);
    },
  };
}

function lifeOf(target: Target): number {
  if ("part" in target) return PART_LIFE_MS;
  return "name" in target ? BETWEEN_NODES_MS : LINK_LIFE_MS;
}

/** No number in base 36 has a capital. */
const UPLOADED = "Up";
/** Before the number of an imported message, which is below zero: a minus stands between the parts. */
const BELOW_ZERO = "B";

function partsOf(target: Target): string[] {
  if ("name" in target) return ["file", Buffer.from(target.name).toString("hex")];
  const device = target.deviceId.toString(36);
  if ("part" in target) return [UPLOADED, device, target.part.slice("mu_".length)];
  if ("waId" in target) return ["sent", device, target.waId];
  return [device, target.inboxId.toString(36).replace("-", BELOW_ZERO)];
}

const NAME = /^(m[fu]_[0-9a-f]{24}|in\/\d{1,16}--?\d{1,16})$/;

/** Whether it is what a file of messages is called: nothing leads out of its folder. */
export const isFileName = (name: string): boolean => NAME.test(name);

function targetOf([first = "", second = "", third = ""]: string[]): Target | null {
  if (first === "file") {
    const name = Buffer.from(second, "hex").toString();
    return isFileName(name) ? { name } : null;
  }
  if (first === UPLOADED) return { deviceId: number(second), part: `mu_${third}` };
  if (first === "sent") return { deviceId: number(second), waId: third };
  return { deviceId: number(first), inboxId: number(second.replace(BELOW_ZERO, "-")) };
}

const number = (text: string): number => Number.parseInt(text, 36);
