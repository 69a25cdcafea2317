import type { Attack } from "../attack.ts";

const GROUPS = 15;
const LIDS = 3;
const ROUNDS_AT_ONCE = 2;

/** Sends to addresses that nobody has, many at once, each of which WhatsApp might have to be asked about. */
const unknownDestinations: Attack = {
  name: "sends to groups, channels and LIDs that there are not",
  class: "C6",
  async run({ gateway, sim, attacker: { key, number: sender }, size }) {
    const ids = Array.from({ length: GROUPS }, (_, n) => `12036399900000${String(n).padStart(4, "0")}`);
    const closed = ids.flatMap((id) => [`${id}@g.us`, `${id}@newsletter`]);
    const lids = Array.from({ length: LIDS }, (_, n) => `9900000000${n}1@lid`);
    const ask = { number: sender, direction: "in", tag: "iq", xmlns: "w:g2", child: "query" } as const;
    const before = await sim.countStanzas(ask);

    const times = size === "full" ? 8 : 2;
    const send = async (to: string): Promise<void> => {
      const answer = await gateway.post("/send-message", { sender, number: to, message: "x" }, { key });
      const wanted = to.endsWith("@lid") ? 422 : 403;
      if (answer.status !== wanted) throw new Error(`${to} was answered with ${answer.status}`);
    };
    // By turns: what it costs to accept hundreds of connections in one moment is the business of A7.
    const rounds = Array.from({ length: times }, () => closed).concat([lids]);
    for (let first = 0; first < rounds.length; first += ROUNDS_AT_ONCE)
      await Promise.all(
        rounds
          .slice(first, first + ROUNDS_AT_ONCE)
          .flat()
          .map(send),
      );

    const asked = (await sim.countStanzas(ask)) - before;
    if (asked > 2 * GROUPS) throw new Error(`WhatsApp was asked ${asked} times about ${GROUPS} groups`);
  },
};

export default unknownDestinations;
