import { describe, expect, it, vi } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { ACCOUNT, clock, DEVICE, gateway, receiver, status, storeWithNumber } from "./gateway.ts";
import { rawRows } from "../store/rows.ts";

const OTHER = 2;
const HOUR = 3_600_000;

/** So many deliveries like the one that is there, in ten chats, one after the other. */
async function multiply(store: Store, count: number, change: Record<string, unknown> = {}): Promise<void> {
  const [row] = await rawRows(store, "select * from deliveries limit 1", []);
  const sealed = Buffer.from(row!["body"] as ArrayBuffer);
  const content = store.box.openJson<object>(sealed, `delivery:${String(row!["id"])}`);
  const columns = Object.keys(row!);
  const sql = `insert into deliveries (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
  for (let from = 0; from < count; from += 500) {
    const statements = Array.from({ length: Math.min(500, count - from) }, (_, index) => {
      const place = from + index;
      const id = `msg_many${place}`;
      const body = store.box.sealJson({ ...content, body: JSON.stringify({ place }) }, `delivery:${id}`);
      const at = store.now() - HOUR + place;
      const url = store.box.seal("https://shop.example/hook", `delivery-url:${id}`);
      const values = {
        ...row,
        id,
        url,
        body,
        chat: `${place % 10}@lid`,
        created_at: at,
        next_at: at,
        ...change,
      };
      return { sql, args: columns.map((name) => (values as Record<string, any>)[name]) };
    });
    await store.writer.commit(statements);
  }
}

/** Rows that queries of deliveries gave back, the most at once. */
function watchRows(store: Store): { most(): number } {
  const read = store.read.bind(store);
  let most = 0;
  store.read = async (query, args) => {
    const found = await read(query, args);
    if (/from deliveries/i.test(query.sql)) most = Math.max(most, found.length);
    return found;
  };
  return { most: () => most };
}

async function scene() {
  const time = clock();
  const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
  await store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, ?, '4930666', 'connected', 0, 0)",
      args: [OTHER, ACCOUNT],
    },
  ]);
  const parley = await gateway(store);
  await parley.configure(shop.url);
  return { time, store, shop, parley };
}

describe("ten thousand deliveries that wait", () => {
  it("are never all in memory, go out in order, and keep no other number's waiting", async () => {
    const { store, shop, parley } = await scene();
    await parley.receive({ text: "one" });
    await vi.waitFor(async () => expect(await parley.deliveries()).toHaveLength(1));
    await parley.stop();
    await multiply(store, 10_000, { state: "retrying", attempts: 1 });
    const watched = watchRows(store);
    const quick = await receiver();
    const again = await gateway(store);
    await again.webhooks.put(OTHER, { url: quick.url });
    await vi.waitFor(() => expect(shop.posts.length).toBeGreaterThan(50));

    // One that is due as well, of another number, behind all of them.
    await again.receive({ text: "of the other number" }, OTHER);
    await vi.waitFor(() => expect(quick.posts).toHaveLength(1));
    await vi.waitFor(async () => {
      const kept = await rawRows(store, "select 1 from deliveries where device_id = ?", [OTHER]);
      expect(kept).toHaveLength(1);
    });
    await addForOther(store, "msg_other");
    await again.webhooks.deliveries.replay(ACCOUNT, "msg_other");
    await vi.waitFor(() => expect(quick.posts).toHaveLength(2));
    expect(shop.posts.length).toBeLessThan(9_000);

    await vi.waitFor(() => expect(shop.posts.length).toBeGreaterThan(1_000), { timeout: 60_000 });
    await again.stop(5_000);
    expect(watched.most()).toBeGreaterThan(0);
    expect(watched.most()).toBeLessThanOrEqual(32);
    const places = shop.posts.slice(1).map(({ event }) => Number(event.place));
    for (let chat = 0; chat < 10; chat++) {
      const ofChat = places.filter((place) => place % 10 === chat);
      expect(ofChat).toEqual(ofChat.toSorted((a, b) => a - b));
    }
    expect(new Set(places).size).toBe(places.length);
  }, 180_000);
});

describe("three thousand deliveries that wait", () => {
  it("end with their webhook in a handful of waits for the disk: who deletes it, or sets it anew meanwhile, waits as long", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const commit = store.writer.commit.bind(store.writer);
    let [underWay, waits] = [0, 0];
    store.writer.commit = async (statements) => {
      if (underWay++ === 0 && /set state = 'disabled'/.test(statements[0]!.sql)) waits++;
      return commit(statements).finally(() => underWay--);
    };
    const parley = await gateway(store);
    await parley.configure(shop.url);
    await parley.receive({ text: "one" });
    await vi.waitFor(async () => expect(await parley.deliveries()).toHaveLength(1));
    await multiply(store, 3_000, { state: "retrying", next_at: Date.now() + HOUR });

    await parley.webhooks.remove(DEVICE);

    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThanOrEqual(5);
    const left = "select 1 from deliveries where state in ('pending', 'retrying') limit 1";
    expect(await rawRows(store, left)).toEqual([]);
  });
});

/** A delivery of the other number that was given up. */
async function addForOther(store: Store, id: string): Promise<void> {
  const [row] = await rawRows(store, "select * from deliveries where device_id = ?", [OTHER]);
  const content = store.box.openJson<object>(
    Buffer.from(row!["body"] as ArrayBuffer),
    `delivery:${String(row!["id"])}`,
  );
  const columns = Object.keys(row!);
  const values = {
    ...row,
    id,
    url: store.box.seal("https://shop.example/hook", `delivery-url:${id}`),
    body: store.box.sealJson(content, `delivery:${id}`),
    state: "dead",
    next_at: null,
  };
  await store.writer.commit([
    {
      sql: `insert into deliveries (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      args: columns.map((name) => (values as Record<string, any>)[name]),
    },
  ]);
}

describe("the database", () => {
  it("holds a delivery that is damaged: it is given up, and the others go out", async () => {
    const { store, shop, parley } = await scene();
    await parley.receive({ text: "one" });
    await vi.waitFor(async () => expect(await parley.deliveries()).toHaveLength(1));
    await parley.stop();
    await multiply(store, 3, { state: "retrying", attempts: 1 });
    await store.writer.commit([
      { sql: "update deliveries set body = x'00' where id = 'msg_many0'", args: [] },
    ]);
    const again = await gateway(store);
    await vi.waitFor(() => expect(shop.posts).toHaveLength(3));
    expect(shop.posts.slice(1).map(({ event }) => event.place)).toEqual([1, 2]);
    const [row] = await rawRows(store, "select state from deliveries where id = 'msg_many0'", []);
    expect(row!["state"]).toBe("dead");
    expect(again.logged()).toMatch(/cannot read a delivery from the database/);
  });

  it("that takes nothing does not make the same event be posted again and again", async () => {
    const { store, shop, parley, time } = await scene();
    shop.answer(status(503), status(200, { message: "kept" }));
    await parley.receive({ text: "question" });
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.attempts).toHaveLength(1));
    await parley.stop();
    const again = await gateway(store);
    const { commit } = store.writer;
    let until = Infinity;
    store.writer.commit = async (statements) => {
      const keeps = statements.some(({ sql }) => /into delivery_attempts/.test(sql));
      if (keeps && until === Infinity) until = performance.now() + 2000;
      if (keeps && performance.now() < until) throw new Error("disk full");
      return commit.call(store.writer, statements);
    };
    time.forward(10_000);
    await again.webhooks.deliveries.replayMany({ deviceIds: [DEVICE] });
    await vi.waitFor(async () => expect((await again.sent())[0]?.text).toBe("kept"));
    // The first, the one whose outcome was not kept, and the one that counts.
    expect(shop.posts).toHaveLength(3);
  });
});

describe("replay of many", () => {
  async function given(count: number, change: Record<string, unknown>) {
    const made = await scene();
    made.shop.answer(status(404));
    await made.parley.receive({ text: "seed" });
    await vi.waitFor(async () => expect(await made.parley.deliveries()).toHaveLength(1));
    await made.store.writer.commit([
      { sql: "update deliveries set state = 'delivered', next_at = null", args: [] },
    ]);
    await multiply(made.store, count, { next_at: null, state: "dead", attempts: 10, ...change });
    made.shop.posts.length = 0;
    made.shop.answer(status(200));
    return made;
  }

  it("posts each once, under its id, a few hundred rows in each commit", async () => {
    const made = await given(450, {});
    const commit = vi.spyOn(made.store.writer, "commit");
    const { replayMany } = made.parley.webhooks.deliveries;
    // Twice at once: what waits is found by neither a second time.
    const totals = await Promise.all([
      replayMany({ deviceIds: [DEVICE] }),
      replayMany({ deviceIds: [DEVICE] }),
    ]);
    expect(Math.max(...totals)).toBeGreaterThanOrEqual(200);
    for (const [statements] of commit.mock.calls)
      for (const { sql, args } of statements)
        if (/set state = 'pending'/.test(sql))
          expect(JSON.parse(String(args![1])).length).toBeLessThanOrEqual(200);
    await vi.waitFor(() => expect(made.shop.posts).toHaveLength(450));
    const ids = made.shop.posts.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(450);
    await vi.waitFor(async () => {
      const [row] = await rawRows(
        made.store,
        "select count(*) as n from deliveries where state = 'delivered'",
        [],
      );
      expect(row!["n"]).toBe(451);
    });
    expect(await replayMany({ deviceIds: [DEVICE] })).toBe(0);
    expect(made.shop.posts).toHaveLength(450);
  }, 90_000);

  it("takes those of a time, of a state, of some ids, of a number, and of nobody else", async () => {
    const { parley, store, shop } = await given(6, {});
    const at = (id: string) =>
      rawRows(store, "select created_at from deliveries where id = ?", [id]).then(([row]) =>
        Number(row!["created_at"]),
      );
    const { replayMany } = parley.webhooks.deliveries;
    const [since, until] = [await at("msg_many2"), await at("msg_many3")];
    expect(await replayMany({ deviceIds: [DEVICE], since, until })).toBe(2);
    await vi.waitFor(() => expect(shop.posts.map(({ event }) => event.place)).toEqual([2, 3]));
    expect(await replayMany({ deviceIds: [DEVICE], ids: ["msg_many5", "msg_unknown"] })).toBe(1);
    expect(await replayMany({ deviceIds: [DEVICE], state: "disabled" })).toBe(0);
    await expect(replayMany({ deviceIds: [OTHER] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await replayMany({ deviceIds: [] })).toBe(0);
    await parley.webhooks.put(OTHER, { url: shop.url });
    expect(await replayMany({ deviceIds: [OTHER] })).toBe(0);
    await vi.waitFor(() => expect(shop.posts).toHaveLength(3));
    expect(shop.posts[2]!.event.place).toBe(5);
  });
});

describe("a reply", () => {
  it("is accepted once when a replay is asked for while an attempt is under way, and answers differ", async () => {
    const { parley, shop, store } = await scene();
    shop.answer(status(404));
    await parley.receive({ text: "question" });
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.state).toBe("dead"));
    const { id } = (await parley.deliveries())[0]!;
    const held: ((reply: unknown) => void)[] = [];
    shop.answer((response) => void held.push((reply) => response.end(JSON.stringify(reply))));
    const { deliveries } = parley.webhooks;
    await deliveries.replay(ACCOUNT, id);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await deliveries.replay(ACCOUNT, id);
    await deliveries.replayMany({ deviceIds: [DEVICE], ids: [id] });
    held[0]!(["first", "second"]);
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.state).toBe("delivered"));
    await deliveries.replay(ACCOUNT, id);
    await vi.waitFor(() => expect(held).toHaveLength(2));
    held[1]!(["another", "and", "more"]);
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.attempts).toHaveLength(3));
    expect((await parley.sent()).map(({ text }) => text)).toEqual(["first", "second"]);
    const [row] = await rawRows(store, "select count(*) as n from outbox", []);
    expect(row!["n"]).toBe(2);
  });
});

describe("Retry-After", () => {
  it.each([
    ["seconds", () => "7200", 2 * HOUR],
    ["a date", (now: number) => new Date(now + 3 * HOUR).toUTCString(), 3 * HOUR],
    ["more than a day", () => "999999", 24 * HOUR],
  ])("in %s is kept, over a restart", async (_, header, planned) => {
    const { time, store, shop, parley } = await scene();
    shop.answer(status(503, "", { "retry-after": header(time.now()) }), status(200, { message: "there" }));
    await parley.receive({ text: "question" });
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.attempts).toHaveLength(1));
    const { nextAt } = (await parley.deliveries())[0]!;
    // A date has whole seconds.
    expect(Math.abs(nextAt! - time.now() - planned)).toBeLessThan(30_000);
    await parley.stop();
    time.forward(planned - 60_000);
    const second = await gateway(store);
    await second.receive({ text: "another", chat: "2@lid", chatKey: "2@lid" });
    await vi.waitFor(async () => expect(await second.decisions()).toHaveLength(2));
    expect(shop.posts.map(({ event }) => event.text)).toEqual(["question", "another"]);
    await second.stop();
    time.forward(120_000);
    const third = await gateway(store);
    await vi.waitFor(() => expect(shop.posts).toHaveLength(3));
    await vi.waitFor(async () => expect((await third.deliveries())[1]).toMatchObject({ state: "delivered" }));
  });
});
