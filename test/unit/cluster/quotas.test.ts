import { describe, expect, it } from "vitest";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { createApiKeys } from "../../../src/accounts/api-keys.ts";
import type { SendShare } from "../../../src/accounts/quotas.ts";
import type { Statement } from "../../../src/store/store.ts";
import { createTestBus, hasSqld, nodesOnOneServer } from "./shared-server.ts";

const PLANS = { PLAN_BASIC: '{"devices":1,"keys":3,"sends_per_day":5}' };
let devices = 0;

const message = (deviceId: number, waId: string): Statement => ({
  sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
    VALUES (?, ?, 'c', 'j', 'n', 'text', 'api', 0, x'00', unixepoch() * 1000)`,
  args: [deviceId, waId],
});

describe.skipIf(!hasSqld)("the plan's sends of a day at several nodes", () => {
  const open = nodesOnOneServer(PLANS);

  async function setUp(plan = "basic") {
    const bus = createTestBus();
    const partsOf = async (name: string) => {
      const { store, config, cluster } = await open(name, bus);
      const keys = createApiKeys(store, config, cluster);
      const numbers = { list: () => [], remove: async () => undefined };
      const accounts = createAccounts({ store, config, keys, numbers, shared: true });
      return { accounts, store };
    };
    const [a, b] = [await partsOf("a"), await partsOf("b")];
    const { account } = await a.accounts.create({ name: "ACME", plan });
    const deviceId = ++devices;
    await a.store.writer.commit([
      {
        sql: "INSERT INTO devices (id, account_id, number, since, created_at) VALUES (?, ?, ?, 0, 0)",
        args: [deviceId, account.id, `4915${deviceId}`],
      },
    ]);
    let stored = 0;
    /** A send as a request makes it, in one commit. */
    async function send({ accounts, store }: typeof a, count = 1): Promise<SendShare> {
      const share = (await accounts.takeSends(account.id, count))!;
      const rows = Array.from({ length: count }, () => message(deviceId, `m${++stored}`));
      await store.writer
        .commit([...rows, ...share.storing(count)], { owning: null })
        .catch(async (error: unknown) => {
          throw await share.explain(error);
        });
      return share;
    }
    const used = async (): Promise<number> => (await b.accounts.usage(account.id)).used.sends_per_day;
    return { a, b, account, deviceId, send, used };
  }

  it("are never more than the plan allows, however many ask at once", async () => {
    const { a, b, send, used } = await setUp();

    const asked = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => send(index % 2 === 0 ? a : b)),
    );

    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const one of asked)
      if (one.status === "rejected")
        expect(one.reason).toMatchObject({
          code: "QUOTA_EXCEEDED",
          details: { headers: { "x-quota-limit": "5", "x-quota-remaining": expect.any(String) } },
        });
    expect(await used()).toBe(5);
    await expect(send(b)).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { headers: { "x-quota-remaining": "0" } },
    });
  });

  it("are stored whole or not at all, and what is left is the same at both", async () => {
    const { a, b, send, used } = await setUp();
    const share = await send(a, 3);
    expect(await share.remaining()).toBe(2);

    await expect(send(b, 3)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    await send(b, 2);

    expect(await share.remaining()).toBe(0);
    expect(await used()).toBe(5);
  });

  it("count what was stored before anybody counted, and what an account sent while its plan had no limit", async () => {
    const { a, b, account, deviceId, send } = await setUp("pro");
    await a.store.writer.commit([message(deviceId, "before")], { owning: null });
    expect((await send(b)).limit).toBeNull();
    await a.accounts.update(account.id, { plan: "basic" });
    expect(await (await send(a)).remaining()).toBe(2);

    await a.accounts.update(account.id, { plan: "pro" });
    await send(b);
    await a.accounts.update(account.id, { plan: "basic" });

    expect(await (await send(b)).remaining()).toBe(0);
  });

  it("that were taken back are free again, and those that never were stored are not", async () => {
    const { a, deviceId, send } = await setUp();
    const share = await send(a, 2);
    const takeBack = (waIds: string): Statement[] => [
      { sql: "DELETE FROM outbox WHERE device_id = ? AND wa_id LIKE ?", args: [deviceId, waIds] },
      ...share.takingBack(),
    ];

    await a.store.writer.commit(takeBack("unknown"), { owning: null });
    expect(await share.remaining()).toBe(3);
    await a.store.writer.commit(takeBack("%"), { owning: null });
    expect(await share.remaining()).toBe(5);
  });
});
