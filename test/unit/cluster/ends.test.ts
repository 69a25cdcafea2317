import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import type { BotDefinition } from "../../../src/bot/types.ts";
import { loadConfig } from "../../../src/config.ts";
import { partitionOf } from "../../../src/model/nodes/cluster.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import { createObservers } from "../../../src/path/observers.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import type { Store, Writer } from "../../../src/store/store.ts";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { joinPath, type JoinedPath } from "../../_setup/path.ts";
import { scriptedLine, type Line } from "../outbox/harness.ts";
import { text } from "../pipeline/harness.ts";
import { silentLog } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";
import { createTestBus, hasSqld, nodesOnOneServer } from "./shared-server.ts";

const openNode = nodesOnOneServer();
const FOREVER_MS = 3_600_000;
const [ANA, BEN, CAT, DAN, EVE, FAY, GUS] = [
  "4915001",
  "4915002",
  "4915003",
  "4915004",
  "4915005",
  "4915006",
  "4915007",
];
const ownNumber = (deviceId: number): string => `4930${deviceId}`;
const jid = (number: string | undefined): string => `${number}@s.whatsapp.net`;

interface Gate {
  opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** A customer's server, whose answers to some events wait. */
async function shop() {
  const posts: { id: string; text: string }[] = [];
  const waiting: ServerResponse[] = [];
  let held: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const event = JSON.parse(Buffer.concat(chunks).toString()) as { text: string };
    posts.push({ id: String(request.headers["webhook-id"]), text: event.text });
    const answer = (): void => void response.end(JSON.stringify({ message: `shop: ${event.text}` }));
    if (held.includes(event.text)) waiting.push(response);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    posts,
    of: (words: string) => posts.filter((post) => post.text === words),
    waiting,
    hold: (...texts: string[]) => void (held = texts),
    /** Those that wait are answered. */
    answer() {
      held = [];
      for (const response of waiting.splice(0)) response.end(JSON.stringify({ message: "shop: too late" }));
    },
  };
}

/** What happens in one process: its own store, its own way of a message, one line to WhatsApp. */
interface Process {
  store: Store;
  path: JoinedPath;
  line: Line;
  gates: { handler: Gate; timer: Gate; reading: Gate };
  /** Bots' handlers that were begun. */
  asked: string[];
  /** What observers were told. */
  told: string[];
  /** First words of what was committed for the number. */
  committed: string[];
  take(): Promise<void>;
}

/** Two processes on one database server; leases say who has the number. */
async function processes(deviceId: number) {
  const own = ownNumber(deviceId);
  const bus = createTestBus();
  const owner = { node: "", epoch: 0 };

  async function start(name: string, isOpen: boolean): Promise<Process> {
    const node = await openNode(`${name}${deviceId}`, bus);
    const { store } = node;
    store.serveLeases({
      epochOf: () => (owner.node === name ? owner.epoch : null),
      refused: () => undefined,
    });
    const gates = { handler: gate(), timer: gate(), reading: gate() };
    if (isOpen) for (const one of Object.values(gates)) one.open();
    const [asked, told, committed]: string[][] = [[], [], []];
    const bot: BotDefinition = {
      routes(b) {
        b.keyword("slow", async (ctx) => {
          asked!.push("slow");
          await gates.handler.opened;
          ctx.reply("done slow");
        });
        b.keyword("remind", (ctx) => ctx.after("1s", "due"));
        b.timer("due", async (ctx) => {
          asked!.push("due");
          await gates.timer.opened;
          ctx.reply("it is due");
        });
        b.keyword("late", (ctx) => ctx.reply("not too late"));
      },
    };
    const guarded =
      (how: "commit" | "soon"): Writer["commit"] =>
      async (statements, options) => {
        const results = await store.writer[how](statements, options);
        if (options?.owning === deviceId) committed!.push(...statements.map(({ sql }) => sql.slice(0, 60)));
        return results;
      };
    const counted: Store = {
      ...store,
      writer: { ...store.writer, commit: guarded("commit"), soon: guarded("soon") },
    };
    const observers = createObservers();
    observers.add({
      decided: ({ stored }) => void told!.push(`decided ${stored.message.text}`),
      read: ({ waId }) => void told!.push(`read ${waId}`),
      messageEnded: ({ kind, result }) => void told!.push(`${kind} ${result}`),
      delivery: () => void told!.push("delivery changed"),
      webhook: ({ to }) => void told!.push(`webhook ${to}`),
    });
    const line = scriptedLine();
    const log = silentLog(loadConfig({}));
    const http = createSafeFetch({ allowPrivateNetwork: true });
    const path = joinPath({
      store: counted,
      news: node.news,
      cluster: {
        ...node.cluster,
        ownership: {
          ...node.cluster.ownership,
          owns: () => owner.node === name,
          ownerOf: () => owner.node,
        },
      },
      config: loadConfig({ SEND_WAIT_MS: "6000", PACE_PER_MINUTE: "0", WEBHOOK_TIMEOUT_MS: "20000" }),
      log,
      connections: { connection: () => line.connection, number: () => own },
      directory: {
        async canonicalChat(_deviceId, address) {
          if (address === jid(FAY)) await gates.reading.opened;
          return address;
        },
      },
      bots: { registry: createRegistry([{ id: "shop", file: "shop", exported: bot }], log) },
      observers,
      http,
      random: () => 0.5,
    });
    await path.load();
    path.start();
    onTestFinished(async () => {
      await path.drain(0);
      await http.close();
    });
    async function take(): Promise<void> {
      owner.epoch++;
      owner.node = name;
      const sql = `insert into leases (p, node, epoch, until) values (?, ?, ?, ?)
        on conflict (p) do update set node = excluded.node, epoch = excluded.epoch, until = excluded.until`;
      const args = [partitionOf(deviceId), name, owner.epoch, Date.now() + FOREVER_MS];
      await store.writer.commit([{ sql, args }]);
      await path.open(deviceId);
      await path.online(deviceId);
    }
    return { store, path, line, gates, asked: asked!, told: told!, committed: committed!, take };
  }

  const first = await start("first", false);
  await first.store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, 'acc', ?, 'connected', 0, 0)",
      args: [deviceId, own],
    },
  ]);
  return { first, start, owner };
}

const count = async (store: Store, sql: string, deviceId: number): Promise<number> =>
  Number((await rawRows(store, `select count(*) as n from ${sql} and device_id = ?`, [deviceId]))[0]!.n);

/** A number in the middle of everything that a number does. */
async function busyNumber(deviceId: number) {
  const receiver = await shop();
  const { first, start, owner } = await processes(deviceId);
  const receive = (from: string | undefined, words: string) =>
    first.path.receive(deviceId, ownNumber(deviceId), [text(from!, words)]);
  const received = (from: string | undefined, words: string) =>
    commitIntake(first.store.writer, receive(from, words), { owning: deviceId });
  await first.take();
  await first.path.webhooks.put(deviceId, { url: receiver.url });

  // An event that was delivered, and is posted again by the queue.
  await received(CAT, "again");
  await vi.waitFor(() => expect(first.line.texts(jid(CAT))).toEqual(["shop: again"]));
  receiver.hold("post", "again");
  await vi.waitFor(async () =>
    expect(await count(first.store, "deliveries where state = 'delivered'", deviceId)).toBe(1),
  );
  await first.path.webhooks.deliveries.replayMany({ deviceIds: [deviceId], state: "delivered" });
  await received(BEN, "post");
  await received(ANA, "slow");
  await received(EVE, "remind");
  const outcome = gate();
  first.line.answer(async (): Promise<SendOutcome> => {
    await outcome.opened;
    return { kind: "refused", code: 400, reason: "bad-request" };
  });
  const sent = first.path.submit({
    deviceId,
    destinations: [{ number: DAN!, jid: jid(DAN) }],
    draft: { kind: "text", text: "hello" },
  });
  const reading = first.path.read(deviceId, { jid: jid(FAY), waIds: ["R1"], at: Date.now() }).then(
    () => "acknowledged",
    () => "told again",
  );
  const late = receive(GUS, "late");
  await vi.waitFor(() => {
    expect(receiver.waiting).toHaveLength(2);
    expect(first.asked).toEqual(expect.arrayContaining(["slow", "due"]));
    expect(first.line.texts(jid(DAN))).toEqual(["hello"]);
  });
  return { receiver, first, start, owner, outcome, sent, reading, late };
}

describe.skipIf(!hasSqld)("a number that is closed in the middle of everything it does", () => {
  it.each([
    { how: "given away", deviceId: 301 },
    { how: "lost to another process", deviceId: 302 },
  ])("and $how: nothing is lost, done twice, or told that is not so", async ({ how, deviceId }) => {
    const { receiver, first, start, owner, outcome, sent, reading, late } = await busyNumber(deviceId);
    const second = await start("second", true);

    if (how !== "given away") Object.assign(owner, { node: "second", epoch: owner.epoch + 1 });
    const closing = first.path.close(deviceId);
    const isStored = await commitIntake(first.store.writer, late, { owning: deviceId }).then(
      () => true,
      () => false,
    );
    await closing;
    const [before, told] = [first.committed.length, first.told.length];
    // Whatever was under way ends now, after the number was closed.
    for (const one of [...Object.values(first.gates), outcome]) one.open();
    receiver.answer();
    expect(await reading).toBe("told again");
    expect(await sent).toMatchObject([{ state: "queued" }]);
    expect(first.committed.slice(before)).toEqual([]);
    expect(first.told.slice(told)).toEqual([]);
    expect(isStored).toBe(how === "given away");

    await second.take();
    await second.path.read(deviceId, { jid: jid(FAY), waIds: ["R1"], at: Date.now() });
    await vi.waitFor(async () => {
      expect(await count(second.store, "inbox where state = 'pending'", deviceId)).toBe(0);
      expect(await count(second.store, "outbox where state = 'queued'", deviceId)).toBe(0);
      expect(await count(second.store, "deliveries where state <> 'delivered'", deviceId)).toBe(0);
      expect(await count(second.store, "bot_timers where 1", deviceId)).toBe(0);
    });

    expect(second.line.texts(jid(ANA))).toEqual(["done slow"]);
    expect(second.line.texts(jid(BEN))).toEqual(["shop: post"]);
    expect(second.line.texts(jid(CAT))).toEqual([]);
    expect(second.line.texts(jid(DAN))).toEqual(["hello"]);
    expect(second.line.texts(jid(EVE))).toEqual(["it is due"]);
    expect(second.line.texts(jid(GUS))).toEqual(isStored ? ["not too late"] : []);
    const hello = [first, second].map(({ line }) => line.sent.find((message) => message.jid === jid(DAN)));
    expect(hello[1]!.waId).toBe(hello[0]!.waId);
    expect(second.told.filter((one) => one.startsWith("read"))).toEqual(["read R1"]);
    // What was being posted is posted again, as the same event.
    for (const words of ["post", "again"])
      expect(new Set(receiver.of(words).map(({ id }) => id)).size, words).toBe(1);
    expect(await count(second.store, "outbox where 1", deviceId)).toBe(isStored ? 6 : 5);
    expect(first.committed.slice(before)).toEqual([]);
    expect(first.told.slice(told)).toEqual([]);
  });
});
