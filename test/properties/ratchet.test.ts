import { expect, it } from "vitest";
import { decrypt } from "../../src/whatsapp/everyday/ratchet.ts";
import { LOW_ORDER_KEYS } from "../fixtures/low-order-keys.ts";
import { afterLosing, underLowOrderKey } from "./ratchet-chains.ts";
import { openChat } from "./ratchet-chat.ts";
import { NOW, type Message, type Party } from "./ratchet-party.ts";
import { RatchetRun } from "./ratchet-run.ts";
import { noTally } from "./ratchet-tally.ts";
import { TIME_LIMIT_MS } from "./runs.ts";

/** More by `npm run crash -- --ratchet`. */
const STEPS = 20_000;
/** The more sessions a record has, the longer libsignal takes to refuse what is forged. */
const RUNS = 5;

it(
  "the everyday ratchet: whatever is lost, late, repeated, forged or cut off by a crash, it gives what libsignal gives, and leaves the same record",
  async () => {
    const done = noTally();
    for (let run = 0; run < RUNS; run++) {
      const tally = await new RatchetRun(20_261_122 + run, { longFloods: run === 0 }).run(STEPS / RUNS);
      for (const what of Object.keys(done) as (keyof typeof done)[]) done[what] += tally[what];
    }

    expect(done.sent).toBeGreaterThan(STEPS / 4);
    expect(done.read).toBeGreaterThan(STEPS / 5);
    expect(done.late).toBeGreaterThan(STEPS / 50);
    expect(done.refusedByBoth).toBeGreaterThan(STEPS / 100);
    // A run that only sends and reads proves little.
    const { refusedFlood: _rare, readByLibsignalAlone: _rarer, ...usual } = done;
    for (const [what, count] of Object.entries(usual)) expect(count, what).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);

const reads = (to: Party, { body }: Message): string => {
  try {
    return decrypt(to.record!, body, to.identity.pubKey, NOW).plaintext.toString();
  } catch (error) {
    return (error as Error).message;
  }
};

it.each([
  ["1,999 messages are missing", 1_999, true],
  ["2,000 messages are missing", 2_000, false],
])("reads what libsignal reads when %s", async (_, lost, isRead) => {
  const { ana, ben, write } = await openChat();
  // A message before: its chain is known.
  ben.keep((await ben.decrypt(write(ana), null))!.record);
  ana.keep(afterLosing(ana.record, lost)!);
  const message = write(ana);
  expect((await ben.decrypt(message, null)) !== null).toBe(isRead);
  expect(reads(ben, message)).toBe(isRead ? "hello" : "The ratchet refuses the message: counter_jump.");
});

it.each(LOW_ORDER_KEYS)(
  "neither way reads what is written under the low-order ratchet key %s",
  async (hex) => {
    const { ana, ben, write } = await openChat();
    ana.keep(underLowOrderKey(ana.record, ben.record, Buffer.from(hex, "hex"))!);
    const message = write(ana);
    const before = JSON.stringify(ben.record);
    expect(reads(ben, message)).not.toBe("hello");
    expect(await ben.decrypt(message, null)).toBeNull();
    expect(JSON.stringify(ben.record)).toBe(before);
  },
);

it("every bit of a message counts, and what is forged leaves no trace", async () => {
  const { ana, ben, write } = await openChat();
  const message = write(ana);
  const before = JSON.stringify(ben.record);
  for (let bit = 0; bit < message.body.length * 8; bit++) {
    const body = Buffer.from(message.body);
    body[bit >> 3]! ^= 1 << (bit & 7);
    expect(reads(ben, { ...message, body }), `bit ${bit}`).not.toBe("hello");
  }
  expect(JSON.stringify(ben.record)).toBe(before);
  expect(reads(ben, message)).toBe("hello");
});
