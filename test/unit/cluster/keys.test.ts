import { describe, expect, it } from "vitest";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { createApiKeys } from "../../../src/accounts/api-keys.ts";
import { createTestBus, hasSqld, nodesOnOneServer } from "./shared-server.ts";

const KEY = { name: "CRM", permissions: ["messages"], devices: null, recipients: null, expiresAt: null };

describe.skipIf(!hasSqld)("API keys of several nodes", () => {
  const open = nodesOnOneServer();

  async function setUp() {
    const bus = createTestBus();
    const clock = { now: 0 };
    const partsOf = async (name: string) => {
      const { store: real, config, cluster } = await open(name, bus);
      const store = { ...real, time: { ...real.time, monotonic: () => clock.now } };
      const keys = createApiKeys(store, config, cluster);
      const numbers = { list: () => [], remove: async () => undefined };
      return { keys, accounts: createAccounts({ store, config, keys, numbers }) };
    };
    const [a, b] = [await partsOf("a"), await partsOf("b")];
    const { account } = await a.accounts.create({ name: "ACME", plan: "basic" });
    const { key, apiKey } = await a.keys.issue(account.id, KEY, null);
    expect(await b.keys.authenticate(apiKey)).toMatchObject({ keyId: key.id });
    return { a, b, bus, clock, account, key, apiKey };
  }
  type SetUp = Awaited<ReturnType<typeof setUp>>;

  it.each<[string, (found: SetUp) => Promise<unknown>]>([
    ["deleted", ({ a, account, key }) => a.keys.remove(account.id, key.id, null)],
    ["rotated", ({ a, account, key }) => a.keys.rotate(account.id, key.id, null)],
    ["removed with its account", ({ a, account }) => a.accounts.remove(account.id)],
  ])("refuse on one what was %s on the other", async (_, change) => {
    const found = await setUp();

    await change(found);

    await expect.poll(() => found.b.keys.authenticate(found.apiKey)).toBeNull();
  });

  it("know on one what became of the account on the other", async () => {
    const { a, b, account, apiKey } = await setUp();

    await a.accounts.update(account.id, { enabled: false, plan: "pro" });

    const known = async () => (await b.keys.authenticate(apiKey))!.account;
    await expect.poll(known).toMatchObject({ enabled: false, plan: "pro" });
  });

  it("are refused after five seconds while the bus is away, and at once when it is back", async () => {
    const { a, b, bus, clock, account, key, apiKey } = await setUp();
    const other = await a.keys.issue(account.id, KEY, null);
    expect(await b.keys.authenticate(other.apiKey)).not.toBeNull();
    bus.cut();
    await a.keys.remove(account.id, key.id, null);
    expect(await b.keys.authenticate(apiKey)).not.toBeNull();

    clock.now += 4_999;
    expect(await b.keys.authenticate(apiKey)).not.toBeNull();
    clock.now += 1;
    expect(await b.keys.authenticate(apiKey)).toBeNull();

    expect(await b.keys.authenticate(other.apiKey)).not.toBeNull();
    await a.keys.remove(account.id, other.key.id, null);
    bus.mend();
    expect(await b.keys.authenticate(other.apiKey)).toBeNull();
  });
});
