import { describe, expect, it, vi } from "vitest";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { outbox } from "../../../drizzle/schema.ts";
import { WAKES as LEFT_BY_OTHERS } from "../../../src/outbox/submitting/wakes.ts";
import { defineQuery, integer, text } from "../../../src/store/query.ts";
import { planOf } from "../../_setup/query-plan.ts";
import { startRedis } from "../../_setup/redis.ts";
import { jid, scriptedLine, type Line } from "../outbox/harness.ts";
import { startDelayingProxy } from "./delaying-proxy.ts";
import { sendingClusters, sqld, type SendingNode } from "./sending-nodes.ts";

const opened = sendingClusters();
const ANA = "628111111111";
const BEN = "628122222222";

const until = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { interval: 20 });

function submit({ path }: SendingNode, deviceId: number, texts: string, ...numbers: string[]) {
  const destinations = numbers.map((number) => ({ number, jid: jid(number) }));
  return path.submit({ deviceId, destinations, draft: { kind: "text", text: texts } });
}

const schedule = ({ path }: SendingNode, deviceId: number, text: string, sendAt: number) =>
  path.submit({
    deviceId,
    destinations: [{ number: ANA, jid: jid(ANA) }],
    draft: { kind: "text", text, sendAt },
  });

/** Two nodes, the second of which has the number and is online. */
async function pair(options: { redisUrl?: string; env?: Record<string, string> } = {}) {
  const cluster = await opened();
  const [asked, owner] = await Promise.all([cluster.node("asked", options), cluster.node("owner", options)]);
  const line = scriptedLine();
  owner.line = line;
  const deviceId = await cluster.number();
  await cluster.give(deviceId, owner);
  return { cluster, asked, owner, line, deviceId };
}

const WAKES = defineQuery("SELECT count(*) AS n FROM send_wakes WHERE device_id = ?", { n: integer() });
const STATES = defineQuery("SELECT state FROM outbox WHERE device_id = ? ORDER BY id", { state: text() });

const wakesLeft = async ({ store }: SendingNode, deviceId: number): Promise<number> =>
  (await store.readOne(WAKES, [deviceId]))!.n;
const states = async ({ store }: SendingNode, deviceId: number): Promise<string[]> =>
  (await store.read(STATES, [deviceId])).map(({ state }) => state);

describe.skipIf(sqld === null)("a send that a node takes for a number of another one", () => {
  it("is sent by the owner, and its outcome told at once", async () => {
    const { asked, line, deviceId } = await pair();

    const results = await submit(asked, deviceId, "hello", ANA, BEN);

    expect(results).toMatchObject([
      { number: ANA, state: "sent" },
      { number: BEN, state: "sent" },
    ]);
    expect(line.texts()).toEqual(["hello", "hello"]);
    // By news: the look at the rows, every two seconds, would make each of these wait for the next one.
    const took: number[] = [];
    for (let again = 0; again < 4; again++) {
      const begun = performance.now();
      await submit(asked, deviceId, "hello", ANA);
      took.push(performance.now() - begun);
    }
    expect(Math.min(...took)).toBeLessThan(1_000);
    await until(async () => expect(await wakesLeft(asked, deviceId)).toBe(0));
  });

  it("that WhatsApp refuses is refused with its reason", async () => {
    const { asked, line, deviceId } = await pair();
    line.answer(() => ({ kind: "refused", code: 404, reason: "not_on_whatsapp" }));

    expect(await submit(asked, deviceId, "hello", ANA)).toMatchObject([
      { state: "failed", error: { code: "NOT_ON_WHATSAPP" } },
    ]);
  });

  it("is sent within a few seconds, and said to be, when no news go between them", async () => {
    const { asked, owner, line, deviceId } = await pair();
    asked.isDeaf = true;
    owner.isDeaf = true;

    expect(await submit(asked, deviceId, "hello", ANA)).toMatchObject([{ state: "sent" }]);
    expect(line.texts()).toEqual(["hello"]);
    expect(await wakesLeft(asked, deviceId)).toBe(0);
  });

  it(
    "goes out over a Redis that is killed, and one that is emptied or takes its time",
    { timeout: 90_000 },
    async () => {
      const redis = await startRedis();
      const proxy = await startDelayingProxy(redis.port);
      const { asked, line, deviceId } = await pair({ redisUrl: proxy.url });

      proxy.delay(700);
      expect(await submit(asked, deviceId, "slow", ANA)).toMatchObject([{ state: "sent" }]);
      proxy.delay(0);
      await redis.command("FLUSHALL");
      expect(await submit(asked, deviceId, "emptied", ANA)).toMatchObject([{ state: "sent" }]);
      await redis.kill();
      expect(await submit(asked, deviceId, "killed", ANA)).toMatchObject([{ state: "sent" }]);
      redis.freeze();
      await redis.start();
      expect(await submit(asked, deviceId, "again", ANA)).toMatchObject([{ state: "sent" }]);

      expect(line.texts()).toEqual(["slow", "emptied", "killed", "again"]);
    },
  );

  it("is said to be sent by the row when the news of it are lost, also at the end of the waiting time", async () => {
    const { asked, line, owner, deviceId } = await pair({ env: { SEND_WAIT_MS: "4000" } });
    owner.isDeaf = true;
    let sent = (_outcome: SendOutcome): void => undefined;
    line.answer(() => new Promise((resolve) => (sent = resolve)));
    owner.isDeaf = false;

    const submitted = submit(asked, deviceId, "hello", ANA);
    await until(() => expect(line.texts()).toEqual(["hello"]));
    asked.isDeaf = true;
    sent({ kind: "sent" });

    expect(await submitted).toMatchObject([{ state: "sent" }]);
  });

  it("is queued while nobody has the number, and sent by whoever has it next", async () => {
    const { cluster, asked, owner, line, deviceId } = await pair({ env: { SEND_WAIT_MS: "300" } });
    await cluster.give(deviceId, null);

    expect(await submit(asked, deviceId, "first", ANA)).toMatchObject([{ state: "queued" }]);
    expect(line.texts()).toEqual([]);
    await cluster.give(deviceId, owner);

    await until(() => expect(line.texts()).toEqual(["first"]));
    await until(async () => expect(await states(asked, deviceId)).toEqual(["sent"]));
    await until(async () => expect(await wakesLeft(asked, deviceId)).toBe(0));
  });

  it("is failed by the owner when no phone has the number any more", async () => {
    const { asked, owner, line, deviceId } = await pair();
    owner.isLinked = false;

    expect(await submit(asked, deviceId, "hello", ANA)).toMatchObject([
      { state: "failed", error: { code: "SENDER_NOT_CONNECTED" } },
    ]);
    expect(line.texts()).toEqual([]);
  });
});

describe.skipIf(sqld === null)("sends of several nodes for one number", () => {
  /** What the chat got, in its order, and what the rows say. */
  async function inRowOrder(node: SendingNode, line: Line, deviceId: number): Promise<void> {
    const ROWS = defineQuery("SELECT wa_id FROM outbox WHERE device_id = ? ORDER BY id", {
      waId: outbox.waId,
    });
    const rows = (await node.store.read(ROWS, [deviceId])).map(({ waId }) => waId);
    expect(line.sent.map(({ waId }) => waId)).toEqual(rows);
  }

  it("leave in the order of the rows, each once, whoever has stored them", async () => {
    const { cluster, asked, owner, line, deviceId } = await pair();
    const third = await cluster.node("third");

    const all = Array.from({ length: 60 }, (_, n) =>
      submit([asked, owner, third][n % 3]!, deviceId, `${n}`, ANA),
    );
    const results = await Promise.all(all);

    expect(results.flat().map(({ state }) => state)).toEqual(Array(60).fill("sent"));
    expect(line.sent).toHaveLength(60);
    await inRowOrder(asked, line, deviceId);
  });

  it("do not overtake one that the owner has not heard of", async () => {
    const { asked, owner, line, deviceId } = await pair({ env: { SEND_WAIT_MS: "0" } });
    await submit(owner, deviceId, "zero", ANA);
    await until(() => expect(line.texts()).toEqual(["zero"]));
    asked.isDeaf = true;

    await submit(asked, deviceId, "first", ANA);
    await submit(owner, deviceId, "second", ANA);

    await until(() => expect(line.texts()).toEqual(["zero", "first", "second"]));
  });

  it("that become due do not overtake one that the owner has not heard of", async () => {
    const { asked, owner, line, deviceId } = await pair({ env: { SEND_WAIT_MS: "0" } });
    asked.isDeaf = true;

    // The owner looks at the rows every two seconds: it has not done so in all three of these moments.
    for (let turn = 1; turn <= 3; turn++) {
      await schedule(owner, deviceId, "due", Date.now() + 200);
      await submit(asked, deviceId, "first", ANA);
      await until(() => expect(line.sent).toHaveLength(2 * turn));
    }

    await inRowOrder(asked, line, deviceId);
  });

  it.each([
    ["is given from node to node", false],
    ["is lost by one node and taken by another", true],
  ])("are all sent under their ids while the number %s", async (_how, isLost) => {
    const { cluster, asked, owner, line, deviceId } = await pair();
    const second = scriptedLine();
    asked.line = second;
    const third = await cluster.node("third");
    const submitted: Promise<unknown>[] = [];

    for (let n = 0; n < 30; n++) {
      submitted.push(submit([asked, owner, third][n % 3]!, deviceId, `${n}`, ANA));
      if (n % 6 === 5) await cluster.give(deviceId, n % 12 === 5 ? asked : owner, isLost);
    }
    const results = (await Promise.all(submitted)).flat();
    expect(results).toHaveLength(30);
    expect(results).toEqual(Array(30).fill(expect.objectContaining({ state: "sent" })));
    const sent = [...line.sent, ...second.sent].map(({ waId }) => waId);
    expect(new Set(sent).size).toBe(30);
    // Whoever has lost it cannot write down what has left; then it leaves once more, as the same message.
    if (!isLost) expect(sent).toHaveLength(30);
  });
});

describe.skipIf(sqld === null)("a look for sends of other nodes", () => {
  it("reads what is left by an index, whatever else waits", async () => {
    const { asked } = await pair();
    const plan = (await planOf(asked.store, LEFT_BY_OTHERS.sql)).join("\n");
    expect(plan).toContain("send_wakes_partition");
    expect(plan).not.toContain("SCAN send_wakes");
  });
});
