import { devices, inbox } from "../../../drizzle/schema.ts";
import { createBindings } from "../../bot/bindings/bindings.ts";
import { createRegistry } from "../../bot/files/registry.ts";
import { loadConfig } from "../../config.ts";
import { canonicalChats, keysOfChats } from "../../conversations/same-chat.ts";
import { createLogger } from "../../log.ts";
import { parseDestination } from "../../model/address.ts";
import { openReadOnly, type ReadOnlyStore } from "../../store/file/read-only.ts";
import { defineQuery } from "../../store/query.ts";
import { tellStory, type StoredStory } from "../../testing/stories/told.ts";
import { readConversation, type Happened } from "../../path/happened.ts";
import type { WorkingBots } from "./working-bots.ts";

/** A number of this gateway. */
export interface OwnNumber {
  id: number;
  /** Digits. */
  number: string;
}

/** After such a pause another conversation begins. */
const NEW_CONVERSATION_MS = 6 * 3_600_000;
/** What led to a conversation is looked for no further back. */
const FURTHEST_BACK_MS = 24 * 3_600_000;

const DEVICES = defineQuery("SELECT id, number FROM devices ORDER BY number LIMIT 10000", {
  id: devices.id,
  number: devices.number,
});
const WROTE = defineQuery(
  `SELECT id, chat, received_at FROM inbox WHERE device_id = ?1 AND id > 0 AND from_me = 0 AND type <> 'timer'
  AND chat <> 'status@broadcast' AND received_at >= ?2 AND (received_at, id) < (?3, ?4)
  ORDER BY received_at DESC, id DESC LIMIT ?5`,
  { id: inbox.id, chat: inbox.chat, receivedAt: inbox.receivedAt },
);

export type { StoredStory } from "../../testing/stories/told.ts";

/** Runs `work` on the data of this gateway, which may be running. */
export async function withStored<T>(work: (store: ReadOnlyStore) => Promise<T>): Promise<T> {
  const store = await openReadOnly(loadConfig(process.env));
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** @param wanted digits; absent: the only number @throws Error that lists the numbers when it is not clear */
export async function findNumber(store: ReadOnlyStore, wanted: string | undefined): Promise<OwnNumber> {
  const numbers = await store.read(DEVICES);
  const digits = wanted?.replaceAll(/\D/g, "");
  const [only] = digits === undefined ? numbers : numbers.filter(({ number }) => number === digits);
  if (only !== undefined && (digits !== undefined || numbers.length === 1)) return only;
  const known = numbers.map(({ number }) => number).join(", ") || "none";
  throw new Error(
    digits === undefined
      ? `Say which number: --device <digits>. Numbers: ${known}.`
      : `This gateway has no number ${digits}. Numbers: ${known}.`,
  );
}

/** @param chat its address in any form @throws Error when it is no address, or nothing was said there */
export async function storedChat(
  store: ReadOnlyStore,
  { id: deviceId }: OwnNumber,
  chat: string,
  { since, limit }: { since: number; limit: number },
): Promise<StoredStory> {
  const jid = parseDestination(chat)?.jid;
  if (jid === undefined)
    throw new Error(`“${chat}” is not a chat: use the digits of a number, or the id of a LID or a group.`);
  const happened = await readConversation(store, {
    deviceId,
    chats: await keysOf(store, deviceId, jid),
    since,
    limit,
  });
  if (!happened.some(({ kind }) => kind === "came"))
    throw new Error(`No contact has written in the chat ${chat}${since > 0 ? " since then" : ""}.`);
  return tellStory(jid, happened);
}

/** Conversations in which somebody wrote since then, the newest first, each with what led to it. */
export async function* storedSince(
  store: ReadOnlyStore,
  { id: deviceId }: OwnNumber,
  { since, limit }: { since: number; limit: number },
): AsyncGenerator<StoredStory, void, undefined> {
  for (const chat of await chatsSince(store, deviceId, since, limit)) {
    const happened = await readConversation(store, {
      deviceId,
      chats: await keysOf(store, deviceId, chat),
      since: since - FURTHEST_BACK_MS,
      limit: 1000,
    });
    yield tellStory(chat, fromItsBeginning(happened, since));
  }
}

async function chatsSince(
  store: ReadOnlyStore,
  deviceId: number,
  since: number,
  limit: number,
): Promise<string[]> {
  const chats = new Set<string>();
  const after = (last: { receivedAt: number; id: number } | null): [number, number, number, number] => [
    deviceId,
    since,
    last?.receivedAt ?? Number.MAX_SAFE_INTEGER,
    last?.id ?? 0,
  ];
  for await (const page of store.pages(WROTE, after)) {
    const found = page
      .map(({ chat }) => ({ deviceId, chat }))
      .filter(({ chat }) => !chat.endsWith("@newsletter"));
    const canonical = await canonicalChats(store, found);
    for (const one of found) if (chats.size < limit) chats.add(canonical(one));
    if (chats.size >= limit) break;
  }
  return [...chats];
}

async function keysOf(store: ReadOnlyStore, deviceId: number, jid: string): Promise<string[]> {
  const canonical = await canonicalChats(store, [{ deviceId, chat: jid }]);
  const [keys] = await keysOfChats(store, [{ deviceId, chat: canonical({ deviceId, chat: jid }) }]);
  return keys!;
}

/** What was said shortly before belongs to it: somebody may have been in the middle of a form. */
function fromItsBeginning(happened: Happened[], since: number): Happened[] {
  let start = happened.findIndex(({ at }) => at >= since);
  while (start > 0 && happened[start]!.at - happened[start - 1]!.at < NEW_CONVERSATION_MS) start--;
  return happened.slice(Math.max(start, 0));
}

/** Who answers at a number with bots as they are now: their ids, and their settings there. */
export async function botsAt(
  store: ReadOnlyStore,
  { id: deviceId }: OwnNumber,
  bots: WorkingBots,
): Promise<{ ids: string[]; config: Record<string, unknown> }> {
  const read = await bots.open(bots.ids);
  const log = createLogger(loadConfig({ LOG_LEVEL: "silent" }));
  const registry = createRegistry(
    Object.entries(read).map(([id, exported]) => ({ id, file: id, exported })),
    log,
  );
  const readOnly = {
    ...store,
    writer: { commit: () => Promise.reject(new Error("Nothing is written here.")) },
  };
  const bindings = createBindings(readOnly as never, registry, () => undefined);
  await bindings.load();
  const on = bindings.list(deviceId).filter(({ enabled, error }) => enabled && error === undefined);
  const settings = on.flatMap(({ id, config }) => (config === null ? [] : [[id, config] as const]));
  return {
    ids: on.map(({ id }) => id),
    config: on.length === 1 ? (on[0]!.config ?? {}) : Object.fromEntries(settings),
  };
}
