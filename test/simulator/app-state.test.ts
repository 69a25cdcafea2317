import type { BaileysEventMap, UserFacingSocketConfig } from "@whiskeysockets/baileys";
import { pino } from "pino";
import { Agent } from "undici";
import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { type Client, again, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

/** What a client was told of chats and contacts. */
function heardBy(client: Client) {
  const heard = {
    chats: [] as BaileysEventMap["chats.update"],
    contacts: [] as BaileysEventMap["contacts.upsert"],
    deleted: [] as string[],
    starred: [] as string[],
    labels: [] as string[],
  };
  const { ev } = client.socket;
  ev.on("chats.update", (chats) => heard.chats.push(...chats));
  ev.on("contacts.upsert", (contacts) => heard.contacts.push(...contacts));
  ev.on("chats.delete", (chats) => heard.deleted.push(...chats));
  ev.on("messages.update", (all) => {
    for (const { key, update } of all) if (update.starred) heard.starred.push(key.id!);
  });
  ev.on("labels.edit", ({ name }) => heard.labels.push(name));
  ev.on("labels.association", ({ association }) => heard.labels.push(association.chatId));
  return heard;
}

/** Files of app state have no host in their names: the client's own is the one of the simulator here. */
function withFilesOf(sim: Simulator): Partial<UserFacingSocketConfig> {
  const dispatcher = new Agent({ connect: { ca: sim.ca } }).compose((dispatch) => (options, handler) => {
    const isHost = String(options.origin).includes("mmg.whatsapp.net");
    return dispatch(isHost ? { ...options, origin: sim.mediaUrl } : options, handler);
  });
  return { options: { dispatcher } as RequestInit };
}

/** What a client complains of. Of MACs that do not fit it does no more than that. */
function complaintsOf(config: Partial<UserFacingSocketConfig>): string[] {
  const complaints: string[] = [];
  const write = (line: string): void => void complaints.push(line);
  config.logger = pino({ level: "warn" }, { write }) as UserFacingSocketConfig["logger"];
  return complaints;
}

const isAboutAppState = (line: string): boolean => /LTHash|mac\b|patch|sync/i.test(line);

async function world() {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  return { sim, contact, config: withFilesOf(sim) };
}

it("is read by the real client as the phone writes it: archive, mute, pin, star, labels, names, read, deleted", async () => {
  const { sim, contact, config } = await world();
  const complaints = complaintsOf(config);
  const client = await link(sim, NUMBER, config);
  const heard = heardBy(client);

  const until2030 = Date.UTC(2030, 0);
  const versions = await sim.changeAppState(NUMBER, [
    { kind: "archive", chat: CONTACT, archived: true },
    { kind: "mute", chat: CONTACT, until: until2030 },
    { kind: "pin", chat: CONTACT, pinned: true },
    { kind: "star", chat: CONTACT, messageId: "3AAA", fromMe: false, starred: true },
    { kind: "label", id: "1", name: "New" },
    { kind: "labelChat", id: "1", chat: CONTACT, labeled: true },
    { kind: "contact", person: CONTACT, name: "Ana of the shop" },
    { kind: "markRead", chat: CONTACT, read: false },
  ]);
  // A client that is busy tells several changes of a chat as one.
  const chat = () => Object.assign({}, ...heard.chats.filter(({ id }) => id === contact.jid));
  await until("all", () => {
    const { archived, muteEndTime, pinned, unreadCount } = chat();
    return (
      archived && muteEndTime && pinned && unreadCount && heard.contacts.length && heard.labels.length > 1
    );
  });
  await until("star", () => heard.starred.length > 0);
  await sim.changeAppState(NUMBER, { kind: "deleteChat", chat: CONTACT });
  await until("deleted", () => heard.deleted.length > 0);

  expect(versions).toEqual({ regular_low: 1, regular_high: 1, regular: 1, critical_unblock_low: 1 });
  expect(chat()).toMatchObject({ archived: true, muteEndTime: until2030, unreadCount: -1 });
  expect(chat().pinned).toBeGreaterThan(0);
  expect(heard.contacts).toMatchObject([{ id: contact.jid, name: "Ana of the shop", lid: contact.lid }]);
  expect(heard.starred).toEqual(["3AAA"]);
  expect(heard.labels).toEqual(["New", contact.jid]);
  expect(heard.deleted).toEqual([contact.jid]);
  expect(complaints.filter(isAboutAppState)).toEqual([]);
});

it("is written by the real client too, and read by the phone; of two at once one meets a conflict in its collection", async () => {
  const { sim, contact, config } = await world();
  const client = await link(sim, NUMBER, config);
  const second = await link(sim, NUMBER, config);
  const heard = heardBy(second);

  await client.socket.chatModify({ mute: 1_900_000_000_000 }, contact.jid);
  await until("the second", () => heard.chats.some(({ muteEndTime }) => muteEndTime === 1_900_000_000_000));
  await sim.changeAppState(NUMBER, {
    kind: "star",
    chat: CONTACT,
    messageId: "1",
    fromMe: true,
    starred: true,
  });
  await client.socket.chatModify({ mute: null }, contact.jid);

  const entries = async () => (await sim.appState(NUMBER)).map(({ index, value }) => [index, value]);
  await until("the phone", async () => JSON.stringify(await entries()).includes('"muted":false'));
  expect(await entries()).toMatchObject([
    [["star", contact.jid, "1", "1", "0"], { starAction: { starred: true } }],
    [["mute", contact.jid], { muteAction: { muted: false } }],
  ]);

  // Written on a version that is none any more: the collection is refused, the question is not.
  const answer = await client.socket.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "set", xmlns: "w:sync:app:state" },
    content: [
      {
        tag: "sync",
        attrs: {},
        content: ["regular_high", "nothing_of_the_kind"].map((name) => ({
          tag: "collection",
          attrs: { name, version: "1", return_snapshot: "false" },
          content: [{ tag: "patch", attrs: {}, content: Buffer.from([]) }],
        })),
      },
    ],
  });
  const [{ content: collections }] = answer.content as [{ content: typeof answer.content }];
  expect(JSON.stringify(collections)).toMatch(
    /"regular_high","type":"error".*"409".*"nothing_of_the_kind".*"400"/,
  );
});

it("is given from the beginning as a snapshot and what came after it, and in pieces", async () => {
  const { sim, contact, config } = await world();
  const complaints = complaintsOf(config);
  for (let index = 0; index < 12; index += 1) {
    const writing = { external: index === 5, key: index === 6 ? "new" : "same" } as const;
    await sim.changeAppState(NUMBER, { kind: "contact", person: CONTACT, name: `Ana ${index}` }, writing);
  }
  const client = await link(sim, NUMBER, config);
  const version = () => client.auth.state.keys.get("app-state-sync-version", ["critical_unblock_low"]);
  await until("version", async () => (await version()).critical_unblock_low?.version === 12);
  const asked = { xmlns: "w:sync:app:state", tag: "iq", direction: "in", number: NUMBER, device: 1 } as const;
  const before = await sim.countStanzas(asked);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  for (let index = 12; index < 19; index += 1)
    await sim.changeAppState(NUMBER, { kind: "contact", person: CONTACT, name: `Ana ${index}` });
  const back = again(sim, client, config);
  const heard = heardBy(back);
  await back.untilOpen();
  await until("the last name", () => heard.contacts.some(({ name }) => name === "Ana 18"));

  expect(heard.contacts.at(-1)).toMatchObject({ id: contact.jid, name: "Ana 18" });
  expect((await sim.mediaRequests({ direction: "download", type: "md-app-state" })).length).toBeGreaterThan(
    0,
  );
  expect((await sim.countStanzas(asked)) - before).toBeGreaterThanOrEqual(3);
  expect(complaints.filter(isAboutAppState)).toEqual([]);
});

it("waits for a key that is not shared yet, and is read once it is", async () => {
  const { sim, config } = await world();
  const client = await link(sim, NUMBER, config);
  const heard = heardBy(client);
  await sim.changeAppState(NUMBER, { kind: "contact", person: CONTACT, name: "Later" }, { key: "unshared" });
  await sim.settle();
  expect(heard.contacts).toEqual([]);

  await sim.shareAppStateKeys(NUMBER);
  await until("the name", () => heard.contacts.some(({ name }) => name === "Later"));
});

it("tells of what is out of date until a client says that it is not", async () => {
  const { sim, config } = await world();
  const client = await link(sim, NUMBER, config);
  await sim.markDirty(NUMBER, "account_sync");
  await sim.markDirty(NUMBER, "syncd_app_state");
  const told = { number: NUMBER, tag: "ib", direction: "out", child: "dirty" } as const;
  await until("both", async () => (await sim.countStanzas(told)) === 2);
  // It cleans with the time of the one before.
  await sim.markDirty(NUMBER, "account_sync");
  await until("clean", async () => (await sim.dirty(NUMBER)).length === 1);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  const back = again(sim, client, config);
  await back.untilOpen();

  expect(await sim.dirty(NUMBER)).toEqual(["syncd_app_state"]);
  await until("told again", async () => (await sim.countStanzas(told)) === 4);
});
