import { timeWithClock } from "../../../src/model/time.ts";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createOneByOne } from "../../../src/directory/ask-one.ts";
import { createGroups, type Groups } from "../../../src/directory/groups.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { RateOverlimit, type GroupChange, type GroupInfo } from "../../../src/whatsapp/port.ts";
import { silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { manualClock, rest, type ManualClock } from "../outbox/harness.ts";

const DEVICE = 1;
const OWN = { number: "491700", lid: "55@lid" };

const member = (number: string | null, lid: string | null, admin = false) => ({
  id: lid ?? `${number}@s.whatsapp.net`,
  number,
  lid,
  admin,
});

function group(id: string, subject: string, more: Partial<GroupInfo> = {}): GroupInfo {
  const participants = [member(OWN.number, null), member("4915001", null)];
  return {
    id: `${id}@g.us`,
    subject,
    participants,
    size: participants.length,
    announce: false,
    community: false,
    announcements: false,
    addressing: "pn",
    ephemeral: 0,
    version: null,
    ...more,
  };
}

const unasked = (): never => {
  throw new Error("It was asked again.");
};

function listOnItsWay() {
  let arrive!: (groups: GroupInfo[]) => void;
  const arriving = new Promise<GroupInfo[]>((resolve) => (arrive = resolve));
  return { arriving, arrive };
}

interface World {
  groups: Groups;
  clock: ManualClock;
  store: Store;
  /** What WhatsApp answers. */
  answer: GroupInfo[] | Error | Promise<GroupInfo[]>;
  online: boolean;
  asked: number;
  /** What it was asked about by itself. */
  askedAlone: string[];
  names(refresh?: boolean): Promise<string[]>;
}

async function startGroups(
  answer: World["answer"],
  given: { clock?: ManualClock; store?: Store } = {},
): Promise<World> {
  const clock = given.clock ?? manualClock();
  const store = given.store ?? (await temporaryStore({}, clock.now));
  const world: World = {
    clock,
    store,
    answer,
    online: true,
    asked: 0,
    askedAlone: [],
    names: async (refresh = false) =>
      (await world.groups.list(DEVICE, { refresh })).groups.map(({ name }) => name),
    groups: createGroups({
      store,
      log: silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" })),
      identity: () => OWN,
      connection: () =>
        world.online
          ? {
              groups: async () => {
                world.asked++;
                if (world.answer instanceof Error) throw world.answer;
                return world.answer;
              },
              group: async (id) => {
                world.askedAlone.push(id);
                if (world.answer instanceof Error) throw world.answer;
                return (await world.answer).find((one) => one.id === id) ?? null;
              },
            }
          : null,
    }),
  };
  return world;
}

describe("the list of groups", () => {
  it("says of each what may be done there, by name, then id", async () => {
    const admin = [member(OWN.number, null, true)];
    const byLid = { addressing: "lid" as const };
    const world = await startGroups([
      group("4", "open"),
      group("1", "closed", { announce: true, size: 256 }),
      group("2", "closed", { announce: true, participants: admin }),
      group("3", "by LID", { ...byLid, participants: [member(null, OWN.lid, true)] }),
      group("5", "parent", { community: true }),
      group("6", "others", { participants: [member("4915001", null)] }),
    ]);

    const { groups, stale, cachedAt } = await world.groups.list(DEVICE, { refresh: false });

    const flags = { onlyAdmins: false, isMember: true, isAdmin: false, canSend: true };
    expect(groups).toEqual([
      { id: "3@g.us", name: "by LID", participants: 2, ...flags, isAdmin: true },
      { id: "1@g.us", name: "closed", participants: 256, ...flags, onlyAdmins: true, canSend: false },
      { id: "2@g.us", name: "closed", participants: 2, ...flags, onlyAdmins: true, isAdmin: true },
      { id: "4@g.us", name: "open", participants: 2, ...flags },
      { id: "6@g.us", name: "others", participants: 2, ...flags, isMember: false, canSend: false },
      { id: "5@g.us", name: "parent", participants: 2, ...flags, canSend: false, community: true },
    ]);
    expect({ stale, cachedAt }).toEqual({ stale: false, cachedAt: world.clock.now() });
  });

  it("is asked for once in 60 seconds, and once however many want it at the same time", async () => {
    const world = await startGroups([group("1", "one")]);

    await Promise.all([world.names(), world.names(), world.names(true)]);
    await world.clock.advance(59_999);
    await world.names();
    expect(world.asked).toBe(1);
    await world.clock.advance(1);
    await world.names();

    expect(world.asked).toBe(2);
  });

  it("is refreshed when wanted, but not within 10 seconds of the last request", async () => {
    const world = await startGroups([group("1", "old")]);
    await world.names();
    world.answer = [group("1", "new")];

    const list = async (refresh = true) => {
      const { groups, refreshed } = await world.groups.list(DEVICE, { refresh });
      return [groups[0]!.name, refreshed];
    };
    await world.clock.advance(9_999);
    expect(await list()).toEqual(["old", false]);
    await world.clock.advance(1);
    expect(await Promise.all([list(), list()])).toEqual([
      ["new", true],
      ["new", true],
    ]);
    expect(await list(false)).toEqual(["new", false]);

    expect(world.asked).toBe(2);
  });

  it("comes from the store while WhatsApp limits, fails, or is away, marked stale after 60 seconds", async () => {
    const world = await startGroups([group("1", "one")]);
    await world.names();
    const troubles = [
      () => (world.answer = new RateOverlimit()),
      () => (world.answer = new Error("no answer")),
      () => (world.online = false),
    ];

    for (const trouble of troubles) {
      trouble();
      await world.clock.advance(61_000);
      expect(await world.groups.list(DEVICE, { refresh: true })).toMatchObject({
        stale: true,
        refreshed: false,
        groups: [{ name: "one" }],
      });
    }
    expect(world.asked).toBe(3);
  });

  it("survives a restart", async () => {
    const clock = manualClock();
    const config = loadConfig({ DATA_DIR: temporaryFolder(), LOG_LEVEL: "silent", STORE_THREAD: "off" });
    const before = await openStore(config, silentLog(config), timeWithClock(clock.now));
    await (await startGroups([group("1", "one")], { clock, store: before })).names();
    await before.close();

    const store = await openStore(config, silentLog(config), timeWithClock(clock.now));
    const world = await startGroups([], { clock, store });
    world.online = false;
    expect(await world.names()).toEqual(["one"]);
    await store.close();
  });

  it("is an error when none is in store and WhatsApp gives none", async () => {
    const world = await startGroups(new RateOverlimit());

    await expect(world.names()).rejects.toMatchObject({ code: "WHATSAPP_REFUSED", status: 502 });
    world.answer = [group("1", "one")];
    await expect(world.names()).rejects.toMatchObject({ code: "WHATSAPP_REFUSED" });
    await world.clock.advance(10_000);

    expect(await world.names()).toEqual(["one"]);
  });

  it("takes a damaged cache for none", async () => {
    const world = await startGroups([group("1", "one")]);
    await world.names();
    await world.store.cache.setItem(`groups:${DEVICE}`, "AAAA");

    expect(await world.names()).toEqual(["one"]);
    expect(world.asked).toBe(1);
  });
});

describe("a change that WhatsApp tells of", () => {
  it("has the next list asked for anew", async () => {
    const world = await startGroups([group("1", "old")]);
    await world.names();
    world.answer = [group("1", "new")];
    await world.clock.advance(10_000);

    world.groups.changed(DEVICE, [{ id: "1@g.us", kind: "unknown" }]);

    expect(await world.names()).toEqual(["new"]);
    expect(await world.names()).toEqual(["new"]);
    expect(world.asked).toBe(2);
  });

  it("while the list is on its way has it asked for once more", async () => {
    const { arriving, arrive } = listOnItsWay();
    const world = await startGroups(arriving);
    const first = world.names();
    await rest();
    world.groups.changed(DEVICE, [{ id: "2@g.us", kind: "unknown" }]);
    arrive([group("1", "one")]);
    expect(await first).toEqual(["one"]);
    world.answer = [group("1", "one"), group("2", "two")];
    await world.clock.advance(10_000);

    expect(await world.names()).toEqual(["one", "two"]);
  });

  it("leaves a group that was left in the list, marked, until the next refresh", async () => {
    const world = await startGroups([group("1", "left"), group("2", "stays")]);
    await world.names();
    world.answer = [group("2", "stays")];
    await world.clock.advance(10_000);

    world.groups.changed(DEVICE, [{ id: "1@g.us", kind: "left" }]);

    expect((await world.groups.list(DEVICE, { refresh: false })).groups).toMatchObject([
      { name: "left", isMember: false, isAdmin: false, canSend: false },
      { name: "stays", isMember: true, canSend: true },
    ]);
    expect(world.asked).toBe(1);
    world.groups.changed(DEVICE, [{ id: "2@g.us", kind: "unknown" }]);
    expect(await world.names()).toEqual(["left", "stays"]);
    await world.clock.advance(10_000);
    expect(await world.names(true)).toEqual(["stays"]);
  });

  it("marks a group that was left while the list was on its way", async () => {
    const { arriving, arrive } = listOnItsWay();
    const world = await startGroups(arriving);
    const list = world.groups.list(DEVICE, { refresh: false });
    await rest();
    world.groups.changed(DEVICE, [{ id: "1@g.us", kind: "left" }]);
    arrive([group("1", "left")]);

    expect((await list).groups).toMatchObject([{ name: "left", isMember: false, canSend: false }]);
  });
});

describe("what WhatsApp tells of a group", () => {
  const ID = "1@g.us";
  const versioned = (more: Partial<GroupInfo> = {}) => group("1", "old", { version: "5", ...more });
  type Members = Extract<GroupChange, { kind: "members" }>;
  const members = (action: Members["action"], version: string | null, before: string | null): Members => {
    return {
      id: ID,
      kind: "members",
      action,
      members: [member("4915009", null)],
      own: false,
      version,
      before,
    };
  };
  const own = (action: Members["action"]): Members => ({ ...members(action, "6", "5"), own: true });

  const listed = async (world: World) => (await world.groups.list(DEVICE, { refresh: false })).groups[0];

  it.each<[string, Partial<GroupInfo>, GroupChange[], object]>([
    ["a name", {}, [{ id: ID, kind: "subject", subject: "new" }], { name: "new" }],
    ["that only admins may write", {}, [{ id: ID, kind: "announce", announce: true }], { canSend: false }],
    [
      "that everybody may write",
      { announce: true },
      [{ id: ID, kind: "announce", announce: false }],
      { onlyAdmins: false, canSend: true },
    ],
    [
      "that everybody may write, of a community",
      { announce: true, community: true },
      [{ id: ID, kind: "announce", announce: false }],
      { onlyAdmins: false, canSend: false },
    ],
    ["that somebody came", {}, [members("add", "6", "5")], { participants: 3 }],
    ["that somebody left", {}, [members("remove", "6", "5")], { participants: 1 }],
    [
      "that somebody became an admin",
      {},
      [members("promote", "6", "5")],
      { participants: 2, isAdmin: false },
    ],
    ["several things", {}, [members("add", "6", "5"), members("add", "7", "6")], { participants: 4 }],
    ["the same twice", {}, [members("add", "6", "5"), members("add", "6", "5")], { participants: 3 }],
    ["what the list has", {}, [members("add", "4", "3"), members("add", "5", "4")], { participants: 2 }],
    ["that the number is an admin", { announce: true }, [own("promote")], { isAdmin: true, canSend: true }],
    ["that it leaves", {}, [{ id: ID, kind: "left" }], { isMember: false, canSend: false }],
    [
      "that it is there again",
      {},
      [
        { id: ID, kind: "left" },
        { id: ID, kind: "group", group: versioned({ subject: "again" }) },
      ],
      { name: "again", isMember: true, canSend: true },
    ],
    [
      "nothing that is kept",
      {},
      [
        { id: ID, kind: "nothing" },
        { id: ID, kind: "ephemeral", seconds: 9 },
      ],
      {},
    ],
  ])("stands in the list without a question: %s", async (_what, before, changes, expected) => {
    const world = await startGroups([versioned(before)]);
    await world.names();
    world.answer = new RateOverlimit();
    await world.clock.advance(10_000);

    world.groups.changed(DEVICE, changes);

    expect(await listed(world)).toMatchObject(expected);
    expect(world.asked).toBe(1);
  });

  it.each<[string, Partial<GroupInfo>, GroupChange]>([
    ["a change of members without a version", {}, members("add", null, null)],
    ["a change of members before which one is missing", {}, members("add", "8", "7")],
    ["a change of members, of a list without versions", { version: null }, members("add", "6", "5")],
    [
      "who may write, of a list without versions",
      { version: null },
      { id: ID, kind: "announce", announce: true },
    ],
    ["a group that the list has not", {}, { id: "2@g.us", kind: "subject", subject: "new" }],
    [
      "a whole group in which the number does not stand",
      {},
      { id: ID, kind: "group", group: versioned({ participants: [member("4915001", null)] }) },
    ],
    ["anything else", {}, { id: ID, kind: "unknown" }],
  ])("has the list asked for: %s", async (_what, before, change) => {
    const world = await startGroups([versioned(before)]);
    await world.names();
    world.answer = [versioned({ subject: "asked for" })];
    await world.clock.advance(10_000);

    world.groups.changed(DEVICE, [change]);

    expect(await listed(world)).toMatchObject({ name: "asked for" });
    expect(await listed(world)).toMatchObject({ name: "asked for" });
    expect(world.asked).toBe(2);
  });

  it("while the list is on its way counts once, whether the list has it or not", async () => {
    for (const version of ["5", "6", "7"]) {
      const { arriving, arrive } = listOnItsWay();
      const world = await startGroups(arriving);
      const first = listed(world);
      await rest();
      world.groups.changed(DEVICE, [members("add", "6", "5"), members("add", "7", "6")]);
      const size = 2 + Number(version) - 5;
      arrive([versioned({ version, size })]);

      expect(await first).toMatchObject({ participants: 4 });
      await world.clock.advance(10_000);
      expect(await listed(world)).toMatchObject({ participants: 4 });
      expect(world.asked).toBe(1);
    }
  });

  it("while WhatsApp gives no list is not lost", async () => {
    const world = await startGroups([versioned()]);
    await world.names();
    const { arriving, arrive } = listOnItsWay();
    world.answer = arriving;
    await world.clock.advance(61_000);
    const first = listed(world);
    await rest();
    world.groups.changed(DEVICE, [{ id: ID, kind: "subject", subject: "new" }]);
    world.answer = new RateOverlimit();
    arrive(world.answer as never);

    expect(await first).toMatchObject({ name: "new" });
  });

  it("and stands in the list survives a restart", async () => {
    const world = await startGroups([versioned()]);
    await world.names();
    world.groups.changed(DEVICE, [{ id: ID, kind: "left" }]);
    await rest();
    await world.store.cache.clear();
    const later = await startGroups(new RateOverlimit(), { clock: world.clock, store: world.store });

    expect(await listed(later)).toMatchObject({ isMember: false });
  });

  it("a thousand times between two looks at the list costs one question, and no write each", async () => {
    const world = await startGroups([versioned()]);
    await world.names();
    await world.clock.advance(10_000);
    const { commit } = world.store.writer;
    let commits = 0;
    world.store.writer.commit = (statements) => (commits++, commit(statements));

    for (let at = 5; at < 2_005; at++)
      world.groups.changed(DEVICE, [members("add", String(at + 1), String(at))]);
    await rest();
    expect(commits).toBe(0);
    await listed(world);

    expect(world.asked).toBe(2);
    expect(commits).toBeLessThan(4);
  });
});

describe("a send to a group", () => {
  it("is refused for the reason that the list gives", async () => {
    const world = await startGroups([
      group("1", "open"),
      group("2", "closed", { announce: true }),
      group("3", "parent", { community: true }),
    ]);
    const reason = async (id: string) => (await world.groups.refusal(DEVICE, `${id}@g.us`))?.reason ?? null;

    expect(await reason("1")).toBeNull();
    expect(await reason("2")).toBe("only_admins");
    expect(await reason("3")).toBe("community");
    expect(await reason("4")).toBe("not_member");
    expect(await world.groups.refusal(DEVICE, "4915001@s.whatsapp.net")).toBeNull();
    expect(world.asked).toBe(0);
    expect(world.askedAlone).toEqual(["1@g.us", "2@g.us", "3@g.us", "4@g.us"]);
    await world.names();
    expect([await reason("1"), await reason("2"), await reason("3")]).toEqual([
      null,
      "only_admins",
      "community",
    ]);
    expect(world.askedAlone).toHaveLength(4);
  });

  it("that is in no list at hand is asked for by itself, once for all that want it, however young the list", async () => {
    const world = await startGroups([group("1", "one")]);
    await world.names();
    await world.clock.advance(1_000);
    world.answer = [group("1", "one"), group("2", "closed", { announce: true }), group("3", "open")];
    const reasonOf = async (id: string) => (await world.groups.refusal(DEVICE, `${id}@g.us`))?.reason ?? null;

    const ids = ["2", "2", "3", "3", "4", "4"];
    const reasons = [];
    for (const id of ids) reasons.push(await reasonOf(id));
    await Promise.all(ids.map(reasonOf));

    expect(reasons).toEqual(["only_admins", "only_admins", null, null, "not_member", "not_member"]);
    expect(world.asked).toBe(1);
    expect(world.askedAlone).toEqual(["2@g.us", "3@g.us", "4@g.us"]);
  });

  it("is asked about again when WhatsApp told of a change, and after 10 seconds when it was refused", async () => {
    const world = await startGroups([group("1", "closed", { announce: true })]);
    const reason = async () => (await world.groups.refusal(DEVICE, "1@g.us"))?.reason ?? null;
    expect(await reason()).toBe("only_admins");
    world.answer = [group("1", "open")];
    expect(await reason()).toBe("only_admins");
    await world.clock.advance(10_000);
    expect(await reason()).toBeNull();
    world.answer = [group("1", "closed", { announce: true })];

    world.groups.changed(DEVICE, [{ id: "1@g.us", kind: "unknown" }]);

    expect(await reason()).toBe("only_admins");
    expect(world.askedAlone).toHaveLength(3);
  });

  it("asks WhatsApp about twenty unknown groups in a minute, whatever is sent to", async () => {
    const world = await startGroups([]);
    const ids = Array.from({ length: 50 }, (_, n) => `${n}@g.us`);

    const refused = await Promise.all(ids.map((id) => world.groups.refusal(DEVICE, id)));
    expect(refused.filter((one) => one !== null)).toHaveLength(20);
    expect(world.askedAlone).toHaveLength(20);
    await world.clock.advance(60_000);
    expect(await world.groups.refusal(DEVICE, "49@g.us")).toMatchObject({ reason: "not_member" });
  });

  it("is left to WhatsApp when it gives no answer: silence is not no", async () => {
    const world = await startGroups(new RateOverlimit());
    expect(await world.groups.refusal(DEVICE, "1@g.us")).toBeNull();

    const clock = manualClock();
    const oneByOne = createOneByOne<object>(clock.time, () => true);
    const late = listOnItsWay();
    const waits = oneByOne.ask(DEVICE, "2@g.us", () => late.arriving);
    await clock.advance(10_000);
    expect(await waits).toBeNull();
    late.arrive([]);
    await rest();
    expect(await oneByOne.ask(DEVICE, "2@g.us", unasked)).toMatchObject({ value: [] });
  });

  it("is not refused for a reason that may have passed: an old list is looked at again", async () => {
    const world = await startGroups([group("1", "closed", { announce: true })]);
    await world.names();
    world.answer = [group("1", "closed")];
    await world.clock.advance(61_000);

    expect(await world.groups.refusal(DEVICE, "1@g.us")).toBeNull();
    await world.clock.advance(61_000);
    expect(await world.groups.refusal(DEVICE, "1@g.us")).toBeNull();
    expect(world.askedAlone).toEqual(["1@g.us"]);
  });

  it("is left to WhatsApp when nothing is known", async () => {
    const world = await startGroups([]);
    world.online = false;

    expect(await world.groups.refusal(DEVICE, "1@g.us")).toBeNull();
  });
});
