import { Redis } from "ioredis";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { defineQuestion, defineTopic } from "../../../src/model/nodes/cluster.ts";
import { GatewayError } from "../../../src/model/errors/errors.ts";
import { startRedis } from "../../_setup/redis.ts";
import { startDelayingProxy } from "./delaying-proxy.ts";
import { nobodyYet, talkingNode, type TalkingNode } from "./nodes.ts";

const shared = await startRedis({ until: afterAll });

const WEATHER = defineTopic<{ sun: boolean }>("weather");
const GREET = defineQuestion<{ name: string }, string>("greet", 5_000);
const SHORT = defineQuestion<null, string>("short", 300);

const ANA_S = 7;

async function twoNodes(url = shared.url) {
  const owners = nobodyYet();
  const [one, two] = await Promise.all([talkingNode("one", url, owners), talkingNode("two", url, owners)]);
  owners.of.set(ANA_S, "two");
  return { one, two, owners };
}

/** Everything that a node hears of a topic. */
function heardBy({ bus }: TalkingNode): unknown[] {
  const heard: unknown[] = [];
  bus.listen(WEATHER, (news) => heard.push(news));
  return heard;
}

const until = (look: () => void | Promise<void>) => vi.waitFor(look, { interval: 20 });
const failure = (asking: Promise<unknown>): Promise<GatewayError> =>
  asking.then(
    () => expect.unreachable("it was answered"),
    (error: GatewayError) => error,
  );

describe("news", () => {
  it("reach every other node, and not the one that tells them", async () => {
    const { one, two } = await twoNodes();
    const three = await talkingNode("three", shared.url, nobodyYet());
    const [heardOne, heardTwo, heardThree] = [heardBy(one), heardBy(two), heardBy(three)];

    one.bus.tell(WEATHER, { sun: true });

    await until(() => expect([heardTwo, heardThree]).toEqual([[{ sun: true }], [{ sun: true }]]));
    expect(heardOne).toEqual([]);
  });

  it("for one node are heard by that one alone", async () => {
    const { one, two } = await twoNodes();
    const three = await talkingNode("three", shared.url, nobodyYet());
    const [heardTwo, heardThree] = [heardBy(two), heardBy(three)];

    one.bus.tell(WEATHER, { sun: true }, "three");
    one.bus.tell(WEATHER, { sun: false });

    await until(() => expect(heardThree).toEqual([{ sun: true }, { sun: false }]));
    await until(() => expect(heardTwo).toEqual([{ sun: false }]));
  });

  it("that one listener cannot take in reach the others; whoever has ended hears nothing", async () => {
    const { one, two } = await twoNodes();
    two.bus.listen(WEATHER, () => {
      throw new Error("rain");
    });
    const end = two.bus.listen(WEATHER, () => expect.unreachable());
    end();
    const heard = heardBy(two);

    one.bus.tell(WEATHER, { sun: true });

    await until(() => expect(heard).toHaveLength(1));
    expect(two.lines.join("")).toContain("could not read news");
  });

  it("are not read by others on the same Redis, nor by an installation with another key", async () => {
    const { one } = await twoNodes();
    const stranger = await talkingNode("two", shared.url, nobodyYet(), Buffer.alloc(32, 9));
    const heard = heardBy(stranger);
    const spy = new Redis(shared.url);
    onTestFinished(() => spy.disconnect());
    const seen: string[] = [];
    await spy.psubscribe("*");
    spy.on("pmessageBuffer", (_pattern, channel, bytes: Buffer) => seen.push(`${channel} ${bytes}`));

    one.bus.tell(defineTopic<string>("weather"), "4711 is the code");

    await until(() => expect(seen).toHaveLength(1));
    expect(seen.join("")).not.toMatch(/4711|weather|one/);
    expect(heard).toEqual([]);
  });

  it("of strangers are ignored, whatever their bytes", async () => {
    const { one, two } = await twoNodes();
    const heard = heardBy(two);
    const stranger = new Redis(shared.url);
    onTestFinished(() => stranger.disconnect());
    const channel = `${two.redis.prefix}:bus`;
    const own = `${two.redis.prefix}:node:two`;
    const news = '{"v":1,"kind":"news","from":"x","node":"x","topic":"weather","news":1}';
    let recorded: Buffer | null = null;
    const recorder = new Redis(shared.url);
    onTestFinished(() => recorder.disconnect());
    await recorder.subscribe(channel);
    recorder.on("messageBuffer", (_channel, bytes: Buffer) => (recorded = bytes));

    for (const junk of ["", "x", news, Buffer.alloc(100), Buffer.alloc(5_000_000, 1)]) {
      await stranger.publish(channel, junk);
      await stranger.publish(own, junk);
    }
    one.bus.tell(WEATHER, { sun: true });
    await until(() => expect(recorded).not.toBeNull());
    // Moved to another channel it does not open either.
    await stranger.publish(own, recorded!);
    one.bus.tell(WEATHER, { sun: false }, "two");

    await until(() => expect(heard).toEqual([{ sun: true }, { sun: false }]));
    expect(two.lines).toEqual([]);
  });

  it("are news of nobody while Redis is away: telling neither waits nor throws", async () => {
    const node = await talkingNode("one", "redis://127.0.0.1:1", nobodyYet());
    const heard = heardBy(node);
    for (let n = 0; n < 20_000; n++) node.bus.tell(WEATHER, { sun: true });
    expect(heard).toEqual([]);
  });
});

describe("whoever has told something", () => {
  it("knows when all others have heard it, and have done what it takes", async () => {
    const { one, two } = await twoNodes();
    const three = await talkingNode("three", shared.url, nobodyYet());
    const done: string[] = [];
    for (const { bus, name } of [two, three]) {
      let heard: unknown = null;
      bus.listen(WEATHER, (news) => void (heard = news));
      bus.onSettle(async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        done.push(`${name} ${JSON.stringify(heard)}`);
      });
    }

    one.bus.tell(WEATHER, { sun: true });
    await one.bus.settle();

    expect(done.toSorted()).toEqual(['three {"sun":true}', 'two {"sun":true}']);
  });

  it("waits for nobody who is not there, and for a second for who cannot", async () => {
    const { one, two } = await twoNodes();
    // A start waits two seconds for Redis and goes on without: until then it is not there.
    const heard = heardBy(two);
    await until(() => {
      one.bus.tell(WEATHER, { sun: true });
      expect(heard.length).toBeGreaterThan(0);
    });
    two.bus.onSettle(() => Promise.reject(new Error("The database is away.")));
    const begun = performance.now();
    await one.bus.settle();
    expect(performance.now() - begun).toBeGreaterThan(900);

    two.bus.stop();
    const away = await talkingNode("away", "redis://127.0.0.1:1", nobodyYet());
    await Promise.all([one.bus.settle(), away.bus.settle()]);
  });
});

describe("an outage of Redis", () => {
  it("is said once, its end as well, and after it whoever remembers reads again", async () => {
    const redis = await startRedis();
    const { one, two } = await twoNodes(redis.url);
    const heard = heardBy(two);
    const reread = vi.fn<() => void>();
    // A start waits two seconds for Redis and goes on without: news are heard a little later then.
    await until(() => {
      one.bus.tell(WEATHER, { sun: true });
      expect(heard.length).toBeGreaterThan(0);
    });
    const [before, told] = [heard.length, two.lines.length];
    two.bus.onGap(reread);

    await redis.kill();
    await until(() => expect(two.lines.join("")).toContain("Redis is unavailable"));
    one.bus.tell(WEATHER, { sun: false });
    await redis.start();

    await until(() => expect(reread).toHaveBeenCalledTimes(1));
    await until(() => {
      one.bus.tell(WEATHER, { sun: true });
      expect(heard.length).toBeGreaterThan(before);
    });
    expect(heard).not.toContainEqual({ sun: false });
    await until(() => expect(two.lines.slice(told).join("")).toContain("Redis is back"));
    expect(two.lines).toHaveLength(told + 2);
  });

  it("that nobody is told of, as of a cut cable, is noticed", async () => {
    const proxy = await startDelayingProxy(shared.port);
    const { two } = await twoNodes(proxy.url);
    const reread = vi.fn<() => void>();
    two.bus.onGap(reread);

    proxy.cut(true);
    await until(() => expect(two.lines.join("")).toContain("Redis is unavailable"));
    proxy.cut(false);

    await until(() => expect(reread).toHaveBeenCalledTimes(1));
  });

  it("at the start costs two seconds and counts as missed news", async () => {
    const redis = await startRedis();
    await redis.kill();
    const node = await talkingNode("one", redis.url, nobodyYet());
    const reread = vi.fn<() => void>();
    node.bus.onGap(reread);

    await redis.start();

    await until(() => expect(reread).toHaveBeenCalledTimes(1));
  });

  it("leaves no password in the log", async () => {
    const redis = await startRedis();
    await redis.command("CONFIG", "SET", "requirepass", "the right one");
    const url = redis.url.replace("//", "//someone:a-wrong-password@");
    const node = await talkingNode("one", url, nobodyYet());

    await until(() => expect(node.lines.join("")).toContain("Redis is unavailable"));
    expect(node.lines.join("")).not.toContain("a-wrong-password");
  });
});

describe("a question", () => {
  it("is answered by the node that has the number", async () => {
    const { one, two } = await twoNodes();
    one.bus.answer(GREET, async () => "the wrong one");
    two.bus.answer(GREET, async (deviceId, { name }) => `${deviceId} greets ${name}`);

    expect(await one.bus.ask(GREET, ANA_S, { name: "Ben" })).toBe("7 greets Ben");
  });

  it("to oneself needs no Redis", async () => {
    const owners = nobodyYet();
    const node = await talkingNode("two", "redis://127.0.0.1:1", owners);
    owners.of.set(ANA_S, "two");
    node.bus.answer(GREET, async (_deviceId, { name }) => name);

    expect(await node.bus.ask(GREET, ANA_S, { name: "Ben" })).toBe("Ben");
  });

  it("that the owner refuses is refused with the same code, text and details", async () => {
    const { one, two } = await twoNodes();
    const refusal = new GatewayError("RATE_LIMITED", "Slowly.", { retryAfter: 9, extra: { reason: "x" } });
    two.bus.answer(GREET, async () => {
      throw refusal;
    });

    const { code, message, details, status } = await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));

    expect({ code, message, details, status }).toEqual({
      code: "RATE_LIMITED",
      message: "Slowly.",
      details: { retryAfter: 9, extra: { reason: "x" } },
      status: 429,
    });
  });

  it("at which the owner fails tells the asker that it did, and nothing of the fault", async () => {
    const { one, two } = await twoNodes();
    two.bus.answer(GREET, async () => {
      throw new TypeError("Ana's secret");
    });

    const error = await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));

    expect(error).not.toBeInstanceOf(GatewayError);
    expect(`${error.message} ${error.stack}`).not.toContain("secret");
    expect(two.lines.join("")).toContain('"type":"TypeError"');
  });

  const UNAVAILABLE = { code: "UNAVAILABLE", status: 503, details: { retryAfter: expect.any(Number) } };

  it("has no answer when nobody has the number, or it is being handed over for too long", async () => {
    const { one, two, owners } = await twoNodes();
    two.bus.answer(GREET, async () => "not me");

    owners.of.delete(ANA_S);
    expect(await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }))).toMatchObject(UNAVAILABLE);
    owners.believed.set(ANA_S, "two");
    expect(await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }))).toMatchObject(UNAVAILABLE);
    owners.believed.set(ANA_S, "gone");
    expect(await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }))).toMatchObject(UNAVAILABLE);
  });

  it("goes to the next owner while the number is being handed over", async () => {
    const { one, two, owners } = await twoNodes();
    const answer = vi.fn<() => Promise<string>>(async () => "here");
    two.bus.answer(GREET, answer);
    owners.of.set(ANA_S, "three");

    const asking = one.bus.ask(GREET, ANA_S, { name: "Ben" });
    owners.of.set(ANA_S, "two");

    expect(await asking).toBe("here");
    expect(answer).toHaveBeenCalledTimes(1);
  });

  it("has no answer when none comes in time, when Redis is away, or goes away", async () => {
    const redis = await startRedis();
    const { one, two } = await twoNodes(redis.url);
    two.bus.answer(SHORT, () => new Promise<never>(() => undefined));
    two.bus.answer(GREET, () => new Promise<never>(() => undefined));

    expect(await failure(one.bus.ask(SHORT, ANA_S, null))).toMatchObject(UNAVAILABLE);
    const asking = failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));
    await redis.kill();
    expect(await asking).toMatchObject(UNAVAILABLE);
    expect(await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }))).toMatchObject(UNAVAILABLE);
  });

  it("is answered through a Redis that takes its time", async () => {
    const proxy = await startDelayingProxy(shared.port);
    const { one, two } = await twoNodes(proxy.url);
    two.bus.answer(GREET, async () => "at last");

    proxy.delay(400);

    expect(await one.bus.ask(GREET, ANA_S, { name: "Ben" })).toBe("at last");
  });

  it("that the owner's version does not know is refused, with what to do", async () => {
    const { one } = await twoNodes();

    const error = await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));

    expect(error).toMatchObject(UNAVAILABLE);
    expect(error.message).toContain("another version of Parley");
  });

  it("whose answer is too large to be carried is refused", async () => {
    const { one, two } = await twoNodes();
    two.bus.answer(GREET, async () => "x".repeat(3_000_000));

    const error = await failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));

    expect(error).toMatchObject(UNAVAILABLE);
    expect(error.message).toContain("too large");
  });

  it("that somebody repeats who has recorded it is answered once", async () => {
    const { one, two } = await twoNodes();
    const answer = vi.fn<() => Promise<string>>(async () => "done");
    two.bus.answer(GREET, answer);
    const recorder = new Redis(shared.url);
    const repeater = new Redis(shared.url);
    onTestFinished(() => void (recorder.disconnect(), repeater.disconnect()));
    const channel = `${two.redis.prefix}:node:two`;
    await recorder.subscribe(channel);
    recorder.on("messageBuffer", (_channel, bytes: Buffer) => void repeater.publish(channel, bytes));
    const heard = heardBy(two);

    await one.bus.ask(GREET, ANA_S, { name: "Ben" });
    await until(() => expect(answer).toHaveBeenCalled());
    recorder.disconnect();
    one.bus.tell(WEATHER, { sun: true }, "two");
    await until(() => expect(heard.length).toBeGreaterThan(0));

    expect(answer).toHaveBeenCalledTimes(1);
  });

  it("is given up when the gateway stops", async () => {
    const { one, two } = await twoNodes();
    two.bus.answer(GREET, () => new Promise<never>(() => undefined));
    const asking = failure(one.bus.ask(GREET, ANA_S, { name: "Ben" }));
    await new Promise((resolve) => setImmediate(resolve));

    one.bus.stop();

    expect(await asking).toMatchObject({ code: "UNAVAILABLE" });
  });
});
