import { describe, expect, it } from "vitest";
import type { Routes } from "../../../src/bot/types.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/model/time.ts";
import { jid, rest, until } from "../outbox/harness.ts";
import { text, typed } from "../pipeline/harness.ts";
import { startPath, type PathOptions, type PathRun } from "../path/harness.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { receiver, status } from "../webhooks/gateway.ts";

const ANA = 4915001;
const WORDS = "We take no calls here. Please write to us.";

async function started(options: PathOptions = {}): Promise<PathRun> {
  const run = await startPath({ callsText: WORDS, ...options });
  await run.path.open(1);
  return run;
}

const atNow = ({ clock }: PathRun) => Math.floor(clock.now() / 1000);

/** A call of somebody, now. */
const call = (run: PathRun, from: number, more: Partial<Incoming> = {}): Incoming =>
  text(from, "", { type: "call", call: { video: false, rejected: true }, timestamp: atNow(run), ...more });

async function decided(run: PathRun, ...calls: Incoming[]): Promise<void> {
  for (const one of calls) await run.receive(1, one);
  await until(async () => expect(await run.undecided()).toBe(0));
  await rest();
}

describe("the text for those whose call was rejected", () => {
  it("is sent to each caller once in 24 hours, as a reply under a derived id, also over a restart", async () => {
    const folder = temporaryFolder();
    const first = await started({ folder });
    const begun = call(first, ANA);
    await decided(first, begun, call(first, ANA), call(first, 4915002));
    await until(() => expect(first.line.texts().toSorted()).toEqual([WORDS, WORDS]));
    expect(first.line.texts(jid(ANA))).toEqual([WORDS]);
    expect(
      await first.count("SELECT count(*) AS n FROM outbox WHERE is_reply = 1 AND origin = 'calls'"),
    ).toBe(2);
    expect(await first.decision(begun.id)).toMatchObject({ by: "calls", trail: [{ outcome: "answered" }] });
    await first.end();

    const second = await started({ folder, clock: first.clock });
    await first.clock.advance(DAY_MS - SECOND_MS);
    const again = call(second, ANA);
    await decided(second, again);
    expect(second.line.texts()).toEqual([]);
    expect(await second.decision(again.id)).toMatchObject({ by: null });
    await second.clock.advance(2 * SECOND_MS);
    await decided(second, call(second, ANA));
    await until(() => expect(second.line.texts()).toEqual([WORDS]));
  });

  it("is one for a caller who becomes known by a number", async () => {
    const run = await started();
    const lid = "123456@lid";
    const hidden = { chat: lid, chatKey: lid, sender: lid, number: null, lid };
    await decided(run, call(run, ANA, hidden), call(run, ANA, { chat: lid, lid }));
    expect(run.line.texts()).toEqual([WORDS]);
  });

  it.each<[string, (run: PathRun) => Incoming[]]>([
    ["call that was not rejected", (run) => [call(run, ANA, { call: { video: false, rejected: false } })]],
    ["call of a group", (run) => [call(run, ANA, { chatKind: "group", chat: "1@g.us", chatKey: "1@g.us" })]],
    [
      "call that is told of late",
      (run) => [call(run, ANA, { timestamp: atNow(run) - (2 * HOUR_MS) / 1000 })],
    ],
    ["chat that the owner has taken", (run) => [typed(ANA, "hi", { timestamp: atNow(run) }), call(run, ANA)]],
    ["message", (run) => [text(ANA, "hello", { timestamp: atNow(run) })]],
  ])("is not sent for a %s", async (_what, received) => {
    const run = await started();
    await decided(run, ...received(run));
    expect(run.line.texts()).toEqual([]);
  });

  it("is not sent when there is none, or when a bot answers the call", async () => {
    const none = await startPath();
    await none.path.open(1);
    await decided(none, call(none, ANA));
    expect(none.line.texts()).toEqual([]);

    const answering = (b: Routes) => b.on("call", (ctx) => ctx.reply("I will call you back."));
    const run = await started({ bots: { answering } });
    await decided(run, call(run, ANA));
    await until(() => expect(run.line.texts()).toEqual(["I will call you back."]));
  });

  it("does not keep the call from a webhook that asks for calls, and its reply is not sent beside", async () => {
    const run = await started();
    const shop = await receiver();
    shop.answer(status(200, { message: "from the shop" }));
    await run.path.webhooks.put(1, { url: shop.url, events: ["call"] });
    await decided(run, call(run, ANA));

    await until(() => expect(shop.posts).toHaveLength(1));
    expect(shop.posts[0]!.event).toMatchObject({ type: "call", from: String(ANA), handled_by: null });
    await rest();
    expect(run.line.texts()).toEqual([WORDS]);
  });
});
