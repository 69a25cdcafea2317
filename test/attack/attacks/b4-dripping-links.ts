import { pdf } from "../../unit/media/samples.ts";
import type { Arena, Attack, Tenant } from "../attack.ts";
import { serveFiles } from "../file-server.ts";

const DRIPPING = { short: 12, full: 40 };
const PATIENCE_MS = 10_000;

function send({ gateway }: Arena, { key, number, contact }: Tenant, url: string, signal?: AbortSignal) {
  const fields = { api_key: key, sender: number, number: contact, media_type: "pdf", url };
  return fetch(`${gateway.url}/send-media`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
    ...(signal && { signal }),
  });
}

export default {
  name: "files that come a byte at a time, while another account sends one",
  class: "B4",
  async run(arena) {
    const drips = new Set<NodeJS.Timeout>();
    const server = await serveFiles((path, response) => {
      if (path === "whole") return void response.end(pdf());
      const drip = setInterval(() => response.write(drips.size % 2 === 0 ? "%" : "P"), 500);
      drips.add(drip);
      response.once("close", () => (clearInterval(drip), drips.delete(drip)));
    });
    const callers = new AbortController();
    try {
      const held = Array.from({ length: DRIPPING[arena.size] }, (_, number) =>
        send(arena, arena.attacker, server.url(`drip ${number}`), callers.signal).catch(() => null),
      );
      await until(() => server.open() > 0, "no drip was asked for");
      const late = AbortSignal.timeout(PATIENCE_MS);
      const answer = await send(arena, arena.victim, server.url("whole"), late);
      if (answer.status !== 200) throw new Error(`another account's file was answered ${answer.status}`);
      callers.abort();
      await Promise.all(held);
      await until(() => server.open() === 0, "downloads go on although their callers have left");
    } finally {
      callers.abort();
      server.close();
    }
  },
} satisfies Attack;

async function until(holds: () => boolean, otherwise: string): Promise<void> {
  for (const begun = performance.now(); !holds();) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
