import { describeReply, replyOf } from "./replies.ts";
import type { Reply } from "../types.ts";
import type { Sent } from "../gateway/wire.ts";

/** What was said in one chat, by whom, in the order in which WhatsApp had it. */
export interface Room {
  readonly lines: readonly string[];
  readonly replies: readonly Reply[];
  /** How many of the replies a test has looked at. */
  seen: number;
  /** Id of the last message of each contact, for edits. */
  lastFrom: Map<string, string>;
  said(who: string, text: string): void;
}

/** What was said in all chats of one test. */
export interface Rooms {
  of(chat: string): Room;
  sent(message: Sent): void;
  /** By chat. */
  all(): ReadonlyMap<string, Room>;
}

/** Rooms that are made when something is first said in their chat. */
export function createRooms(): Rooms {
  const rooms = new Map<string, Room & { lines: string[]; replies: Reply[] }>();
  function of(chat: string) {
    const known = rooms.get(chat);
    if (known !== undefined) return known;
    const lines: string[] = [];
    const room = {
      lines,
      replies: [] as Reply[],
      seen: 0,
      lastFrom: new Map<string, string>(),
      said: (who: string, text: string) => void lines.push(`${who}: ${text.replaceAll("\n", "\n     ")}`),
    };
    rooms.set(chat, room);
    return room;
  }
  return {
    of,
    sent(message) {
      const room = of(message.jid);
      const reply = replyOf(message);
      room.replies.push(reply);
      room.said("bot", describeReply(reply));
    },
    all: () => rooms,
  };
}
