import type { IncomingMessage, ServerResponse } from "node:http";
import type { Time } from "../time.ts";
import type { MediaStore } from "./store.ts";
import type { MediaTrouble } from "./trouble.ts";

/** What the media host needs from the simulated service. */
export interface MediaHostNeeds {
  media: MediaStore;
  time: Time;
  hooks: { media: ((direction: "upload" | "download", type: string) => MediaTrouble | undefined)[] };
  violations: { report(rule: string, who: string, detail: string): void };
}

/** One exchange with the media host; a fault can slow it down or spoil it. */
export interface MediaExchange extends MediaHostNeeds {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Asks every armed fault about one request. */
export function troubleFor(
  { hooks }: MediaHostNeeds,
  direction: "upload" | "download",
  type: string,
): MediaTrouble {
  return Object.assign({}, ...hooks.media.slice().map((hook) => hook(direction, type)));
}
