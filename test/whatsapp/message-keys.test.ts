import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { seededRandom, type Random } from "../../src/simulator/inside.ts";
import { StorageUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

// Almost nothing is held in memory: what is not being written is read from the database.
vi.mock("../../src/whatsapp/signal/key-cache.ts", async (original) => {
  const module = await original<typeof import("../../src/whatsapp/signal/key-cache.ts")>();
  return { ...module, createKeyCache: () => module.createKeyCache(20_000) };
});

beforeEach(() => void vi.stubEnv("EVERYDAY_MIX", "message keys"));
afterEach(() => void vi.unstubAllEnvs());

const BEN = "31600000101";
const TURNS = 60;
const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;

/** A store whose commits fail now and then: before anything has happened, or after everything has, with the answer lost. */
function unreliable(store: Store, random: Random) {
  const wrapped = {
    ...store,
    fails: false,
    failed: 0,
    lost: 0,
    writer: {
      ...store.writer,
      async commit(...args: Parameters<Store["writer"]["commit"]>) {
        const dice = wrapped.fails ? random.integer(16) : 9;
        if (dice === 0) {
          wrapped.failed++;
          throw new StorageUnavailable("it is busy");
        }
        const results = await store.writer.commit(...args);
        if (dice === 1) {
          wrapped.lost++;
          throw new StorageUnavailable("the answer is lost");
        }
        return results;
      },
    },
  };
  return wrapped;
}

/** Connects again whenever the line is closed. */
async function online(number: TestNumber): Promise<void> {
  for (;;) {
    const { opens } = number;
    try {
      await number.connect();
      const closes = number.closes.length;
      await until("the line", () => number.opens > opens || number.closes.length > closes);
      if (number.opens > opens) return;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
    }
  }
}

it("no message key is used for two texts, whichever commits fail, whatever memory has lost, and whichever way messages take", async () => {
  const random = seededRandom("message keys");
  const simulator = await simulate({ seed: "message keys" });
  await simulator.addNumber(OWN);
  for (const contact of [GUEST, BEN]) await simulator.addContact(contact);
  const store = unreliable(await testStore(simulator), random);
  const { number: numberOf, ways } = await whatsappOn(simulator, store, new Map(), true);
  const number = numberOf(1);
  await link(simulator, number);
  const { id: group } = await simulator.addGroup({ subject: "all", members: [OWN, GUEST, BEN] });

  let seen = number.closes.length;
  const again = async (): Promise<void> => {
    if (number.closes.length === seen && random.integer(10) > 0) return;
    await number.close();
    await online(number);
    seen = number.closes.length;
  };
  const sent: string[] = [];
  for (let n = 0; n < TURNS; n++) {
    store.fails = n > 6;
    const to = [GUEST, BEN, GUEST, BEN, group][random.integer(5)]!;
    if (!to.includes("@")) await simulator.sendText(to, OWN, `in ${n}`);
    for (const which of [0, 1]) {
      const id = waId(2 * n + which);
      // Under its id until it has left, as the outbox does.
      for (let left = false; !left;) {
        await again();
        left = (await number.send(to, `out ${n} ${which}`, id).catch(() => null))?.kind === "sent";
      }
      sent.push(id);
    }
  }
  store.fails = false;
  await number.close();
  await online(number);
  await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);

  expect(store.failed).toBeGreaterThan(5);
  expect(store.lost).toBeGreaterThan(5);
  expect(ways).toContain("out everyday");
  const arrived = await simulator.transcript({ number: OWN, direction: "to_contact" });
  const read = new Set(arrived.filter(({ decrypted }) => decrypted).map(({ id }) => id));
  expect(sent.filter((id) => !read.has(id))).toEqual([]);
  expect(await simulator.violations()).toEqual([]);
}, 120_000);
