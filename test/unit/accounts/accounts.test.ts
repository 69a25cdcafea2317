import { describe, expect, it } from "vitest";
import { createAccounts, type NumbersOfAccount } from "../../../src/accounts/accounts.ts";
import { isAdminToken } from "../../../src/accounts/admin-token.ts";
import { createApiKeys, type NewKey } from "../../../src/accounts/api-keys.ts";
import { makeKey } from "../../../src/accounts/key-format.ts";
import { loadConfig } from "../../../src/config.ts";
import { createErasure } from "../../../src/retention/erasure.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

interface Setup {
  store: Store;
  accounts: ReturnType<typeof createAccounts>;
  keys: ReturnType<typeof createApiKeys>;
  clock: { now: number };
  /** SQL texts read so far. */
  reads: string[];
}

async function setUp(
  numbers: NumbersOfAccount = { list: () => [], remove: async () => undefined },
): Promise<Setup> {
  const clock = { now: NOW };
  const real = await temporaryStore({}, () => clock.now);
  const reads: string[] = [];
  const store: Store = {
    ...real,
    read(query, args) {
      reads.push(query.sql);
      return real.read(query, args);
    },
    readOne(query, args) {
      reads.push(query.sql);
      return real.readOne(query, args);
    },
  };
  const config = loadConfig({ PLAN_BASIC: '{"devices":1,"keys":3,"sends_per_day":5}' });
  const keys = createApiKeys(store, config);
  return { store, keys, accounts: createAccounts({ store, config, keys, numbers }), clock, reads };
}

const wanted = (more: Partial<NewKey> = {}): NewKey => ({
  name: "CRM",
  permissions: ["messages"],
  devices: null,
  recipients: null,
  expiresAt: null,
  ...more,
});

const device = (id: number, accountId: string): Statement => ({
  sql: "INSERT INTO devices (id, account_id, number, since, created_at) VALUES (?, ?, ?, 0, 0)",
  args: [id, accountId, `49150000${id}`],
});

const sent = (deviceId: number, waId: string, origin: string, at: number): Statement => ({
  sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
    VALUES (?, ?, 'c', 'j', 'n', 'text', ?, 0, x'00', ?)`,
  args: [deviceId, waId, origin, at],
});

describe("accounts", () => {
  it("come with a first key that may do everything", async () => {
    const { accounts, keys } = await setUp();

    const { account, apiKey } = await accounts.create({ name: "Shop", plan: "basic" });

    expect(account).toEqual({ id: account.id, name: "Shop", plan: "basic", enabled: true, createdAt: NOW });
    const caller = await keys.authenticate(apiKey);
    expect(caller).toMatchObject({
      accountId: account.id,
      permissions: ["*"],
      devices: null,
      recipients: null,
      account: { id: account.id, name: "Shop", plan: "basic", enabled: true },
    });
    expect((await keys.list(account.id, {})).items).toHaveLength(1);
  });

  it("are listed newest first, found, and changed field by field", async () => {
    const { accounts, clock } = await setUp();
    const { account: first } = await accounts.create({ name: "A", plan: "basic" });
    clock.now++;
    const { account: second } = await accounts.create({ name: "B", plan: "pro" });

    expect((await accounts.list({})).items).toEqual([second, first]);
    expect(await accounts.update(first.id, { name: "A2" })).toEqual({ ...first, name: "A2" });
    expect(await accounts.update(first.id, { enabled: false, plan: "pro" })).toEqual({
      ...first,
      name: "A2",
      plan: "pro",
      enabled: false,
    });
    expect(await accounts.get(second.id)).toEqual(second);
    expect(await accounts.get("unknown")).toBeNull();
    expect(await accounts.update("unknown", { name: "x" })).toBeNull();
  });

  it("that are disabled say so to every key at once, known by heart or not", async () => {
    const { accounts, keys } = await setUp();
    const { account, apiKey } = await accounts.create({ name: "A", plan: "basic" });
    await keys.authenticate(apiKey);

    await accounts.update(account.id, { enabled: false });

    expect((await keys.authenticate(apiKey))!.account.enabled).toBe(false);
  });

  it("are listed newest first, as many as a thousand when no page is asked for, and each once page by page", async () => {
    const { accounts, store } = await setUp();
    await store.writer.commit([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
          INSERT INTO accounts (id, name, plan, enabled, created_at) SELECT 'a' || i, 'A', 'basic', 1, i FROM n`,
        args: [],
      },
    ]);
    const listed = await accounts.list({});
    const shown = listed.items.map(({ id }) => id);
    expect([shown.length, shown[0], shown[999]]).toEqual([1_000, "a1500", "a501"]);
    expect(listed.total).toBeNull();
    const rest = await accounts.list({ before: listed.next! });
    expect([rest.items.length, rest.items[0]!.id, rest.next]).toEqual([500, "a500", null]);
    const [page] = (await accounts.list({ limit: 1, before: rest.items[0]!.createdAt + ".0" })).items;
    expect(page!.id).toBe("a499");
  });

  it("count what they use against their plan; sends are those of this UTC day over REST", async () => {
    const { accounts, store, clock } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });
    const { account: other } = await accounts.create({ name: "B", plan: "pro" });
    const midnight = Date.UTC(2026, 10, 21);
    await store.writer.commit([
      device(1, account.id),
      device(2, other.id),
      sent(1, "a", "api", midnight),
      sent(1, "b", "api", NOW),
      sent(1, "c", "api", midnight - 1),
      sent(1, "d", "bot:menu", NOW),
      sent(2, "e", "api", NOW),
    ]);

    expect(await accounts.usage(account.id)).toEqual({
      limits: { devices: 1, keys: 3, sends_per_day: 5 },
      used: { devices: 1, keys: 1, sends_per_day: 2 },
    });
    expect(await accounts.deviceLimit(account.id)).toBe(1);
    clock.now = midnight + 86_400_000;
    expect((await accounts.usage(account.id)).used.sends_per_day).toBe(0);
    await expect(accounts.usage("unknown")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("give out what is left of the day's sends, each once, and take back what was not stored", async () => {
    const { accounts, store, clock } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });
    const { account: other } = await accounts.create({ name: "B", plan: "pro" });
    await store.writer.commit([device(1, account.id), sent(1, "a", "api", NOW), sent(1, "b", "api", NOW)]);

    const asked = await Promise.allSettled([1, 1, 1, 1, 1].map((n) => accounts.takeSends(account.id, n)));
    const given = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value!] : []));
    const refused = asked.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));

    expect(given).toHaveLength(3);
    expect(given[0]).toMatchObject({ limit: 5 });
    expect(given[0]!.remaining()).toBe(0);
    expect(refused).toHaveLength(2);
    const { code, details } = refused[0];
    expect(code).toBe("QUOTA_EXCEEDED");
    expect(details.headers).toEqual({ "x-quota-limit": "5", "x-quota-remaining": "0" });
    expect(details.retryAfter).toBe((Date.UTC(2026, 10, 22) - NOW) / 1000);
    given[0]!.giveBack(1);
    await accounts.takeSends(account.id, 1);
    await expect(accounts.takeSends(account.id, 1)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await accounts.takeSends(other.id, 1)).toBeNull();
    clock.now = Date.UTC(2026, 10, 22);
    expect((await accounts.takeSends(account.id, 5))!.remaining()).toBe(0);
  });

  it("count a day's sends by an index", async () => {
    const { store } = await setUp();

    const plan = await rawRows(
      store,
      `EXPLAIN QUERY PLAN SELECT count(*) FROM devices d JOIN outbox o ON o.device_id = d.id
        WHERE d.account_id = ? AND o.origin = 'api' AND o.created_at >= ?`,
      ["a", 1],
    );

    expect(plan.map((row) => String(row.detail)).join("; ")).toContain("outbox_sends");
  });

  it("are removed with their keys, their numbers and every row of these, and nothing of anybody else", async () => {
    const removed: number[] = [];
    const numbers = {
      list: () => [{ id: 1 }],
      remove: async (id: number) => void removed.push(id),
    };
    const { accounts, keys, store } = await setUp(numbers);
    const { account, apiKey } = await accounts.create({ name: "A", plan: "pro" });
    const { account: other, apiKey: otherKey } = await accounts.create({ name: "B", plan: "pro" });
    await keys.authenticate(apiKey);
    await store.writer.commit([
      device(1, account.id),
      device(2, other.id),
      sent(1, "a", "api", NOW),
      sent(2, "b", "api", NOW),
    ]);

    expect(await accounts.remove(account.id)).toBe(true);
    const dataDir = temporaryFolder();
    const erasure = createErasure({ store, config: { dataDir }, log: silentLog(configFor(dataDir)) });
    erasure.start();
    await erasure.finished();
    await erasure.stop();

    expect(removed).toEqual([1]);
    expect(await keys.authenticate(apiKey)).toBeNull();
    expect(await keys.authenticate(otherKey)).not.toBeNull();
    expect((await accounts.list({})).items).toEqual([other]);
    expect((await rawRows(store, "SELECT id FROM devices", [])).map((row) => row.id)).toEqual([2]);
    expect((await rawRows(store, "SELECT wa_id FROM outbox", [])).map((row) => row.wa_id)).toEqual(["b"]);
    expect(await accounts.remove(account.id)).toBe(false);
  });
});

describe("API keys", () => {
  it("are stored as a hash: no part beyond the shown prefix is in the database", async () => {
    const { accounts, store } = await setUp();
    const { apiKey } = await accounts.create({ name: "A", plan: "basic" });

    const [row] = await rawRows(store, "SELECT * FROM api_keys", []);

    expect(JSON.stringify(row)).toContain(apiKey.slice(0, 11));
    expect(JSON.stringify(row)).not.toContain(apiKey.slice(0, 12));
    expect(JSON.stringify(row)).not.toContain(apiKey.slice(11));
  });

  it("of a wrong form or checksum are refused before the database is asked; unknown ones are refused by it", async () => {
    const { keys, reads } = await setUp();

    for (const wrong of ["", "parley_", "x".repeat(10_000), makeKey().slice(0, -1) + "!", `${makeKey()}0`])
      expect(await keys.authenticate(wrong)).toBeNull();
    expect(reads).toEqual([]);
    expect(await keys.authenticate(makeKey())).toBeNull();
    expect(reads).toHaveLength(1);
  });

  it("are read once and then known by heart", async () => {
    const { accounts, keys, reads } = await setUp();
    const { apiKey } = await accounts.create({ name: "A", plan: "basic" });
    reads.length = 0;

    for (let index = 0; index < 10; index++) await keys.authenticate(apiKey);

    expect(reads).toHaveLength(1);
  });

  it("keep what they were issued with, and say when they were used, within a minute", async () => {
    const { accounts, keys, clock, store } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });
    const grants = wanted({ devices: ["4915"], recipients: ["49*"], expiresAt: NOW + 1_000_000 });
    const { key, apiKey } = await keys.issue(account.id, grants, null);
    const lastUsed = async () =>
      (await keys.list(account.id, {})).items.find(({ id }) => id === key.id)!.lastUsedAt;

    expect(key).toMatchObject({ ...grants, prefix: apiKey.slice(0, 11), createdAt: NOW, lastUsedAt: null });
    expect((await keys.list(account.id, {})).items).toContainEqual(key);
    expect(await keys.authenticate(apiKey)).toMatchObject({
      devices: ["4915"],
      recipients: ["49*"],
      keyId: key.id,
    });
    await store.writer.drain();
    expect(await lastUsed()).toBe(NOW);
    clock.now += 59_999;
    await keys.authenticate(apiKey);
    await store.writer.drain();
    expect(await lastUsed()).toBe(NOW);
    clock.now += 1;
    await keys.authenticate(apiKey);
    await store.writer.drain();
    expect(await lastUsed()).toBe(NOW + 60_000);
  });

  it("end when they expire, also for those who knew them", async () => {
    const { accounts, keys, clock } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });
    const { apiKey } = await keys.issue(account.id, wanted({ expiresAt: NOW + 1_000 }), null);

    expect(await keys.authenticate(apiKey)).not.toBeNull();
    clock.now = NOW + 1_000;
    expect(await keys.authenticate(apiKey)).toBeNull();
  });

  it("end at once when they are removed or rotated", async () => {
    const { accounts, keys, store } = await setUp();
    const { account, apiKey: first } = await accounts.create({ name: "A", plan: "basic" });
    const { key, apiKey } = await keys.issue(account.id, wanted(), null);
    await keys.authenticate(apiKey);
    await keys.authenticate(first);
    await store.writer.drain();

    const rotated = await keys.rotate(account.id, key.id, null);

    expect(await keys.authenticate(apiKey)).toBeNull();
    expect(await keys.authenticate(rotated!.apiKey)).toMatchObject({
      keyId: key.id,
      permissions: ["messages"],
    });
    expect(rotated!.key).toEqual({ ...key, prefix: rotated!.apiKey.slice(0, 11), lastUsedAt: NOW });
    expect(await keys.remove(account.id, key.id, null)).toBe(true);
    expect(await keys.authenticate(rotated!.apiKey)).toBeNull();
    expect(await keys.authenticate(first)).not.toBeNull();
    expect(await keys.remove(account.id, key.id, null)).toBe(false);
    expect(await keys.rotate(account.id, key.id, null)).toBeNull();
  });

  it("do not come back to life when they are removed while they are being looked up", async () => {
    const { accounts, keys, store } = await setUp();
    const { account, apiKey } = await accounts.create({ name: "A", plan: "basic" });
    const id = (await keys.list(account.id, {})).items[0]!.id;
    const { readOne } = store;
    const gate: { asked?: () => void; open?: () => void } = {};
    const asked = new Promise<void>((resolve) => (gate.asked = resolve));
    const opened = new Promise<void>((resolve) => (gate.open = resolve));
    store.readOne = async (query, args) => {
      const found = await readOne(query, args);
      gate.asked!();
      await opened;
      return found;
    };

    const slow = keys.authenticate(apiKey);
    await asked;
    store.readOne = readOne;
    await keys.remove(account.id, id, null);
    gate.open!();
    await slow;

    expect(await keys.authenticate(apiKey)).toBeNull();
  });

  it("are listed in pages that end before they are more than a megabyte of numbers and recipients", async () => {
    const { keys, store } = await setUp();
    const long = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => String(49150000000 + index)));
    await store.writer.commit([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
          INSERT INTO api_keys (id, account_id, name, hash, prefix, permissions, devices, recipients, created_at)
          SELECT 'k' || i, 'many', 'K', 'h' || i, 'p', '[]', ?1, ?1, i FROM n`,
        args: [long],
      },
    ]);
    const seen: string[] = [];
    for (let before: string | undefined; ;) {
      const { items, next } = await keys.list("many", { before });
      expect(JSON.stringify(items).length).toBeLessThan(1_200_000);
      seen.push(...items.map(({ id }) => id));
      if (next === null) break;
      before = next;
    }
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => `k${300 - index}`));
  });

  it("of another account are not to be had", async () => {
    const { accounts, keys } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });
    const { account: other, apiKey } = await accounts.create({ name: "B", plan: "basic" });
    const id = (await keys.list(other.id, {})).items[0]!.id;

    expect(await keys.remove(account.id, id, null)).toBe(false);
    expect(await keys.rotate(account.id, id, null)).toBeNull();
    expect(await keys.authenticate(apiKey)).not.toBeNull();
  });

  it("hand on no more than they have, and neither rotate nor delete a wider one", async () => {
    const { accounts, keys } = await setUp();
    const { account, apiKey: first } = await accounts.create({ name: "A", plan: "basic" });
    const [wide] = (await keys.list(account.id, {})).items;
    const { apiKey } = await keys.issue(account.id, wanted({ permissions: ["keys", "messages"] }), null);
    const small = (await keys.authenticate(apiKey))!;

    await expect(keys.issue(account.id, wanted({ permissions: ["*"] }), small)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await expect(keys.rotate(account.id, wide!.id, small)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await expect(keys.remove(account.id, wide!.id, small)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(await keys.authenticate(first)).not.toBeNull();
    expect((await keys.issue(account.id, wanted(), small)).key.permissions).toEqual(["messages"]);
  });

  it("are as many as the plan allows, also when all are asked for at once", async () => {
    const { accounts, keys } = await setUp();
    const { account } = await accounts.create({ name: "A", plan: "basic" });

    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () => keys.issue(account.id, wanted(), null)),
    );

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const refusals = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason.code] : [],
    );
    expect(refusals).toEqual(["PLAN_LIMIT", "PLAN_LIMIT", "PLAN_LIMIT", "PLAN_LIMIT"]);
    expect((await keys.list(account.id, {})).items).toHaveLength(3);
    await expect(keys.issue("unknown", wanted(), null)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("the operator's token", () => {
  it("is the store's own and no other", async () => {
    const store = await temporaryStore({ PARLEY_ADMIN_TOKEN: "operator-token-1234" });

    expect(isAdminToken(store, "operator-token-1234")).toBe(true);
    for (const wrong of ["", "operator-token-123", "operator-token-12345", "Operator-token-1234"])
      expect(isAdminToken(store, wrong)).toBe(false);
  });
});
