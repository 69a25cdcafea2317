import { describe, expect, it, vi } from "vitest";
import type { ResultSet } from "@libsql/client";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { clock, DEVICE, gateway, receiver, status, storeWithNumber, type Clock } from "./gateway.ts";
import { rawRows } from "../store/rows.ts";

const PATIENT = { timeout: 60_000 };
const CHATS = 60;
const TURNS = 6;

const inOrder = Array.from({ length: TURNS }, (_, index) => `${index + 1}`).join();

/** Some rounds of messages to a webhook that is away: the first of many chats were tried, the others wait. */
async function away(store: Store, time: Clock) {
  const shop = await receiver();
  const parley = await gateway(store);
  await parley.configure(shop.url);
  shop.answer(status(503));
  const chats = Array.from({ length: CHATS }, (_, index) => `${index}@lid`);
  for (let turn = 1; turn <= TURNS; turn++) {
    const text = `${turn}`;
    await Promise.all(
      chats.map((chat) => parley.receive({ text, chat, chatKey: chat, id: `3A${chat}${text}` })),
    );
    await vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(CHATS * turn), PATIENT);
  }
  // The second attempts are over as well: the next ones are minutes away.
  await store.writer.commit([
    {
      sql: "update deliveries set attempts = 2, next_at = ? where attempts > 0 and next_at is not null",
      args: [time.now() + 300_000],
    },
  ]);
  shop.posts.length = 0;
  return { parley, shop };
}

type Gateway = Awaited<ReturnType<typeof away>>["parley"];

async function pauseEnds(parley: Gateway, time: Clock): Promise<void> {
  time.forward((await parley.webhooks.get(DEVICE))!.health.pausedUntil! - time.now() + 1);
  await parley.receive({ text: "somebody else", chat: "else@lid", chatKey: "else@lid" });
}

/** What each chat's receiver was posted and accepted, in order. */
function saidByChat(posts: { event: Record<string, unknown> }[]): Map<string, string[]> {
  const said = new Map<string, string[]>();
  for (const { event } of posts)
    said.set(String(event.chat), [...(said.get(String(event.chat)) ?? []), String(event.text)]);
  return said;
}

describe("many chats whose webhook was away", () => {
  it("get every event in its chat's order when it is back, also where the first had been tried before", async () => {
    const time = clock();
    const { store, statements } = recordingStore(await storeWithNumber(time.now));
    const { parley, shop } = await away(store, time);
    shop.answer(status(200));
    await pauseEnds(parley, time);

    await vi.waitFor(() => expect(shop.posts).toHaveLength(CHATS * TURNS + 1), PATIENT);

    const said = saidByChat(shop.posts);
    said.delete("else@lid");
    expect([...said.values()].filter((texts) => texts.join() !== inOrder)).toEqual([]);
    expect(said.size).toBe(CHATS);
    for (const sql of statements().filter(
      (text) => /deliveries/.test(text) && !/set attempts = 2/.test(text),
    ))
      // A page of 500 at most, and of the numbers that have something.
      expect(await fullScans(store, sql, ["(subquery-1)", "(subquery-3)", "numbers"]), sql).toEqual([]);
  }, 120_000);

  it("get them in order over a restart in the middle of it, and what comes then after them", async () => {
    const time = clock();
    const store = await storeWithNumber(time.now);
    const { parley, shop } = await away(store, time);
    shop.answer(status(200));
    await pauseEnds(parley, time);
    await vi.waitFor(() => expect(shop.posts.length).toBeGreaterThan(CHATS), PATIENT);
    await parley.stop(5_000);
    expect(shop.posts.length).toBeLessThan(CHATS * TURNS);

    const again = await gateway(store);
    await again.receive({ text: "7", chat: "3@lid", chatKey: "3@lid", id: "3Anew" });
    await vi.waitFor(() => expect(shop.posts).toHaveLength(CHATS * TURNS + 2), PATIENT);

    const said = saidByChat(shop.posts);
    expect(said.get("3@lid")?.join()).toBe(`${inOrder},7`);
    said.delete("3@lid");
    said.delete("else@lid");
    expect([...said.values()].filter((texts) => texts.join() !== inOrder)).toEqual([]);
  }, 120_000);
});

/** Answers everything, so that the webhook is only told. */
const bot: Answerer = {
  name: "bots",
  ignoresTakeover: false,
  answer: async () => ({ kind: "answer", by: "bot:test", route: null, replies: [], trail: [] }),
};

/** A gateway that ended after it had stored that the webhook is to be told of "one", and before that was told. */
async function endedBeforeTelling(store: Store) {
  const shop = await receiver();
  const parley = await gateway(store, { before: [bot] });
  await parley.configure(shop.url, { mode: "always" });
  shop.answer(() => undefined);
  await parley.receive({ text: "one", id: "3Aone" });
  await vi.waitFor(() => expect(shop.posts).toHaveLength(1));
  await parley.stop();
  shop.posts.length = 0;
  return shop;
}

const toldTo = ({ posts }: { posts: { event: Record<string, unknown> }[] }) =>
  posts.map(({ event }) => event.text);

describe("what was not told when the gateway ended", () => {
  it("is told before what comes then in its chat, whenever the worker begins", async () => {
    const store = await storeWithNumber();
    const shop = await endedBeforeTelling(store);
    shop.answer(status(200));
    const again = await gateway(store, { before: [bot], startsLater: true });
    await again.receive({ text: "two", id: "3Atwo" });
    await again.receive({ text: "elsewhere", id: "3Aelse", chat: "2@lid", chatKey: "2@lid" });
    // Whoever has nothing that waits is told at once.
    await vi.waitFor(() => expect(toldTo(shop)).toContain("elsewhere"), PATIENT);
    await vi.waitFor(async () => expect(await again.decisions()).toHaveLength(3), PATIENT);
    again.start();

    await vi.waitFor(() => expect(shop.posts).toHaveLength(3), PATIENT);
    expect(toldTo(shop).filter((text) => text !== "elsewhere")).toEqual(["one", "two"]);
  });

  it("is followed by what waits for it, also when that is stored after everything else was told", async () => {
    const store = await storeWithNumber();
    const shop = await endedBeforeTelling(store);
    let accept = (): void => undefined;
    shop.answer((response) => void (accept = () => void response.end()), status(200));
    const again = await gateway(store);
    await vi.waitFor(() => expect(toldTo(shop)).toEqual(["one"]), PATIENT);

    const { commit } = store.writer;
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const isHeld = vi.fn<() => void>();
    vi.spyOn(store.writer, "commit").mockImplementation(async (written) => {
      if (written.some(({ sql, args }) => /INSERT INTO decisions/.test(sql) && args.includes("3Atwo"))) {
        isHeld();
        await held;
      }
      return commit(written);
    });
    await again.receive({ text: "two", id: "3Atwo" });
    await again.receive({ text: "three", id: "3Athree" });
    await vi.waitFor(() => expect(isHeld).toHaveBeenCalled(), PATIENT);
    accept();
    await vi.waitFor(
      async () => expect((await again.deliveries()).map(({ state }) => state)).toEqual(["delivered"]),
      PATIENT,
    );
    goOn();

    await vi.waitFor(() => expect(shop.posts).toHaveLength(3), PATIENT);
    expect(toldTo(shop)).toEqual(["one", "two", "three"]);
  });
});

describe("what waits for a webhook that is deleted", () => {
  it("ends a few rows at a time, and is not posted", async () => {
    const time = clock();
    const store = await storeWithNumber(time.now);
    const { parley, shop } = await away(store, time);
    const commit = vi.spyOn(store.writer, "commit");

    await parley.webhooks.remove(DEVICE);

    const counted = await rawRows(store, "select state, count(*) as n from deliveries group by state", []);
    expect(counted.map(({ state, n }) => [state, n])).toEqual([["disabled", CHATS * TURNS]]);
    const results = await Promise.all(commit.mock.results.map(({ value }) => value as Promise<ResultSet[]>));
    for (const [index, [statements]] of commit.mock.calls.entries())
      for (const [place, { sql }] of statements.entries())
        if (/update deliveries/.test(sql))
          expect(results[index]![place]!.rowsAffected).toBeLessThanOrEqual(200);
    expect(shop.posts).toEqual([]);
  }, 120_000);
});
