import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { Webhook } from "standardwebhooks";
import { repositoryRoot } from "../../src/config.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { programFile } from "../_setup/program-file.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const PATH = `/devices/${SHOP}/webhook`;

async function openShop(receiver: Receiver, people: number): Promise<{ world: World; people: string[] }> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.gateway.put(PATH, { url: receiver.url }, { key: world.key });
  return { world, people: await world.sim.addContacts(people, { prefix: "49151" }) };
}

const health = async ({ gateway, key }: World) => (await gateway.get(PATH, { key })).body["data"].health;

const deliveries = async ({ gateway, key }: World, query = ""): Promise<Record<string, any>[]> =>
  (await gateway.get(`/deliveries?limit=100${query}`, { key })).body["data"];

/** What a contact got, each message once however often it was delivered. */
async function got({ sim }: World, person: string): Promise<string[]> {
  const messages = await sim.messages(person);
  return [...new Map(messages.map(({ id, text }) => [id, text ?? ""])).values()];
}

/** `GET /events`: the data of events of one name. */
async function listen(world: World, name: string): Promise<Record<string, any>[]> {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const headers = { authorization: `Bearer ${world.key}` };
  const { body } = await fetch(`${world.gateway.url}/events`, { headers, signal: ending.signal });
  const told: Record<string, any>[] = [];
  let text = "";
  void (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks)
        if (block.includes(`\nevent: ${name}\n`)) told.push(JSON.parse(/\ndata: (.+)$/.exec(block)![1]!));
    }
  })().catch(() => undefined);
  return told;
}

/** A node's series carry its name as well. */
async function metric({ gateway }: World, line: string): Promise<number> {
  const { text } = await gateway.get("/metrics", { key: gateway.adminToken });
  const found = text.replaceAll(/,node="[^"]*"|node="[^"]*",?/g, "").split("\n");
  return Number(found.find((other) => other.startsWith(`${line} `))?.slice(line.length) ?? 0);
}

/** `npm run parley -- replay …` as the operator calls it. */
async function replay(world: World, ...args: string[]): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [programFile("src/cli/main.ts"), "replay", ...args], {
    cwd: repositoryRoot(),
    env: world.gateway.operatorEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, text };
}

describe("a webhook that is down", () => {
  it("is let alone after ten failures, over SIGKILL too; bots go on, and when it is back all are answered once", async () => {
    const receiver = await startReceiver();
    receiver.status = 503;
    const { world, people } = await openShop(receiver, 14);
    await world.bindBots(SHOP, "ping");
    const told = await listen(world, "webhook");
    const early = people.slice(0, 10);
    for (const person of early) await world.sim.sendText(person, SHOP, "hello");
    await until(async () => (await health(world)).state === "paused");
    await until(() => told.length === 1);
    expect(told[0]).toMatchObject({
      device: SHOP,
      url: receiver.url,
      health: { state: "paused", reason: null },
    });
    expect(await metric(world, 'parley_webhook_turns_total{to="paused"}')).toBe(1);

    const [ana, bob, cleo] = people.slice(10) as [string, string, string];
    await world.sim.sendText(ana, SHOP, "ping");
    await world.sim.waitForMessage(ana, { text: "pong" });
    await world.sim.sendText(bob, SHOP, "are you there?");
    await until(async () => (await deliveries(world)).length === 11);
    const waiting = (await deliveries(world))[0]!;
    expect(waiting).toMatchObject({ state: "retrying", reply: null });

    await world.gateway.kill();
    await world.gateway.restart();
    await world.online(SHOP);
    expect((await health(world)).state).toBe("paused");
    await world.sim.sendText(cleo, SHOP, "hello again");
    await until(async () => (await deliveries(world)).length === 12);
    const known = await listen(world, "webhook");

    receiver.status = 200;
    receiver.answer = ({ body }) => ({ message: `re ${String(body["message"])}` });
    for (const person of early) await world.sim.waitForMessage(person, { text: "re hello" }, 60_000);
    await world.sim.waitForMessage(bob, { text: "re are you there?" }, 60_000);
    await world.sim.waitForMessage(cleo, { text: "re hello again" }, 60_000);
    await until(() => known.some(({ health: { state } }) => state === "ok"));
    expect(await health(world)).toMatchObject({ state: "ok", failures: 0, failing_since: null });
    await until(async () => (await deliveries(world, "&state=delivered")).length === 12);
    await world.sim.settle();
    for (const person of early) expect(await got(world, person)).toEqual(["re hello"]);
    expect(await got(world, bob)).toEqual(["re are you there?"]);
    expect(await got(world, cleo)).toEqual(["re hello again"]);
  }, 180_000);
});

describe("a webhook whose secret is exchanged", () => {
  it("is signed with both secrets for a day, after SIGKILL as well", async () => {
    const receiver = await startReceiver();
    const world = await openWorld({ again: true });
    const [ana] = (await world.sim.addContacts(1, { prefix: "49151" })) as [string];
    await world.link(SHOP);
    const { secret } = (await world.gateway.put(PATH, { url: receiver.url }, { key: world.key })).body;
    const rotated = (await world.gateway.post(`${PATH}/rotate`, {}, { key: world.key })).body["secret"];
    await world.gateway.kill();
    await world.gateway.restart();
    await world.online(SHOP);
    await world.sim.sendText(ana, SHOP, "hello");
    await until(() => receiver.events.length === 1);
    const { text, headers } = receiver.events[0]!;
    for (const each of [secret, rotated])
      expect(() => new Webhook(each).verify(text, headers as Record<string, string>)).not.toThrow();
  }, 120_000);
});

describe("an attempt", () => {
  it("that SIGKILL cuts off does not count and is made again at once, under the same id", async () => {
    const receiver = await startReceiver(() => undefined);
    const { world, people } = await openShop(receiver, 1);
    await world.sim.sendText(people[0]!, SHOP, "hello");
    await until(() => receiver.events.length === 1);
    await world.gateway.kill();
    receiver.answer = { message: "here" };
    await world.gateway.restart();
    await world.sim.waitForMessage(people[0]!, { text: "here" });
    await until(async () => (await deliveries(world))[0]?.["state"] === "delivered");
    const [delivery] = await deliveries(world);
    expect(delivery!["attempts"]).toMatchObject([{ status_code: 200 }]);
    expect(receiver.events.map(({ headers }) => headers["webhook-id"])).toEqual([
      delivery!["id"],
      delivery!["id"],
    ]);
  }, 120_000);
});

describe("deliveries that were given up", () => {
  it("are asked for again by HTTP and by the operator, a range at once, and answered once", async () => {
    const receiver = await startReceiver();
    receiver.status = 404;
    const { world, people } = await openShop(receiver, 3);
    for (const person of people) await world.sim.sendText(person, SHOP, "hello");
    await until(async () => (await deliveries(world, "&state=dead")).length === 3);
    expect(await replay(world, "--since", "never")).toMatchObject({
      code: 1,
      text: expect.stringMatching(/is not a time/),
    });
    expect(await replay(world, "--state", "disabled")).toEqual({
      code: 0,
      text: "There is nothing to replay.\n",
    });

    receiver.status = 200;
    receiver.answer = { message: "sorry, we were away" };
    const range = { device: SHOP, state: "dead", since: new Date(Date.now() - 3_600_000).toISOString() };
    const asked = await world.gateway.post("/deliveries/replay", range, { key: world.key });
    expect(asked).toMatchObject({ status: 202, body: { status: true, replayed: 3 } });
    for (const person of people) await world.sim.waitForMessage(person, { text: "sorry, we were away" });
    await until(async () => (await deliveries(world, "&state=delivered")).length === 3);
    // Nobody had answered when it was decided about them.
    const { body: listed } = await world.gateway.get("/messages?direction=in", { key: world.key });
    expect(listed["data"].map((one: { answered_by?: string }) => one.answered_by)).toEqual([
      "webhook",
      "webhook",
      "webhook",
    ]);

    receiver.answer = { message: "twice" };
    const today = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);
    const again = await replay(world, "--device", SHOP, "--state", "delivered", "--since", today);
    expect(again).toMatchObject({
      code: 0,
      text: expect.stringContaining("3 deliveries are queued again"),
    });
    await until(() => receiver.events.length === 9);
    expect(new Set(receiver.events.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
    await until(async () => (await deliveries(world)).every(({ attempts }) => attempts.length === 3));
    await world.sim.settle();
    for (const person of people) expect(await got(world, person)).toEqual(["sorry, we were away"]);
  }, 120_000);

  it("by a 410: the webhook is switched off and says so; set anew it is used again, and what ended can be asked for", async () => {
    const receiver = await startReceiver();
    receiver.status = 410;
    const { world, people } = await openShop(receiver, 1);
    const told = await listen(world, "webhook");
    await world.sim.sendText(people[0]!, SHOP, "hello");
    await until(() => told.length === 1);
    expect(told[0]).toMatchObject({
      device: SHOP,
      enabled: false,
      health: { state: "disabled", reason: "gone" },
    });
    expect(world.gateway.output()).toMatch(/answered 410 and is disabled/);
    expect(await metric(world, 'parley_webhook_turns_total{to="disabled"}')).toBe(1);
    await until(async () => (await deliveries(world, "&state=disabled")).length === 1);
    expect(
      await world.gateway.post("/deliveries/replay", { device: SHOP }, { key: world.key }),
    ).toMatchObject({
      status: 404,
      body: { errors: { code: "NOT_FOUND" } },
    });
    await world.gateway.restart();
    expect(await health(world)).toMatchObject({ state: "disabled", reason: "gone" });

    receiver.status = 200;
    receiver.answer = { message: "back" };
    await world.online(SHOP);
    await world.gateway.put(PATH, { url: receiver.url }, { key: world.key });
    expect(await health(world)).toMatchObject({ state: "ok", reason: null });
    const { body } = await world.gateway.post("/deliveries/replay", {}, { key: world.key });
    expect(body["replayed"]).toBe(1);
    await world.sim.waitForMessage(people[0]!, { text: "back" });
  }, 120_000);
});
