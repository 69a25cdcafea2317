import { outbox } from "../../drizzle/schema.ts";
import { placeOf, type Place } from "../model/page.ts";
import type { SentState } from "../model/messages.ts";
import { defineQuery } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import type { Contents, ListedMessage, OwnNumber } from "./records.ts";
import { canonicalChats, keysOfChats } from "./same-chat.ts";
import { readMessages, shownAddress } from "./shown.ts";
import { spotsBefore, STREAMS, type Spot, type Stream, type Wanted } from "./spots.ts";
import { walk } from "./walk.ts";

/** Which messages are wanted; those newest first. */
export interface MessageFilter {
  /** Numbers whose messages may be seen. */
  devices: readonly OwnNumber[];
  /** Address of a chat in any of its forms, as on the wire. */
  chat?: string;
  direction?: "in" | "out";
  /** Only messages that the gateway sends have one. */
  state?: SentState;
  /** Unix milliseconds. */
  since?: number;
  limit: number;
  /** `next` of the page before, or an ISO time: only older ones. */
  before?: string;
  /** Whether a chat may be seen, by its names as they are shown, the canonical one first; null: all may. */
  allowed: ((names: string[]) => boolean) | null;
}

/** One page of messages. */
export interface MessagePage {
  /** All that the filter matches, when the first page holds them all; else null. */
  total: number | null;
  /** `before` of the next page; null at the end. A page may be short, and go on nonetheless. */
  next: string | null;
  /** Newest first. */
  messages: ListedMessage[];
}

/** What numbers received and sent. */
export interface Messages {
  list(filter: MessageFilter): Promise<MessagePage>;
}

const SENT_BY_US = defineQuery(
  `SELECT o.device_id, o.wa_id FROM json_each(?1) p CROSS JOIN outbox o
  WHERE o.device_id = json_extract(p.value, '$[0]') AND o.wa_id = json_extract(p.value, '$[1]')`,
  { deviceId: outbox.deviceId, waId: outbox.waId },
);

/** Reads the tables `inbox` and `outbox` as one list; keeps nothing in memory. */
export function createMessages(store: Pick<Reading, "read">, contents: Contents): Messages {
  /** What comes back from WhatsApp because this gateway sent it is in the list already. */
  async function withoutEchoes(spots: Spot[]): Promise<Spot[]> {
    const pairs = spots
      .filter(({ stream, chat }) => stream === "typed" || (stream === "in" && chat.endsWith("@newsletter")))
      .map(({ deviceId, waId }) => [deviceId, waId]);
    if (pairs.length === 0) return spots;
    const ours = await store.read(SENT_BY_US, [JSON.stringify(pairs)]);
    const known = new Set(ours.map(({ deviceId, waId }) => `${deviceId}:${waId}`));
    return spots.filter(
      ({ stream, deviceId, waId }) => stream === "sent" || !known.has(`${deviceId}:${waId}`),
    );
  }

  async function seenBy(spots: Spot[], allowed: (names: string[]) => boolean): Promise<Spot[]> {
    const canonical = await canonicalChats(store, spots);
    const chats = new Map(
      spots.map((spot) => {
        const chat = { deviceId: spot.deviceId, chat: canonical(spot) };
        return [`${chat.deviceId}:${chat.chat}`, chat];
      }),
    );
    const keys = await keysOfChats(store, [...chats.values()]);
    const seen = new Set([...chats.keys()].filter((_, index) => allowed(keys[index]!.map(shownAddress))));
    return spots.filter((spot) => seen.has(`${spot.deviceId}:${canonical(spot)}`));
  }

  async function keysOf(deviceIds: number[], chat: string): Promise<string[]> {
    const asked = deviceIds.map((deviceId) => ({ deviceId, chat }));
    const canonical = await canonicalChats(store, asked);
    const keys = await keysOfChats(
      store,
      asked.map((one) => ({ deviceId: one.deviceId, chat: canonical(one) })),
    );
    return [...new Set([chat, ...keys.flat()])];
  }

  return {
    async list({ devices, chat, direction, state, since = 0, limit, before, allowed }) {
      const deviceIds = devices.map(({ id }) => id);
      const wanted: Wanted = {
        deviceIds,
        streams: streamsFor(direction, state),
        chats: chat === undefined ? null : await keysOf(deviceIds, chat),
        state: state ?? null,
        since,
      };
      const accept = async (spots: Spot[]): Promise<Spot[]> => {
        const inState = state === undefined ? spots : spots.filter((spot) => spot.state === state);
        const own = await withoutEchoes(inState);
        if (allowed === null) return own;
        return seenBy(own, allowed);
      };
      const more = (from: Place, count: number): Promise<Spot[]> => spotsBefore(store, wanted, from, count);
      const { items, next } = await walk(placeOf(before), limit, more, accept);
      return {
        total: before === undefined && next === null ? items.length : null,
        next,
        messages: await readMessages(store, contents, devices, items),
      };
    },
  };
}

/** Only what the gateway sends has a state. */
function streamsFor(direction: "in" | "out" | undefined, state: string | undefined): readonly Stream[] {
  const streams = direction === undefined ? STREAMS : direction === "in" ? IN : OUT;
  return state === undefined ? streams : streams.filter((stream) => stream === "sent");
}

const IN: readonly Stream[] = ["in"];
const OUT: readonly Stream[] = ["typed", "sent"];
