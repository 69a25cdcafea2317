import { outbox } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import { BEFORE_ALL_ROWS, placeOf, type Place } from "../model/page.ts";
import type { SentState } from "../model/messages.ts";
import { defineQuery } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import type { Contents, ListedMessage, OwnNumber } from "./records.ts";
import { keysOfChat } from "./same-chat.ts";
import { chatsSeen } from "./seen.ts";
import { readMessages, readPlaced } from "./shown.ts";
import { spotsBefore, STREAMS, type Spot, type Stream, type Wanted } from "./spots.ts";
import { walk } from "../store/walk.ts";

/** Which messages are wanted; those newest first. */
export interface MessageFilter {
  /** Numbers whose messages may be seen. */
  devices: readonly OwnNumber[];
  /** Address of a chat in any of its forms, as on the wire. */
  chat?: string;
  direction?: "in" | "out";
  /** Only messages that the gateway sends have one. */
  state?: SentState;
  /** A part of the text, in whatever case and with or without accents. */
  q?: string;
  /** Unix milliseconds. */
  since?: number;
  /** The same; what is of this very millisecond is among them. */
  until?: number;
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

/** Messages that are opened for one page of a search. */
const MOST_SEARCHED = 500;
/** Characters that are looked through before others have their turn: some milliseconds. */
const SEARCHED_AT_ONCE = 100_000;

const SENT_BY_US = defineQuery(
  `SELECT o.device_id, o.wa_id FROM json_each(?1) p CROSS JOIN outbox o
  WHERE o.device_id = json_extract(p.value, '$[0]') AND o.wa_id = json_extract(p.value, '$[1]')`,
  { deviceId: outbox.deviceId, waId: outbox.waId },
);

/** What comes back from WhatsApp because this gateway sent it is in the list already. */
export async function withoutEchoes({ read }: Pick<Reading, "read">, spots: Spot[]): Promise<Spot[]> {
  const pairs = spots
    .filter(({ stream, chat }) => stream === "typed" || (stream === "in" && chat.endsWith("@newsletter")))
    .map(({ deviceId, waId }) => [deviceId, waId]);
  if (pairs.length === 0) return spots;
  const ours = await read(SENT_BY_US, [JSON.stringify(pairs)]);
  const known = new Set(ours.map(({ deviceId, waId }) => `${deviceId}:${waId}`));
  return spots.filter(({ stream, deviceId, waId }) => stream === "sent" || !known.has(`${deviceId}:${waId}`));
}

/** Reads the tables `inbox` and `outbox` as one list; keeps nothing in memory. */
export function createMessages(store: Pick<Reading, "read">, contents: Contents): Messages {
  /** Texts are sealed: whoever looks for words has each message opened. */
  async function saying(
    spots: Spot[],
    devices: readonly OwnNumber[],
    words: (text: string) => boolean,
  ): Promise<Spot[]> {
    const said = new Set<number>();
    let looked = 0;
    for (const { row, message } of await readPlaced(store, contents, devices, spots)) {
      if (words(message.message)) said.add(row);
      looked += message.message.length;
      if (looked < SEARCHED_AT_ONCE) continue;
      looked = 0;
      await giveWay();
    }
    return spots.filter(({ row }) => said.has(row));
  }

  return {
    async list({ devices, chat, direction, state, q, since = 0, until, limit, before, allowed }) {
      const deviceIds = devices.map(({ id }) => id);
      const wanted: Wanted = {
        deviceIds,
        streams: streamsFor(direction, state),
        chats: chat === undefined ? null : await keysOfChat(store, deviceIds, chat),
        state: state ?? null,
        since,
      };
      const words = q === undefined ? null : saysOf(q);
      const accept = async (spots: Spot[]): Promise<Spot[]> => {
        const inState = state === undefined ? spots : spots.filter((spot) => spot.state === state);
        const own = await withoutEchoes(store, inState);
        const seen = allowed === null ? own : await chatsSeen(store, own, allowed);
        return words === null ? seen : saying(seen, devices, words);
      };
      const from = upTo(until, placeOf(before));
      const more = spotsBefore(store, wanted, from);
      const { items, next } = await walk(
        from,
        limit,
        more,
        accept,
        q === undefined ? undefined : MOST_SEARCHED,
      );
      return {
        total: before === undefined && next === null ? items.length : null,
        next,
        messages: await readMessages(store, contents, devices, items),
      };
    },
  };
}

/** Whichever of the two is the older. */
const upTo = (until: number | undefined, place: Place): Place =>
  until === undefined || until >= place.at ? place : { at: until + 1, row: BEFORE_ALL_ROWS };

/** Only what the gateway sends has a state. */
function streamsFor(direction: "in" | "out" | undefined, state: string | undefined): readonly Stream[] {
  const streams = direction === undefined ? STREAMS : direction === "in" ? IN : OUT;
  return state === undefined ? streams : streams.filter((stream) => stream === "sent");
}

const IN: readonly Stream[] = ["in"];
const OUT: readonly Stream[] = ["typed", "sent"];

const folded = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** @returns whether a text says it */
function saysOf(words: string): (text: string) => boolean {
  const wanted = folded(words);
  return (text) => folded(text).includes(wanted);
}
