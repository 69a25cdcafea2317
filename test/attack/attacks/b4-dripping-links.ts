import { pdf } from "../../unit/media/samples.ts";
import type { Arena, Attack, Tenant } from "../attack.ts";
import { serveFiles } from "../file-server.ts";
import { until, withNumbers } from "../numbers.ts";

const DRIPPING = { short: 12, full: 40 };
const PATIENCE_MS = 10_000;
/** Of one tenant, each with so many links that never come to their end: more than the gateway has places in all. */
const NUMBERS = 6;
const LINKS = 4;
/** What one account may have under way. */
const SHARE = 8;

type Sender = Pick<Tenant, "key" | "number" | "contact">;

function send({ gateway }: Arena, { key, number, contact }: Sender, url: string, signal?: AbortSignal) {
  const fields = { api_key: key, sender: number, number: contact, media_type: "pdf", url };
  return fetch(`${gateway.url}/send-media`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
    ...(signal && { signal }),
  });
}

/** The senders' links drip, each into a send of its own, while the victim's file has to arrive. */
async function dripInto(arena: Arena, senders: Sender[]): Promise<void> {
  const drips = new Set<NodeJS.Timeout>();
  let most = 0;
  const server = await serveFiles((path, response) => {
    if (path === "whole") return void response.end(pdf());
    most = Math.max(most, server.open());
    const drip = setInterval(() => response.write(drips.size % 2 === 0 ? "%" : "P"), 500);
    drips.add(drip);
    response.once("close", () => (clearInterval(drip), drips.delete(drip)));
  });
  const callers = new AbortController();
  try {
    const held = senders.map((sender, drip) =>
      send(arena, sender, server.url(`drip ${drip}`), callers.signal).catch(() => null),
    );
    await until(() => server.open() >= Math.min(SHARE, LINKS), "no drip was asked for");
    const late = AbortSignal.timeout(PATIENCE_MS);
    const answer = await send(arena, arena.victim, server.url("whole"), late);
    if (answer.status !== 200) throw new Error(`another account's file was answered ${answer.status}`);
    // As they leave one by one, others that have not left yet take their places for a moment.
    const atOnce = most;
    callers.abort();
    await Promise.all(held);
    await until(() => server.open() === 0, "downloads go on although their callers have left");
    // A connection that the gateway has let go of may be open at this end for a moment longer.
    if (atOnce > 2 * SHARE) throw new Error(`${atOnce} links of one account were fetched at once`);
  } finally {
    callers.abort();
    server.close();
  }
}

export default [
  {
    name: "files that come a byte at a time, while another account sends one",
    class: "B4",
    run: (arena) => dripInto(arena, Array(DRIPPING[arena.size]).fill(arena.attacker)),
  },
  {
    name: `${NUMBERS} numbers of one account with ${LINKS} such files each`,
    class: "B4",
    run: (arena) =>
      withNumbers(arena, { count: NUMBERS, prefix: "316000001" }, (numbers) =>
        dripInto(
          arena,
          numbers.flatMap((number) => Array.from({ length: LINKS }, () => ({ ...arena.attacker, number }))),
        ),
      ),
  },
] satisfies Attack[];
