import type { Dispatcher } from "undici";
import { MINUTE_MS } from "../../model/time.ts";
import { addressOf } from "./download.ts";

/** What WhatsApp's hosts say of a file: that they have it, that it is gone, or a status that says neither. */
export type Presence = "there" | "gone" | { answered: number };

const WAIT_MS = MINUTE_MS / 2;
/** As for what is downloaded: the file is there no more, or under another address. */
const GONE = new Set([403, 404, 410]);
/** The first byte of an empty file cannot be had. */
const NO_SUCH_RANGE = 416;
const MOST_DUMPED = 1024;

/**
 * Asks a host for the first byte of a file. Phones ask for parts in the same way, so that hosts are used to it.
 *
 * @throws when the host does not answer, or the path leads elsewhere
 */
export async function presenceAt(agent: Dispatcher, host: string, directPath: string): Promise<Presence> {
  const { origin, pathname, search } = new URL(addressOf(host, directPath));
  const { statusCode, body } = await agent.request({
    origin,
    path: pathname + search,
    method: "GET",
    headers: { range: "bytes=0-0", origin: "https://web.whatsapp.com" },
    headersTimeout: WAIT_MS,
    bodyTimeout: WAIT_MS,
    signal: AbortSignal.timeout(WAIT_MS),
  });
  // A host that does not know parts would give all of it. What its body says does not matter.
  await body.dump({ limit: MOST_DUMPED }).catch(() => undefined);
  if (GONE.has(statusCode)) return "gone";
  return statusCode < 300 || statusCode === NO_SUCH_RANGE ? "there" : { answered: statusCode };
}
