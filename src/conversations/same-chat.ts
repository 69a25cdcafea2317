import { lidMap } from "../../drizzle/schema.ts";
import { defineQuery, integer, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";

/** A chat of a number, by the key under which something of it was stored. */
interface ChatOf {
  deviceId: number;
  chat: string;
}

const NUMBERS = defineQuery(
  `SELECT m.device_id, m.lid_user || '@lid' AS chat, m.pn_user || '@s.whatsapp.net' AS "number"
  FROM json_each(?1) p CROSS JOIN lid_map m
  WHERE m.device_id = json_extract(p.value, '$[0]') AND m.lid_user = json_extract(p.value, '$[1]')`,
  { deviceId: lidMap.deviceId, chat: text(), number: text() },
);
const LIDS = defineQuery(
  `SELECT p."key" AS place, m.lid_user || '@lid' AS chat FROM json_each(?1) p CROSS JOIN lid_map m
  WHERE m.device_id = json_extract(p.value, '$[0]') AND m.pn_user = json_extract(p.value, '$[1]')`,
  { place: integer(), chat: text() },
);

const userOf = (chat: string): string => chat.slice(0, chat.indexOf("@"));
const keyOf = ({ deviceId, chat }: ChatOf): string => `${deviceId}:${chat}`;

/** @returns tells the key of a chat as it is now: a person whose number is known is one chat, under that number */
export async function canonicalChats(
  { read }: Pick<Reading, "read">,
  chats: readonly ChatOf[],
): Promise<(chat: ChatOf) => string> {
  const hidden = new Map(
    chats.filter(({ chat }) => chat.endsWith("@lid")).map((chat) => [keyOf(chat), chat]),
  );
  if (hidden.size === 0) return ({ chat }) => chat;
  const pairs = [...hidden.values()].map(({ deviceId, chat }) => [deviceId, userOf(chat)]);
  const known = await read(NUMBERS, [JSON.stringify(pairs)]);
  const numbers = new Map(known.map((row) => [keyOf(row), row.number]));
  return (chat) => numbers.get(keyOf(chat)) ?? chat.chat;
}

/** @returns for each chat, under which keys it may be stored, the canonical one first */
export async function keysOfChats(
  { read }: Pick<Reading, "read">,
  chats: readonly ChatOf[],
): Promise<string[][]> {
  const keys = chats.map(({ chat }) => [chat]);
  const pairs = chats.map(({ deviceId, chat }) =>
    chat.endsWith("@s.whatsapp.net") ? [deviceId, userOf(chat)] : [deviceId, ""],
  );
  for (const { place, chat } of await read(LIDS, [JSON.stringify(pairs)])) keys[place]!.push(chat);
  return keys;
}

/** @returns under which keys a chat may be stored at any of the numbers, as it was given first */
export async function keysOfChat(
  store: Pick<Reading, "read">,
  deviceIds: readonly number[],
  chat: string,
): Promise<string[]> {
  const asked = deviceIds.map((deviceId) => ({ deviceId, chat }));
  const canonical = await canonicalChats(store, asked);
  const keys = await keysOfChats(
    store,
    asked.map((one) => ({ deviceId: one.deviceId, chat: canonical(one) })),
  );
  return [...new Set([chat, ...keys.flat()])];
}
