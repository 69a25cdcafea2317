import type { FailpointName } from "../../src/model/failpoint.ts";
import { until } from "./apart.ts";
import { ANA, BEN, SHOP, type Arena } from "./arena.ts";
import type { CrashPoint, Random } from "./points.ts";
import { shuffled } from "./shuffled.ts";

/** One message that came and two that were sent: what actions are done to. */
interface Things {
  came: string;
  kept: string;
  taken: string;
  /** Text of `kept`. */
  text: string;
}

type Act = (send: Arena["send"], things: Things) => void;

const ACTIONS: Record<string, Act[]> = {
  reaction: [(send, { came }) => send(`/messages/${came}/reaction`, { emoji: "👍" })],
  edit: [(send, { kept, text }) => send(`/messages/${kept}`, { message: `${text}, mended` }, "PATCH")],
  deletion: [(send, { taken }) => send(`/messages/${taken}`, {}, "DELETE")],
  forward: [
    (send, { came }) => send(`/messages/${came}/forward`, { number: BEN }),
    (send, { kept }) => send(`/messages/${kept}/forward`, { number: BEN }),
  ],
};

const PLACES: { name: string; failpoint: FailpointName; where: string }[] = [
  { name: "stored", failpoint: "after-accept", where: "stored; its caller not told" },
  { name: "taken", failpoint: "before-encrypt", where: "taken from the outbox; not encrypted" },
  { name: "written", failpoint: "before-ack", where: "written to WhatsApp; no ack" },
];

async function prepare({ world: { sim, gateway, key }, send }: Arena, random: Random): Promise<Things> {
  const { id: came } = await sim.sendText(ANA, SHOP, "a thing to be handed on");
  const name = Math.floor(random() * 1e9);
  const texts = [`kept ${name}`, `taken back ${name}`];
  for (const message of texts) send("/send-message", { number: ANA, message });
  let ids: string[] = [];
  await until("these messages are there, and sent", async () => {
    const arrived = await sim.messages(ANA, { from: SHOP });
    ids = texts.flatMap((text) => arrived.find((message) => message.text === text)?.id ?? []);
    const known = await Promise.all([came, ...ids].map((id) => gateway.get(`/messages/${id}`, { key })));
    // "queued" until the ack is stored: nothing of this may come to the armed place later.
    return (
      ids.length === 2 && known.every(({ status, body }) => status === 200 && body["state"] !== "queued")
    );
  });
  return { came, kept: ids[0]!, taken: ids[1]!, text: texts[0]! };
}

/** @param passes how often at most the place is come to before the process ends there */
function point(
  place: (typeof PLACES)[number],
  { name, what, acts, passes }: { name: string; what: string; acts: Act[]; passes: number },
): CrashPoint {
  return {
    name: `${name}-${place.name}`,
    failpoint: place.failpoint,
    where: `${what} ${place.where}`,
    async run(arena, random) {
      const things = await prepare(arena, random);
      arena.arm(place.failpoint, 1 + Math.floor(random() * passes));
      await arena.expectDeath(place.failpoint, async () => {
        for (const act of shuffled(acts, random)) act(arena.send, things);
      });
      await arena.revive();
      return arena.settle();
    },
  };
}

const everything = Object.values(ACTIONS).flat();

/** Rows in which the process ends while a message is changed: one kind of action alone, and all of them at once. */
export const ACTION_POINTS: CrashPoint[] = PLACES.flatMap((place) => [
  ...Object.entries(ACTIONS).map(([name, acts]) =>
    point(place, { name, what: `${name === "edit" ? "an" : "a"} ${name}`, acts, passes: acts.length }),
  ),
  point(place, {
    name: "actions",
    what: "one of all these at once",
    acts: everything,
    passes: everything.length,
  }),
]);
