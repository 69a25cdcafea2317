import type { Simulator, StanzaEntry } from "../../src/simulator/index.ts";
import { endsWithTest, simulate, until } from "./_setup.ts";
import { Zapo } from "./_zapo.ts";

export const NUMBER = "31600000001";
export const ANN = "31611111111";
export const BEN = "31622222222";

/** What zapo and the service have written to each other once it was linked, world by world. */
export const met: StanzaEntry[][] = [];

async function remember(sim: Simulator): Promise<void> {
  met.push(await sim.stanzas({ number: NUMBER, device: 1 }));
}

/** Connects a new client, or one that was linked before. */
export async function connect(sim: Simulator, earlier?: Zapo): Promise<Zapo> {
  if (!earlier) endsWithTest({ end: () => remember(sim) });
  const zapo = endsWithTest(new Zapo(sim, earlier?.store));
  await zapo.client.connect();
  return zapo;
}

/** Links a new client to a number by QR. */
async function link(sim: Simulator): Promise<Zapo> {
  const zapo = await connect(sim);
  await sim.scan(NUMBER, await until("QR", () => zapo.qr));
  return await zapo.untilReady(sim, NUMBER);
}

/** A world with a linked number and two contacts. */
export async function world() {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER, { name: "Shop" });
  const ann = await sim.addContact(ANN, { name: "Ann" });
  const ben = await sim.addContact(BEN, { name: "Ben" });
  return { sim, number, ann, ben, zapo: await link(sim) };
}

/** Types of the receipts that zapo was told of for a message: by itself, or among others of a group. */
export const receiptsFor = (zapo: Zapo, id: string): (string | undefined)[] =>
  zapo.receipts
    .filter(({ stanzaId, rawNode }) => stanzaId === id || JSON.stringify(rawNode.content ?? "").includes(id))
    .map(({ stanzaType }) => stanzaType);

/** What is exchanged before a client is linked stands in no log; the tests that link show it. */
export const BEFORE_LOGIN = new Set([
  "in iq set md link_code_companion_reg",
  "out iq pair-device",
  "out iq pair-success",
  "out notification link_code_companion_reg",
  "out stream:error 515",
]);

/** All names that the page may have for a stanza, with what tells it from others or without. */
export function namesOf({ direction, tag, attrs, children }: StanzaEntry): string[] {
  const { type, xmlns, code } = attrs;
  const kind = [attrs.class ?? type, xmlns].filter(Boolean).join(" ");
  const kinds = [[], [kind], [code], ...children.flatMap((child) => [[child], [kind, child]])];
  return kinds.map((words) => [direction, tag, ...words].filter(Boolean).join(" "));
}
