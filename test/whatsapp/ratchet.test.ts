import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { Target } from "../../src/whatsapp/send/targets.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const forced = vi.hoisted(() => ({ replacing: false, cold: false }));

// Nothing is held in memory: every session is read from the database, as for a number with very many contacts.
vi.mock("../../src/whatsapp/signal/key-cache.ts", async (original) => {
  const module = await original<typeof import("../../src/whatsapp/signal/key-cache.ts")>();
  return { ...module, createKeyCache: () => module.createKeyCache(forced.cold ? 1 : undefined) };
});

// Keys are asked for at every send, and each answer replaces the session: what happens once in a while, always.
vi.mock("../../src/whatsapp/send/sessions.ts", async (original) => {
  const module = await original<typeof import("../../src/whatsapp/send/sessions.ts")>();
  return {
    ...module,
    createSessions(...[socket, time, memory]: Parameters<typeof module.createSessions>) {
      const sessions = module.createSessions(socket, time, memory);
      const replace = (targets: Target[]): Promise<unknown> =>
        socket.assertSessions(
          targets.map(({ session }) => session),
          true,
        );
      return {
        async open(targets: Target[]) {
          if (forced.replacing) await replace(targets);
          return sessions.open(targets);
        },
      };
    },
  };
});
vi.mock("../../src/whatsapp/signal/session-keeping.ts", async (original) => {
  const module = await original<typeof import("../../src/whatsapp/signal/session-keeping.ts")>();
  return {
    ...module,
    keepsOpenSession: (...args: Parameters<typeof module.keepsOpenSession>) =>
      forced.replacing ? Promise.resolve(false) : module.keepsOpenSession(...args),
  };
});

const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function linkedNumber(simulator: Simulator, store?: Store): Promise<TestNumber> {
  await simulator.addNumber(OWN);
  const number = (await whatsappOn(simulator, store ?? (await testStore(simulator)))).number(1);
  await link(simulator, number);
  return number;
}

/** A store as far away as a database server in the next room: 2 ms to read, 2 ms to write. */
function distant(store: Store): Store {
  return {
    ...store,
    read: async (query, args) => {
      await pause(2);
      return store.read(query, args);
    },
    readOne: async (query, args) => {
      await pause(2);
      return store.readOne(query, args);
    },
    writer: {
      ...store.writer,
      commit: async (statements) => {
        await pause(2);
        return store.writer.commit(statements);
      },
    },
  };
}

/** Nobody had to ask for a message again, on either side. */
async function expectFirstTries(simulator: Simulator): Promise<void> {
  await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
  const asked = await simulator.countStanzas({ number: OWN, direction: "in", tag: "receipt", type: "retry" });
  const entries = await simulator.transcript({ number: OWN });
  const unread = entries.filter(({ decrypted, tries }) => !decrypted || tries > 0);
  expect({
    askedByUs: asked,
    unreadByContacts: unread.map(({ id, to, error }) => ({ id, to, error })),
  }).toEqual({ askedByUs: 0, unreadByContacts: [] });
}

beforeEach(() => {
  forced.replacing = false;
  forced.cold = false;
  // Each message's way is drawn: what one leaves behind, the other goes on from.
  vi.stubEnv("EVERYDAY_MIX", "ratchets");
});
afterEach(() => void vi.unstubAllEnvs());

describe("ratchets", () => {
  it("200 overlapping texts in and out with one contact are read at the first try on both sides", async () => {
    forced.cold = true;
    const simulator = await simulate();
    const number = await linkedNumber(simulator, distant(await testStore(simulator)));
    const guest = await simulator.addContact(GUEST);

    const sends: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n++) {
      sends.push(guest.sendText(OWN, `in ${n}`), number.send(GUEST, `out ${n}`, waId(n)));
      if (n % 4 === 3) await pause(n % 3);
    }
    expect(await Promise.all(sends)).toContainEqual({ kind: "sent" });
    await until("all texts in", () => number.received.length === 200, 30_000);
    await until("all texts out", async () => (await guest.messages()).length >= 200, 30_000);

    await expectFirstTries(simulator);
    expect(new Set(number.received.map(({ text }) => text)).size).toBe(200);
    expect(new Set((await guest.messages()).map(({ id }) => id)).size).toBe(200);
  });

  it("texts that cross our replies are read while the session is replaced at every send", async () => {
    forced.replacing = true;
    const simulator = await simulate();
    const number = await linkedNumber(simulator);
    const contacts = await simulator.addContacts(40, { prefix: "3165" });

    const chat = async (contact: string, n: number): Promise<void> => {
      const seen = (text: string): boolean =>
        number.received.some((message) => message.number === contact && message.text === text);
      const arrives = (text: string): Promise<unknown> => until(`${text} of ${contact}`, () => seen(text));
      for (let turn = 0; turn < 4; turn++) {
        await simulator.sendText(contact, OWN, `question ${turn}`);
        await arrives(`question ${turn}`);
        // Written before our answer is there, and delivered 0 to 14 ms after it has replaced the session.
        await simulator.faults.holdDeliveries({ number: OWN });
        await simulator.sendText(contact, OWN, `crossing ${turn}`);
        const answer = await number.send(contact, `answer ${turn}`, waId(1_000 + n * 4 + turn));
        expect(answer).toEqual({ kind: "sent" });
        await pause((n + turn) % 15);
        await simulator.faults.releaseDeliveries({ number: OWN });
        await arrives(`crossing ${turn}`);
        await simulator.waitForMessage(contact, { text: `answer ${turn}` });
      }
    };
    for (const [n, contact] of contacts.entries()) await chat(contact, n);

    await expectFirstTries(simulator);
  });

  it("a working session is kept when the device list is asked for anew", async () => {
    const simulator = await simulate();
    const number = await linkedNumber(simulator);
    const guest = await simulator.addContact(GUEST);

    await guest.sendText(OWN, "hello");
    await until("the text", () => number.received.length === 1);
    await number.send(GUEST, "good day", waId(1));

    expect((await guest.waitForMessage({ text: "good day" })).encType).toBe("msg");
  });
});
