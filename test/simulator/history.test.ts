import type { BaileysEventMap } from "@whiskeysockets/baileys";
import { Agent } from "undici";
import { expect, it } from "vitest";
import type { HistoryChat } from "../../src/simulator/index.ts";
import { type Client, Client as BareClient, link, proto, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const { INITIAL_BOOTSTRAP, RECENT, PUSH_NAME, ON_DEMAND } = proto.HistorySync.HistorySyncType;

type History = BaileysEventMap["messaging-history.set"];

function historyOf(client: Client): History[] {
  const seen: History[] = [];
  client.socket.ev.on("messaging-history.set", (history) => {
    // The first may still be on its way.
    if (history.syncType !== INITIAL_BOOTSTRAP) seen.push(history);
  });
  return seen;
}

const chat = (...texts: string[]): HistoryChat => ({
  with: CONTACT,
  messages: texts.map((text) => ({ text, id: `H${text}` })),
});

it("is told in pieces of several kinds when a companion is linked: first, recent, what people call themselves", async () => {
  const sim = await simulate();
  const history = { chats: [chat("one")], recent: [chat("two", "three")], pushNames: "known" as const };
  await sim.addNumber(NUMBER, { history });
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  const client = new BareClient(sim);
  const qr = await until("QR", () => client.qrs.at(-1));
  await sim.scan(NUMBER, qr);
  const seen: History[] = [];
  await until("restart", () => client.closeCodes.length > 0);
  client.socket.ev.on("messaging-history.set", (told) => seen.push(told));
  await until("all of it", () => {
    const names = seen.flatMap(({ contacts }) => contacts).filter(({ notify }) => notify);
    return seen.flatMap(({ messages }) => messages).length === 3 && names.length > 0;
  });

  const ids = seen.flatMap(({ messages }) => messages).map(({ key }) => key.id);
  expect(ids.toSorted()).toEqual(["Hone", "Hthree", "Htwo"]);
  const named = seen.flatMap(({ contacts }) => contacts).filter(({ notify }) => notify);
  expect(named).toContainEqual(expect.objectContaining({ id: contact.jid, notify: "Ana" }));
  expect(client.texts).toEqual([]);
});

it("is told later as well, in messages or as files, and on demand", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER, { history: { older: [chat("1", "2", "3", "4")] } });
  const contact = await sim.addContact(CONTACT);
  const dispatcher = new Agent({ connect: { ca: sim.ca } }).compose((dispatch) => (options, handler) => {
    const isHost = String(options.origin).includes("mmg.whatsapp.net");
    return dispatch(isHost ? { ...options, origin: sim.mediaUrl } : options, handler);
  });
  const client = await link(sim, NUMBER, {
    options: { dispatcher } as RequestInit,
    shouldSyncHistoryMessage: () => true,
  });
  const seen = historyOf(client);
  const group = await sim.addGroup({ subject: "All", members: [NUMBER, CONTACT] });
  const chats = [chat("a", "b"), { with: group.id, messages: [{ text: "c", from: CONTACT }] }];

  await sim.sendHistory(NUMBER, { type: "recent", chats, pieces: 2, inline: false });
  await until("recent", () => seen.flatMap(({ messages }) => messages).length === 3);
  await sim.sendHistory(NUMBER, { type: "push_names", pushNames: [{ number: CONTACT, name: "Ana B." }] });
  await until("names", () => seen.some(({ syncType }) => syncType === PUSH_NAME));
  const requestId = await client.socket.fetchMessageHistory(
    2,
    { remoteJid: contact.jid, id: "H4", fromMe: false },
    1_700_000_000,
  );
  await until("on demand", () => seen.some(({ syncType }) => syncType === ON_DEMAND));

  expect(seen.map(({ syncType }) => syncType)).toEqual([RECENT, RECENT, PUSH_NAME, ON_DEMAND]);
  expect(seen.map(({ chunkOrder, progress }) => [chunkOrder, progress]).slice(0, 2)).toEqual([
    [1, 50],
    [2, 100],
  ]);
  expect(seen[2]!.contacts).toMatchObject([{ id: contact.jid, notify: "Ana B." }]);
  expect(seen[3]!.messages.map(({ key }) => key.id)).toEqual(["H3", "H2"]);
  expect(seen[3]!.peerDataRequestSessionId).toBe(requestId);
  expect(await sim.mediaRequests({ direction: "download", type: "md-msg-hist" })).toHaveLength(2);
});
