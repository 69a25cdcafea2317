import { expect, it } from "vitest";
import { createAudit } from "../../src/audit/audit.ts";
import { createRegistry } from "../../src/bot/files/registry.ts";
import type { Routes } from "../../src/bot/types.ts";
import { createLids } from "../../src/directory/lids.ts";
import { sharedAbort } from "../../src/model/shared-abort.ts";
import { createSafeFetch } from "../../src/net/safe-fetch.ts";
import { createObservers } from "../../src/path/observers.ts";
import { createSentReader } from "../../src/outbox/sent-reader.ts";
import { createMessagePath } from "../../src/path/path.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import { joinIntakes } from "../../src/store/write/intake.ts";
import type { Statement, Store } from "../../src/store/store.ts";
import type { LinkedIdentity, WhatsAppConnection } from "../../src/whatsapp/port.ts";
import { createWhatsApp } from "../../src/whatsapp/whatsapp.ts";
import { atEnd, GUEST, OWN, settings, silent, simulate, testStore, until } from "./_setup.ts";
import { rawRows } from "../unit/store/rows.ts";

/** Messages that are counted. */
const ANSWERED = 20;

it("an answered message in a warm chat alone costs at most 2 commits and 9 statements, its receipts included", async () => {
  const simulator = await simulate();
  await simulator.addNumber(OWN);
  const guest = await simulator.addContact(GUEST);
  const store = await testStore(simulator);
  const counted = countCommits(store);
  const answered = await startEcho(simulator, store);
  const exchange = async (n: number): Promise<void> => {
    await guest.sendText(OWN, `in ${n}`);
    await guest.waitForMessage({ text: `re: in ${n}` });
  };
  for (let n = 0; n < 5; n++) await exchange(n);
  await until("the warm-up to be stored", answered(5));

  counted.start();
  for (let n = 5; n < 5 + ANSWERED; n++) await exchange(n);
  await until("everything to be stored", answered(5 + ANSWERED));

  // The states of the last messages are stored when there is nothing more to be stored with.
  const { commits, statements } = counted;
  expect(commits.length).toBeLessThanOrEqual(2 * ANSWERED + 3);
  const sql = statements.map((text) => text.replaceAll(/\s+/g, " ").slice(0, 60));
  expect(sql.length, [...new Set(sql)].join("\n")).toBeLessThanOrEqual(9 * ANSWERED + 3);
});

/** Counts what is committed: each call of `commit` is at most one transaction, and what `soon` is given joins one. */
function countCommits({ writer }: Store) {
  const commits: Statement[][] = [];
  const statements: string[] = [];
  let counting = false;
  const note = (given: Statement[]): void => {
    if (counting) statements.push(...given.map(({ sql }) => sql));
  };
  const { commit, soon } = writer;
  writer.commit = (given) => {
    if (counting && given.length > 0) commits.push(given);
    note(given);
    return commit(given);
  };
  writer.soon = (given) => {
    note(given);
    return soon(given);
  };
  return { commits, statements, start: () => void (counting = true) };
}

/** The whole way of a message between the simulator and a bot that repeats what it is told, for one linked number. */
async function startEcho(simulator: Simulator, store: Store) {
  const config = { ...settings(simulator, "/nowhere"), loopGuardPerMinute: 0, pacePerMinute: 0 };
  let connection: WhatsAppConnection | null = null;
  let identity: LinkedIdentity | null = null;
  const unused = (): never => {
    throw new Error("There are no files here.");
  };
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const routes = (b: Routes) => b.match(/^in/, (ctx) => ctx.reply(`re: ${ctx.text}`));
  const observers = createObservers();
  const path = createMessagePath({
    store,
    config,
    log: silent,
    connections: {
      connection: () => connection,
      identity: () => identity,
      isLinked: () => true,
      number: () => OWN,
      accountOf: () => null,
      callsText: () => null,
      deviceOf: () => 1,
    },
    directory: { canonicalChat: createLids({ store, identity: () => identity }).canonicalChat },
    bots: {
      registry: createRegistry([{ id: "echo", file: "echo", exported: routes }], silent),
      locales: () => new Map(),
    },
    http,
    files: {
      outgoing: { prepare: unused },
      received: { read: unused, largestImage: 0, link: unused, image: unused },
    },
    observers,
    stopping: sharedAbort().signal,
  });
  const audit = createAudit({ store, config, log: silent });
  await audit.load();
  const whatsapp = createWhatsApp({
    store,
    config,
    log: silent,
    sentMessage: createSentReader(store).sentMessage,
    receivedContent: async () => null,
    files: { load: async () => null, remember: async () => undefined },
    ownFiles: { idOf: () => "mf_none", make: () => Promise.reject(new Error("nothing is handed on")) },
    witness: audit.witness,
  });
  atEnd(async () => {
    await path.drain(1_000);
    await path.sent();
    await whatsapp.stop();
    await audit.stop();
    await http.close();
  });
  await store.writer.commit([
    {
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (1, 'a', ?, 'connected', 0, 0)",
      args: [OWN],
    },
  ]);
  await path.load();
  await path.open(1);
  path.start();

  const qrs: string[] = [];
  let closes = 0;
  const connect = async (): Promise<void> => {
    connection = await whatsapp.connect(1, {
      tell(event) {
        if (event.type === "qr") qrs.push(event.text);
        if (event.type === "closed") closes++;
        if (event.type !== "open") return;
        identity = event.identity;
        observers.tell({ type: "online", deviceId: 1 });
      },
      messages(messages) {
        const { statements, stored } = audit.found(1, messages);
        return joinIntakes(path.receive(1, OWN, messages), { statements, committed: stored });
      },
      async store(event) {
        if (event.type === "read") return;
        audit.receipts(1, event.receipts);
        await path.acknowledged(1, event);
      },
    });
  };
  await connect();
  await simulator.scan(OWN, await until("a QR", () => qrs.at(-1)));
  await until("the restart after linking", () => closes > 0);
  await connect();
  await until("the connection to open", () => identity);

  const delivered = "SELECT count(*) AS n FROM outbox WHERE state = 'delivered'";
  return (count: number) => async () => Number((await rawRows(store, delivered, []))[0]!.n) >= count;
}
