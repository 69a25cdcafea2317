import { chatState, decisions, inbox } from "../../drizzle/schema.ts";
import { isImported } from "../model/messages.ts";
import { newestFirst, placeOf } from "../model/page.ts";
import { defineQuery, integer, nullable, text } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { settingsOf, type ShownSettings } from "./chat-settings.ts";
import type { Contents, ListedMessage, OwnNumber } from "./records.ts";
import { canonicalChats, keysOfChat, keysOfChats } from "./same-chat.ts";
import { readPlaced, shownAddress } from "./shown.ts";
import { rowOf, spotsBefore, STREAMS, type Spot, type Stream } from "./spots.ts";
import { walk } from "../store/walk.ts";

/** A chat of a number, with its last message. Times are Unix milliseconds. */
export interface ListedChat extends ShownSettings {
  /** The number itself, digits. */
  sender: string;
  /** What `number` of a send accepts. */
  chat: string;
  /** Of the group or channel, or what the person calls himself; null when unknown. */
  name: string | null;
  isGroup: boolean;
  last: ListedMessage;
  /** The other side has written last, and since the number was linked. */
  unanswered: boolean;
  /** Messages of the other side since somebody last read the chat, at most {@link MOST_UNREAD}. */
  unread: number;
  /** Bots are silent until then; null when they are not. */
  takenOverUntil: number | null;
  /** Id of the bot that answered the last message that was answered; null when none did. */
  bot: string | null;
}

/** Which chats are wanted; those written in last come first. */
export interface ChatFilter {
  /** Numbers whose chats may be seen. */
  devices: readonly OwnNumber[];
  /** One chat alone: its address in any of its forms, as on the wire. */
  chat?: string;
  /** A part of the name, or of the digits. */
  q?: string;
  /** True: only those in which the other side has written last; false: only the others. */
  unanswered?: boolean;
  limit: number;
  /** `next` of the page before, or an ISO time. */
  before?: string;
  /** Whether a chat may be seen, by its names as they are shown, the canonical one first; null: all may. */
  allowed: ((names: string[]) => boolean) | null;
}

/** One page of chats. */
export interface ChatPage {
  /** All that the filter matches, when the first page holds them all; else null. */
  total: number | null;
  /** `before` of the next page; null at the end. A page may be short, and go on nonetheless. */
  next: string | null;
  chats: ListedChat[];
}

/** Chats of numbers. */
export interface ChatList {
  list(filter: ChatFilter): Promise<ChatPage>;
}

/** What the list of chats takes from those who know names. */
export interface ChatNames {
  /** Names of a number's groups and channels, by their ids. */
  names(deviceId: number): Promise<Map<string, string>>;
}

/** A chat by one of its messages, and every key that it was ever stored under. */
interface Keyed extends Spot {
  canonical: string;
  keys: string[];
}

/** A chat that may be on the page; `received` is the newest of the other side, null when there is none. */
interface Candidate extends Keyed {
  received: ReceivedRow | null;
}

const LISTED = "type <> 'timer' AND chat <> 'status@broadcast'";
const OF_KEY = "WHERE device_id = json_extract(k.value, '$[1]') AND chat = json_extract(k.value, '$[2]')";
const EACH_KEY = "SELECT json_extract(k.value, '$[0]') AS place";

const PLACED = { place: integer(), id: integer(), at: integer() };

/** @param shape of what is read besides, and `columns` that name it */
function newestReceived<Shape extends Parameters<typeof defineQuery>[1]>(
  fromMe: 0 | 1,
  shape: Shape,
  columns: string,
) {
  return defineQuery(
    `${EACH_KEY}, i.id, i.received_at AS at${columns} FROM json_each(?1) k CROSS JOIN inbox i WHERE i.id =
    (SELECT id FROM inbox ${OF_KEY} AND from_me = ${fromMe} AND ${LISTED} ORDER BY received_at DESC, id DESC LIMIT 1)`,
    { ...PLACED, ...shape },
  );
}
const NEWEST_RECEIVED = newestReceived(
  0,
  { deviceId: inbox.deviceId, waId: inbox.waId, body: inbox.body },
  ", i.device_id, i.wa_id, i.body",
);
const NEWEST_TYPED = newestReceived(1, {}, "");
type ReceivedRow = ReturnType<typeof NEWEST_RECEIVED.decode>[number];
const NEWEST_SENT = defineQuery(
  `${EACH_KEY}, o.id, o.created_at AS at FROM json_each(?1) k CROSS JOIN outbox o WHERE o.id =
  (SELECT id FROM outbox ${OF_KEY} ORDER BY created_at DESC, id DESC LIMIT 1)`,
  PLACED,
);
const TAKEN = defineQuery(
  `${EACH_KEY}, s.takeover_until AS "until" FROM json_each(?1) k CROSS JOIN chat_state s
  ${OF_KEY} AND takeover_until > ?2`,
  { place: integer(), until: nullable(chatState.takeoverUntil) },
);
/** More are not counted: a chat that nobody ever reads costs no more than this. */
export const MOST_UNREAD = 100;
const READ = defineQuery(
  `${EACH_KEY}, s.read_at AS at FROM json_each(?1) k CROSS JOIN chat_state s ${OF_KEY} AND read_at IS NOT NULL`,
  { place: integer(), at: integer() },
);
// The newest rows of each key, and among them what a phone counts. What was imported is no news.
const UNREAD = defineQuery(
  `${EACH_KEY}, count(*) AS unread FROM json_each(?1) k CROSS JOIN inbox i WHERE i.id IN
  (SELECT id FROM inbox ${OF_KEY} AND from_me = 0 AND id > 0 AND ${LISTED} AND received_at > json_extract(k.value, '$[3]')
    ORDER BY received_at DESC LIMIT ${MOST_UNREAD})
  AND i.type NOT IN ('reaction', 'poll_vote', 'edit', 'revoke') GROUP BY k."key"`,
  { place: integer(), unread: integer() },
);
const ANSWERED = defineQuery(
  `${EACH_KEY}, d."by", d.at FROM json_each(?1) k CROSS JOIN decisions d WHERE d.inbox_id =
  (SELECT inbox_id FROM decisions ${OF_KEY} ORDER BY at DESC, inbox_id DESC LIMIT 1)`,
  { place: integer(), by: nullable(text()), at: decisions.at },
);

/** What is read of chats, and what names them. */
interface Sources extends ChatNames {
  store: Pick<Store, "read" | "now">;
  contents: Contents;
}

/** Chats are found by their newest messages, from the newest on: nothing is kept of a chat but its messages. */
export function createChatList(store: Sources["store"], contents: Contents, { names }: ChatNames): ChatList {
  const sources: Sources = { store, contents, names };
  return {
    async list({ devices, chat, q, unanswered, limit, before, allowed }) {
      const deviceIds = devices.map(({ id }) => id);
      const wanted = {
        deviceIds,
        streams: STREAMS,
        chats: chat === undefined ? null : await keysOfChat(store, deviceIds, chat),
        state: null,
        since: 0,
      };
      const accept = async (spots: Spot[]): Promise<Candidate[]> => {
        const chats = await chatsOf(store, spots);
        const seen = allowed === null ? chats : chats.filter(({ keys }) => allowed(keys.map(shownAddress)));
        const all = await candidates(store, seen);
        // What is sought goes first: for the others nothing more is read.
        const found = q === undefined ? all : await matching(sources, all, q);
        if (found.length === 0) return [];
        const fresh = await newHere(store, found);
        // Every chat stands here by its newest message.
        return unanswered === undefined ? fresh : fresh.filter((spot) => isToAnswer(spot) === unanswered);
      };
      const from = placeOf(before);
      const { items, next } = await walk(from, limit, spotsBefore(store, wanted, from), accept);
      return {
        total: before === undefined && next === null ? items.length : null,
        next,
        chats: await described(sources, items, devices),
      };
    },
  };
}

/** The chats of some messages, each by the newest of them, under every key that it was ever stored under. */
async function chatsOf(store: Sources["store"], spots: Spot[]): Promise<Keyed[]> {
  const canonical = await canonicalChats(store, spots);
  const first = new Map<string, Spot & { canonical: string }>();
  for (const spot of spots) {
    const chat = canonical(spot);
    const key = `${spot.deviceId}:${chat}`;
    if (!first.has(key)) first.set(key, { ...spot, canonical: chat });
  }
  const chats = [...first.values()];
  const keys = await keysOfChats(
    store,
    chats.map((spot) => ({ deviceId: spot.deviceId, chat: spot.canonical })),
  );
  return chats.map((spot, index) => ({ ...spot, keys: keys[index]! }));
}

/** With the newest that came in each, which has the name of who wrote it. */
async function candidates(store: Sources["store"], all: Keyed[]): Promise<Candidate[]> {
  const rows = await store.read(NEWEST_RECEIVED, [keysOf(all)]);
  const received = new Map<number, ReceivedRow>();
  // Of several keys, the newest.
  for (const row of rows.toSorted((a, b) => a.at - b.at || a.id - b.id)) received.set(row.place, row);
  return all.map((spot, place) => ({ ...spot, received: received.get(place) ?? null }));
}

/** A chat whose newest message, under whatever key, stands before this page has been on an earlier one. */
async function newHere(store: Sources["store"], all: Candidate[]): Promise<Candidate[]> {
  const seen = new Set<number>();
  const note = (stream: Stream, rows: { place: number; id: number; at: number }[]): void => {
    for (const { place, id, at } of rows)
      if (newestFirst({ at, row: rowOf(stream, id) }, all[place]!) < 0) seen.add(place);
  };
  note(
    "in",
    all.flatMap(({ received }, place) => (received === null ? [] : [{ ...received, place }])),
  );
  const keys = keysOf(all);
  note("typed", await store.read(NEWEST_TYPED, [keys]));
  note("sent", await store.read(NEWEST_SENT, [keys]));
  return all.filter((_, place) => !seen.has(place));
}

/** What chats are called; of those that nobody asks about nothing is opened. */
async function nameOf(
  { names, contents }: Omit<Sources, "store">,
  all: Candidate[],
): Promise<(one: Candidate) => string | null> {
  const known = new Map<number, Map<string, string>>();
  for (const { deviceId } of all) if (!known.has(deviceId)) known.set(deviceId, await names(deviceId));
  return ({ deviceId, canonical, received }) => {
    const listed = known.get(deviceId)!.get(canonical);
    if (listed !== undefined) return listed;
    return (isPerson(canonical) && received !== null ? pushNameOf(contents, received) : "") || null;
  };
}

function pushNameOf(contents: Contents, { deviceId, waId, body }: ReceivedRow): string {
  try {
    return contents.openIncoming(deviceId, waId, body).pushName;
  } catch {
    return "";
  }
}

async function matching(sources: Sources, all: Candidate[], q: string): Promise<Candidate[]> {
  const wanted = q.trim().toLowerCase();
  const digits = /^[\d\s+().-]+$/.test(wanted) ? wanted.replace(/\D/g, "") : "";
  const called = await nameOf(sources, all);
  return all.filter(
    (one) =>
      (digits !== "" && one.canonical.includes(digits)) || (called(one) ?? "").toLowerCase().includes(wanted),
  );
}

/** @param keys as the statements take them @returns by place */
async function unreadOf(store: Sources["store"], keys: string): Promise<Map<number, number>> {
  const readAt = new Map<number, number>();
  for (const { place, at } of await store.read(READ, [keys]))
    readAt.set(place, Math.max(at, readAt.get(place) ?? 0));
  const since = (JSON.parse(keys) as [number, ...unknown[]][]).map((key) => [
    ...key,
    readAt.get(key[0]) ?? 0,
  ]);
  const found = new Map<number, number>();
  for (const { place, unread } of await store.read(UNREAD, [JSON.stringify(since)]))
    found.set(place, Math.min(MOST_UNREAD, unread + (found.get(place) ?? 0)));
  return found;
}

async function described(
  sources: Sources,
  all: Candidate[],
  devices: readonly OwnNumber[],
): Promise<ListedChat[]> {
  const { store, contents } = sources;
  const keys = keysOf(all);
  const [called, messages, taken, answered, unread, settings] = await Promise.all([
    nameOf(sources, all),
    readPlaced(store, contents, devices, all),
    store.read(TAKEN, [keys, store.now()]),
    store.read(ANSWERED, [keys]),
    unreadOf(store, keys),
    settingsOf(store, keys, (place) => all[place]!.canonical.endsWith("@g.us")),
  ]);
  // Between finding and reading, a message may have been deleted: its chat is left out, and no other takes its name.
  const places = new Map(all.map(({ row }, place) => [row, place]));
  return messages.map(({ row, message: last }) => {
    const place = places.get(row)!;
    const [by] = answered.filter((one) => one.place === place).toSorted((a, b) => b.at - a.at);
    const until = Math.max(0, ...taken.filter((one) => one.place === place).map(({ until: at }) => at ?? 0));
    return {
      ...settings(place),
      sender: last.sender,
      chat: last.chat,
      name: called(all[place]!),
      isGroup: last.chat.endsWith("@g.us"),
      last,
      unanswered: isToAnswer(all[place]!),
      unread: unread.get(place) ?? 0,
      takenOverUntil: until || null,
      bot: /^bot:(.+)$/.exec(by?.by ?? "")?.[1] ?? null,
    };
  });
}

/** What was imported is answered by nobody. */
const isToAnswer = ({ stream, id }: Pick<Spot, "stream" | "id">): boolean =>
  stream === "in" && !isImported(id);

const isPerson = (chat: string): boolean => chat.endsWith("@s.whatsapp.net") || chat.endsWith("@lid");

/** `[[place, device, key], …]`, as the statements take them. */
const keysOf = (all: Pick<Keyed, "deviceId" | "keys">[]): string =>
  JSON.stringify(all.flatMap(({ deviceId, keys }, place) => keys.map((key) => [place, deviceId, key])));
