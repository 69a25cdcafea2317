import { describe, expect, it } from "vitest";
import type { Trace } from "../../../src/conversations/trace.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { jid, OWN_NUMBER, scriptedLine, until } from "../outbox/harness.ts";
import { saying, startPipeline, text, typed } from "../pipeline/harness.ts";
import * as hooks from "../webhooks/gateway.ts";
import { conversationsOn, OWN } from "./harness.ts";

const ANA = "4915100000001";

async function trace(store: Store, id: string, more: { allowed?: () => boolean } = {}): Promise<Trace> {
  const found = await conversationsOn(store).traces.of({ id, devices: OWN, allowed: null, ...more });
  expect(found).not.toBeNull();
  return found!;
}

const stepNames = ({ steps }: Trace): string[] => steps.map(({ step }) => step);
const verdict = ({ steps }: Trace, guard: string): string | undefined =>
  steps.find(({ by }) => by === `guard:${guard}`)?.outcome;

describe("the way of a message", () => {
  it("goes from the contact to the receipts, with what the commits held", async () => {
    const run = await startPipeline();
    const line = scriptedLine();
    await run.connect(line);
    await run.receive(text(ANA, "hello", { id: "A1" }));
    await until(async () => expect(stepNames(await trace(run.store, "A1"))).toContain("acknowledged"));
    const reply = (await trace(run.store, "A1")).steps.find(({ step }) => step === "reply")!;
    run.path.receipts(1, [{ waId: reply.id!, jid: jid(ANA), state: "delivered", at: 1_000 }]);
    await until(async () => expect(stepNames(await trace(run.store, "A1"))).toContain("delivered"));

    const way = await trace(run.store, "A1");
    expect(way).toMatchObject({ id: "A1", sender: OWN_NUMBER, chat: ANA, direction: "in", type: "text" });
    expect(way).toMatchObject({ outcome: "answered", silence: null });
    expect(stepNames(way).filter((step) => step !== "guard")).toEqual([
      "sent",
      "stored",
      "lane",
      "asked",
      "decided",
      "reply",
      "acknowledged",
      "delivered",
    ]);
    const [, stored, lane] = way.steps;
    const decided = way.steps.find(({ step }) => step === "decided")!;
    expect(stored!.commit).toEqual({ name: "T1", held: ["ratchet", "ciphertext_hash", "inbox"] });
    expect(lane).toMatchObject({ count: 0, ms: expect.any(Number) });
    expect(decided.commit).toEqual({ name: "T2", held: ["decision", "replies", "chat"] });
    expect(decided).toMatchObject({ by: "bot:echo", route: "fallback", ms: expect.any(Number) });
    const times = way.steps.flatMap(({ at }) => at ?? []);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(way.steps.filter(({ step }) => step === "guard").map(({ outcome }) => outcome)).toEqual(
      Array(7).fill("passed"),
    );
  });

  it("says how many messages stood before it in its lane", async () => {
    let letGo!: () => void;
    const first = new Promise<void>((resolve) => (letGo = resolve));
    const slow = {
      name: "bots",
      ignoresTakeover: false,
      answer: async (stored: Parameters<typeof saying>[0]) => {
        if (stored.message.id === "B1") await first;
        return saying(stored, "yes");
      },
    };
    const run = await startPipeline({ answerers: [slow] });
    await run.receive(text(ANA, "one", { id: "B1" }), text(ANA, "two", { id: "B2" }));
    expect(await trace(run.store, "B2")).toMatchObject({
      outcome: "waiting",
      silence: { reason: "undecided" },
    });
    letGo();
    await until(async () => expect(await run.undecided()).toBe(0));

    expect((await trace(run.store, "B2")).steps.find(({ step }) => step === "lane")).toMatchObject({
      count: 1,
    });
  });

  it.each([
    ["was typed by the owner", typed(ANA, "by hand", { id: "C1" }), "owner_wrote", "owner"],
    ["is too old", text(ANA, "hello", { id: "C1", timestamp: 1_600_000_000 }), "too_old", "too_old"],
  ])("names the guard of a message that %s", async (_, message, reason, guard) => {
    const run = await startPipeline();
    await run.receive(message);
    await until(async () => expect(await run.undecided()).toBe(0));

    const way = await trace(run.store, "C1");
    expect(way).toMatchObject({ outcome: "silent", silence: { reason } });
    expect(verdict(way, guard)).toBe("held");
    expect(verdict(way, "own")).toBe("passed");
    expect(verdict(way, "loop_guard")).toBe("not_asked");
  });

  it("names takeover, after which bots alone are not asked", async () => {
    const run = await startPipeline();
    await run.receive(typed(ANA, "by hand"));
    await until(async () => expect(await run.undecided()).toBe(0));
    await run.receive(text(ANA, "hello", { id: "D1" }));
    await until(async () => expect(await run.undecided()).toBe(0));

    const way = await trace(run.store, "D1");
    expect(way).toMatchObject({ outcome: "silent", silence: { reason: "takeover" } });
    expect(verdict(way, "takeover")).toBe("held");
    expect(way.steps).toContainEqual(expect.objectContaining({ by: "bots", outcome: "not_asked" }));
  });

  it("says that nobody had anything to say, and that a bot failed", async () => {
    const passing = { name: "bots", ignoresTakeover: false, answer: async () => PASS };
    const run = await startPipeline({ answerers: [passing] });
    await run.receive(text(ANA, "hello", { id: "E1" }), text(ANA, "throw", { id: "E2" }));
    await until(async () => expect(await run.undecided()).toBe(0));
    expect(await trace(run.store, "E1")).toMatchObject({
      outcome: "silent",
      silence: { reason: "no_match" },
    });

    const failing = await startPipeline({
      answerers: [{ ...passing, answer: async () => ({ ...PASS, trail: [FAILED] }) }],
    });
    await failing.receive(text(ANA, "hello", { id: "E3" }));
    await until(async () => expect(await failing.undecided()).toBe(0));
    expect(await trace(failing.store, "E3")).toMatchObject({ silence: { reason: "bot_failed" } });
  });

  it("tells the attempts at the webhook, and how the matter ended", async () => {
    const store = await hooks.storeWithNumber();
    const shop = await hooks.receiver();
    const parley = await hooks.gateway(store);
    await parley.configure(shop.url);
    shop.answer(hooks.status(404), hooks.status(200, "OK"), hooks.status(200, { message: "hi" }));
    const ids: string[] = [];
    for (const chat of ["1", "2", "3"].map((last) => jid(`491510000000${last}`))) {
      ids.push((await parley.receive({ id: `F${ids.length}`, chat, chatKey: chat, sender: chat })).id);
      await until(async () => expect(await parley.decisions()).toHaveLength(ids.length));
    }
    const [dead, silent, answered] = await Promise.all(ids.map((id) => trace(store, id)));

    expect(dead).toMatchObject({ outcome: "forwarded", silence: { reason: "webhook_failed" } });
    expect(silent).toMatchObject({ outcome: "forwarded", silence: { reason: "webhook_silent" } });
    expect(answered).toMatchObject({ outcome: "answered", silence: null });
    const attempt = dead!.steps.find(({ step }) => step === "attempt");
    expect(attempt).toMatchObject({ count: 1, outcome: "404", ms: expect.any(Number) });
    const names = stepNames(answered!).filter((step) => step !== "guard");
    expect(names.slice(0, 5)).toEqual(["sent", "stored", "lane", "asked", "delivery"]);
    expect(names).toContain("reply");
    expect(answered!.steps.find(({ step }) => step === "decided")?.commit?.held).toEqual(
      expect.arrayContaining(["decision", "replies", "delivery", "attempt"]),
    );
  });

  it("names the message that a sent one answers", async () => {
    const run = await startPipeline();
    await run.connect(scriptedLine());
    await run.receive(text(ANA, "hello", { id: "G1" }));
    await until(async () => expect(stepNames(await trace(run.store, "G1"))).toContain("acknowledged"));
    const reply = (await trace(run.store, "G1")).steps.find(({ step }) => step === "reply")!;

    const way = await trace(run.store, reply.id!);
    expect(way).toMatchObject({ direction: "out", outcome: "sent", silence: null, chat: ANA });
    expect(way.steps[0]).toMatchObject({ step: "stored", by: "bot:echo", id: "G1" });
  });

  it("is shown to nobody who may not see the chat", async () => {
    const run = await startPipeline();
    await run.receive(text(ANA, "hello", { id: "H1" }));
    const { traces } = conversationsOn(run.store);
    expect(await traces.of({ id: "H1", devices: OWN, allowed: () => false })).toBeNull();
    expect(await traces.of({ id: "H1", devices: [{ id: 2, number: "4930" }], allowed: null })).toBeNull();
    expect(await traces.of({ id: "H2", devices: OWN, allowed: null })).toBeNull();
  });

  it("is found by keys alone", async () => {
    const run = await startPipeline();
    await run.receive(text(ANA, "hello", { id: "I1" }));
    await until(async () => expect(await run.undecided()).toBe(0));
    const { store, statements } = recordingStore(run.store);
    await conversationsOn(store).traces.of({ id: "I1", devices: OWN, allowed: () => true });
    expect(statements().length).toBeGreaterThan(4);
    for (const sql of statements()) expect(await fullScans(run.store, sql)).toEqual([]);
  });
});

const PASS = { kind: "pass" as const, trail: [] };
const FAILED = { by: "bot:menu", outcome: "failed", detail: "TypeError" };
