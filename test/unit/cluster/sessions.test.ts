import { describe, expect, it } from "vitest";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { createApiKeys } from "../../../src/accounts/api-keys.ts";
import { createLinks } from "../../../src/accounts/links.ts";
import { createOperatorLink } from "../../../src/accounts/operator-link.ts";
import { createSessions } from "../../../src/accounts/sessions.ts";
import { createTestBus, hasSqld, nodesOnOneServer } from "./shared-server.ts";

describe.skipIf(!hasSqld)("sessions of several nodes", () => {
  const open = nodesOnOneServer();

  async function setUp() {
    const bus = createTestBus();
    const clock = { now: 0 };
    const partsOf = async (name: string) => {
      const { store: real, config, cluster } = await open(name, bus);
      const store = { ...real, time: { ...real.time, monotonic: () => clock.now } };
      const keys = createApiKeys(store, config, cluster);
      const numbers = { list: () => [], remove: async () => undefined };
      const accounts = createAccounts({ store, config, keys, numbers });
      const links = createLinks({ store, keys, accounts, isNumber: () => true });
      const sessions = createSessions({
        store,
        config,
        keys,
        links,
        operatorLink: createOperatorLink(store),
        accounts,
        cluster,
      });
      return { keys, accounts, links, sessions };
    };
    const [a, b] = [await partsOf("a"), await partsOf("b")];
    const { account, apiKey } = await a.accounts.create({ name: "ACME", plan: "basic" });
    const opened = (await a.sessions.open({ with: { apiKey }, address: "", userAgent: "" }))!;
    expect(await b.sessions.authenticate(opened.token)).toMatchObject({ id: opened.session.id });
    return { a, b, bus, clock, account, apiKey, ...opened };
  }
  type SetUp = Awaited<ReturnType<typeof setUp>>;

  it.each<[string, (found: SetUp) => Promise<unknown>]>([
    ["it", ({ a, session }) => a.sessions.end(session.credential, session.id)],
    [
      "its key",
      async ({ a, account }) => {
        const { items } = await a.keys.list(account.id, {});
        await a.keys.remove(account.id, items[0]!.id, null);
      },
    ],
  ])("end on one when %s is ended on the other", async (_, end) => {
    const found = await setUp();

    await end(found);

    await expect.poll(() => found.b.sessions.authenticate(found.token)).toBeNull();
  });

  it("end after five seconds while the bus is away", async () => {
    const { a, b, bus, clock, session, token } = await setUp();
    bus.cut();
    await a.sessions.end(session.credential, session.id);
    expect(await b.sessions.authenticate(token)).not.toBeNull();

    clock.now += 5_000;
    expect(await b.sessions.authenticate(token)).toBeNull();
  });
});
