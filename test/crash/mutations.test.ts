import Database from "libsql";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { someOf } from "../_setup/length.ts";
import { ok, startApart, until, type Apart } from "./apart.ts";
import { startHook, type Hook } from "./hook.ts";
import { judge, type Mark, type Verdict } from "../../src/demo/judge/judge.ts";
import { buildMutants, MUTATIONS, type Mutants, type Mutation } from "./mutations.ts";

/**
 * The drills of this folder have teeth: each promise is taken out of the gateway in turn, and the judge must notice.
 * The same drills on the same build without a mutation must find nothing.
 */
const SHOP = "31600000001";
const folder = mkdtempSync(join(tmpdir(), "parley-mutants-"));
const crashFile = join(folder, "crash");
let mutants: Mutants;
let world: Apart;
let hook: Hook;
let mark: Mark | undefined;
let contacts = 0;
/** Messages that the gateway sends. */
const REPLIES = { number: SHOP, device: 1, tag: "message", direction: "in" } as const;

beforeAll(async () => {
  writeFileSync(crashFile, "");
  mutants = await buildMutants();
  hook = await startHook();
  const env = { CRASH_FILE: crashFile, MUTANT: "", LOOP_GUARD_PER_MINUTE: "0" };
  world = await startApart({ seed: "mutants", entry: mutants.entry, env });
  await world.link(SHOP);
  ok(await world.gateway.put(`/devices/${SHOP}/webhook`, { url: hook.url }, { key: world.key }));
}, 400_000);

afterAll(async () => {
  await world?.close();
  hook?.close();
  mutants?.remove();
  removeFolder(folder);
});

async function restart(mutant: string): Promise<void> {
  await world.gateway.restart({ MUTANT: mutant });
  await world.online(SHOP);
}

/** A new contact asks something; the process dies over it, or the message comes twice; then the contact asks again. */
async function drill({ killedAt, isEveryday = false }: Mutation, mutant: string): Promise<Verdict> {
  const contact = `49151${String(++contacts).padStart(8, "0")}`;
  const { sim, gateway } = world;
  await sim.addContact(contact);
  if (isEveryday) {
    await sim.sendText(contact, SHOP, "ask before");
    await until(
      "the chat is an open one",
      async () => (await sim.messages(contact, { from: SHOP })).length > 0,
    );
    await sim.settle(30_000);
  }
  if (killedAt === null) await sim.faults.reencryptStanzas({ number: SHOP, n: 1 });
  else writeFileSync(crashFile, killedAt);
  // Without a receipt the gateway cannot know that its stanza was taken: it sends it again.
  const isHeld = killedAt === "before-ack";
  if (isHeld) await sim.faults.holdDeliveries({ number: contact });
  await sim.sendText(contact, SHOP, "ask one");
  if (killedAt !== null) {
    expect(await gateway.exited()).toMatchObject({ signal: "SIGKILL" });
    writeFileSync(crashFile, "");
    const sent = await sim.countStanzas(REPLIES);
    await restart(mutant);
    if (isHeld) await until("it is sent again", async () => (await sim.countStanzas(REPLIES)) > sent);
  }
  if (isHeld) await sim.faults.releaseDeliveries({ number: contact });
  await sim.sendText(contact, SHOP, "ask two");
  const isAnswered = ({ text }: { text?: string }): boolean => text?.endsWith("ask two") === true;
  await until("the second question is answered", async () =>
    (await sim.messages(contact, { from: SHOP })).some(isAnswered),
  );
  await sim.settle(30_000);
  const look = async (): Promise<Verdict> => {
    const script = { numbers: [SHOP], replies: () => 1, since: mark };
    return judge({ sim, dataDir: gateway.dataDir }, script);
  };
  let verdict: Verdict;
  if (mutant === "") {
    // What is under way looks like something lost.
    await until("nothing is wrong", async () => (verdict = await look()).problems.length === 0).catch(
      () => {},
    );
  } else {
    await gateway.stop();
    verdict = await look();
  }
  mark = verdict!.mark;
  return verdict!;
}

// All of them before the first mutation: the gateway is the same one but for what the kills make necessary.
const TRIED = someOf(MUTATIONS, 2);
describe("without a mutation", () => {
  it.each(TRIED)("the drill of $name finds nothing", { timeout: 400_000 }, async (mutation) => {
    expect((await drill(mutation, "")).problems).toEqual([]);
  });
});

describe.each(TRIED)("$name: $what", (mutation) => {
  it("is found by the drill", async () => {
    await world.gateway.stop();
    if (mutation.sql) {
      const database = new Database(join(world.gateway.dataDir, "parley.db"));
      database.exec(mutation.sql);
      database.close();
    }
    await restart(mutation.name);
    const after = await drill(mutation, mutation.name);
    const found = after[mutation.found];
    expect(typeof found === "number" ? found : found.length).toBeGreaterThan(0);
  }, 400_000);
});
