import { describe, expect, it } from "vitest";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { createApiKeys } from "../../../src/accounts/api-keys.ts";
import { createLinks } from "../../../src/accounts/links.ts";
import { createOperatorLink } from "../../../src/accounts/operator-link.ts";
import { MOST_SESSIONS } from "../../../src/accounts/session-rows.ts";
import { createSessions, type Opening } from "../../../src/accounts/sessions.ts";
import { loadConfig } from "../../../src/config.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NUMBER = "31600000001";

async function setUp() {
  const clock = { now: NOW };
  const store = await temporaryStore({}, () => clock.now);
  const config = loadConfig({});
  const keys = createApiKeys(store, config);
  const none = { list: () => [], remove: async () => undefined };
  const accounts = createAccounts({ store, config, keys, numbers: none });
  const numbers = new Set([7]);
  const parts = { store, keys, accounts };
  const links = createLinks({ ...parts, isNumber: ({ id }) => numbers.has(id) });
  const operatorLink = createOperatorLink({ box: store.box, time: { monotonic: () => clock.now } });
  const start = () => createSessions({ ...parts, config, links, operatorLink });
  const sessions = start();
  const { account, apiKey } = await accounts.create({ name: "Shop", plan: "pro" });
  const open = async (given: Opening["with"]) =>
    (await sessions.open({ with: given, address: "192.0.2.1", userAgent: "Test" }))!;
  const issue = async () =>
    keys.issue(
      account.id,
      { name: "x", permissions: ["devices"], devices: null, recipients: null, expiresAt: NOW + HOUR },
      null,
    );
  return {
    clock,
    store,
    keys,
    accounts,
    links,
    operatorLink,
    numbers,
    sessions,
    start,
    account,
    apiKey,
    open,
    issue,
  };
}

describe("a session", () => {
  it("may do what its key may, and its token stands in no table", async () => {
    const { sessions, store, keys, open, issue } = await setUp();
    const { apiKey } = await issue();

    const { session, token } = await open({ apiKey });

    expect(session).toMatchObject({ kind: "key", caller: await keys.authenticate(apiKey) });
    expect(await sessions.authenticate(token)).toEqual(session);
    expect(JSON.stringify(await rawRows(store, "SELECT * FROM sessions", []))).not.toContain(token);
  });

  it("is none for what is no token, or nobody's, and opens with nothing that is wrong", async () => {
    const { sessions, open, apiKey } = await setUp();
    const { token } = await open({ apiKey });

    for (const wrong of ["", "x", `${token}A`, token.slice(1) + "A", token.toUpperCase()])
      expect(await sessions.authenticate(wrong)).toBeNull();
    for (const given of [{ apiKey: `${apiKey}x` }, { adminToken: apiKey }, { link: token }])
      expect(await open(given)).toBeNull();
  });

  it("ends after eight hours without use, of which looking is none, and after seven days whatever it is used for", async () => {
    const { sessions, clock, open, apiKey } = await setUp();
    const idle = await open({ apiKey });
    clock.now += 8 * HOUR - 1;
    expect(await sessions.authenticate(idle.token, false)).not.toBeNull();
    clock.now += 1;
    expect(await sessions.authenticate(idle.token)).toBeNull();

    const { token, session } = await open({ apiKey });
    const begun = clock.now;
    for (; clock.now + 7 * HOUR <= begun + 7 * 24 * HOUR; clock.now += 7 * HOUR)
      expect(await sessions.authenticate(token)).not.toBeNull();
    expect(session.endsAt).toBe(begun + 7 * 24 * HOUR);
    clock.now = session.endsAt - 1;
    expect(await sessions.authenticate(token)).toMatchObject({ idleEndsAt: session.endsAt });
    clock.now += 1;
    expect(await sessions.authenticate(token)).toBeNull();
  });

  it("goes on after a restart, within a minute of its last use", async () => {
    const { sessions, clock, open, apiKey, start } = await setUp();
    const { token } = await open({ apiKey });
    clock.now += 5 * HOUR;
    await sessions.authenticate(token);
    await expect
      .poll(async () => (await start().authenticate(token, false))!.idleEndsAt)
      .toBe(clock.now + 8 * HOUR);
    clock.now += 7 * HOUR;
    expect(await start().authenticate(token)).not.toBeNull();
  });

  type SetUp = Awaited<ReturnType<typeof setUp>>;
  it.each<[string, (found: SetUp, keyId: string) => unknown]>([
    ["deleted", ({ keys, account }, id) => keys.remove(account.id, id, null)],
    ["rotated", ({ keys, account }, id) => keys.rotate(account.id, id, null)],
    ["over", ({ clock }) => (clock.now += HOUR)],
    ["gone with its account", ({ accounts, account }) => accounts.remove(account.id)],
  ])("ends at once when its key is %s, and so does a link that it made", async (_, end) => {
    const found = await setUp();
    const { key, apiKey } = await found.issue();
    const { token } = await found.open({ apiKey });
    const device = { id: 7, accountId: found.account.id, number: NUMBER };
    const credential = found.keys.hashOf(apiKey);
    const made = await found.links.make(device, 120, { kind: "key", credential });
    const byLink = await found.open({ link: made.token });

    await end(found, key.id);

    expect(await found.sessions.authenticate(token)).toBeNull();
    expect(await found.sessions.authenticate(byLink.token)).toBeNull();
    expect(await found.open({ link: made.token })).toBeNull();
  });

  it("says that its account is disabled, as its key does", async () => {
    const { sessions, accounts, account, open, apiKey } = await setUp();
    const { token } = await open({ apiKey });

    await accounts.update(account.id, { enabled: false });

    expect((await sessions.authenticate(token))!.caller!.account.enabled).toBe(false);
  });

  it("is listed with those of the same key alone, and ended by those alone", async () => {
    const { sessions, open, apiKey, issue } = await setUp();
    const [first, second] = [await open({ apiKey }), await open({ apiKey })];
    const other = await open({ apiKey: (await issue()).apiKey });
    const { credential } = first.session;

    expect((await sessions.list(credential)).map(({ id }) => id).toSorted()).toEqual(
      [first.session.id, second.session.id].toSorted(),
    );
    expect(await sessions.end(other.session.credential, first.session.id)).toBe(false);
    expect(await sessions.end(credential, first.session.id)).toBe(true);
    expect(await sessions.authenticate(first.token)).toBeNull();
    expect(await sessions.authenticate(second.token)).not.toBeNull();
  });

  it("makes room for a new one when there are fifty of a key: the one that was not used the longest ends", async () => {
    const { sessions, clock, open, apiKey } = await setUp();
    const opened = [];
    for (let count = 0; count < MOST_SESSIONS; count++, clock.now += MINUTE)
      opened.push(await open({ apiKey }));
    await sessions.authenticate(opened[0]!.token);

    await open({ apiKey });

    expect(await sessions.authenticate(opened[0]!.token)).not.toBeNull();
    expect(await sessions.authenticate(opened[1]!.token)).toBeNull();
    expect(await sessions.list(opened[0]!.session.credential)).toHaveLength(MOST_SESSIONS);
  });
});

describe("the operator's session", () => {
  it("may do nothing in an account before one is chosen, and everything afterwards", async () => {
    const { sessions, store, account, open } = await setUp();
    const { token, session } = await open({ adminToken: store.adminToken });
    expect(session).toMatchObject({ kind: "operator", caller: null });

    await sessions.choose(session.id, account.id);
    expect((await sessions.authenticate(token))!.caller).toMatchObject({ account, permissions: ["*"] });
    await sessions.choose(session.id, null);
    expect((await sessions.authenticate(token))!.caller).toBeNull();
  });

  it("ends with its token", async () => {
    const { store, open, keys, accounts, links, operatorLink } = await setUp();
    const { token } = await open({ adminToken: store.adminToken });
    const later = { ...store, adminToken: "another-token-of-the-operator" };
    const sessions = createSessions({
      store: later,
      config: loadConfig({}),
      keys,
      accounts,
      links,
      operatorLink,
    });

    expect(await sessions.authenticate(token)).toBeNull();
  });
});

describe("a link", () => {
  async function withLink() {
    const found = await setUp();
    const device = { id: 7, accountId: found.account.id, number: NUMBER };
    const by = { kind: "operator", credential: found.sessions.operatorCredential() } as const;
    const { link, token } = await found.links.make(device, 60, by);
    return { ...found, link, linkToken: token };
  }

  it("lets scan and set the webhook of its number, again and again for an hour, and no longer", async () => {
    const { sessions, clock, open, link, linkToken } = await withLink();
    const first = await open({ link: linkToken });
    expect(first.session).toMatchObject({
      kind: "link",
      endsAt: link.expiresAt,
      caller: { permissions: ["qr", "webhooks"], devices: [NUMBER], recipients: [], byLink: true },
    });
    clock.now += HOUR - 1;
    const again = await open({ link: linkToken });
    expect(await sessions.authenticate(first.token)).not.toBeNull();
    clock.now += 1;
    expect(await sessions.authenticate(first.token)).toBeNull();
    expect(await sessions.authenticate(again.token)).toBeNull();
    expect(await open({ link: linkToken })).toBeNull();
  });

  it.each<[string, (found: Awaited<ReturnType<typeof withLink>>) => unknown]>([
    ["it is withdrawn", ({ links, account, link }) => links.remove(account.id, null, link.id)],
    ["its number is erased", ({ numbers }) => numbers.clear()],
    ["its account is", ({ accounts, account }) => accounts.remove(account.id)],
  ])("ends, and whoever came by it, when %s", async (_, end) => {
    const found = await withLink();
    const { token } = await found.open({ link: found.linkToken });

    await end(found);

    expect(await found.sessions.authenticate(token)).toBeNull();
    expect(await found.open({ link: found.linkToken })).toBeNull();
  });

  it("is listed, and withdrawn, by those who may use its number", async () => {
    const { links, account, link, clock } = await withLink();

    for (const numbers of [null, [NUMBER]])
      expect(await links.list(account.id, numbers, {})).toMatchObject({ items: [link], total: 1 });
    expect((await links.list(account.id, ["31600000002"], {})).items).toEqual([]);
    expect((await links.list("other", null, {})).items).toEqual([]);
    expect(await links.remove(account.id, ["31600000002"], link.id)).toBe(false);
    clock.now = link.expiresAt;
    expect((await links.list(account.id, null, {})).items).toEqual([]);
  });
});

describe("the operator's link", () => {
  it("opens one session, within ten minutes", async () => {
    const { clock, sessions, operatorLink, open } = await setUp();
    const link = operatorLink.make();

    const { session, token } = await open({ link });

    expect(session).toMatchObject({
      kind: "operator",
      caller: null,
      credential: sessions.operatorCredential(),
    });
    expect(await sessions.authenticate(token)).toMatchObject({ id: session.id });
    expect(await open({ link })).toBeNull();

    const late = operatorLink.make();
    clock.now += 10 * MINUTE;
    expect(await open({ link: late })).toBeNull();
  });

  it("ends when another one is made, and not because somebody guesses", async () => {
    const { operatorLink, open } = await setUp();
    const [former, link] = [operatorLink.make(), operatorLink.make()];

    for (const wrong of ["", "x", former, `${link}A`]) expect(await open({ link: wrong })).toBeNull();

    expect(await open({ link })).toMatchObject({ session: { kind: "operator" } });
  });
});
