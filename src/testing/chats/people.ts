import { createConversation, type ConversationDeps } from "./conversation.ts";
import { jidOf, type Contact, type Place } from "./incoming.ts";
import type { Rooms } from "./room.ts";
import type { Conversation, GroupChat } from "../types.ts";

/** What is known of somebody; without a name the number is the name. */
export interface Person {
  name?: string;
  number?: string;
  lid?: string;
}

/** Everybody who writes to the bots. */
export interface People {
  /** Returns another person. The same name again is the same person. */
  as(person: string | Person): Conversation;
  group(name: string, members: readonly string[]): GroupChat;
}

const FIRST_NUMBER = 491700000002;

/** Nobody yet; numbers are given out from 491700000002 upwards. */
export function createPeople(deps: Omit<ConversationDeps, "place" | "room">, rooms: Rooms): People {
  const contacts = new Map<string, Contact>();
  const conversations = new Map<string, Conversation>();

  function contactOf({ name, number, lid }: Person): Contact {
    const key = name ?? number ?? "";
    const known = contacts.get(key);
    if (known !== undefined) return known;
    const contact = {
      name: key,
      number: number ?? String(FIRST_NUMBER + contacts.size),
      lid: lid ?? null,
    };
    contacts.set(key, contact);
    return contact;
  }

  function talk(place: Place): Conversation {
    const key = `${place.chat} ${place.contact.number}`;
    const known = conversations.get(key);
    if (known !== undefined) return known;
    const conversation = createConversation({ ...deps, place, room: rooms.of(place.chat) });
    conversations.set(key, conversation);
    return conversation;
  }

  return {
    as(person) {
      const contact = contactOf(typeof person === "string" ? { name: person } : person);
      return talk({ chat: jidOf(contact.number), kind: "dm", contact });
    },
    group(name, members) {
      if (members.length === 0) throw new Error("A group needs somebody who writes.");
      const chat = `${idOf(name)}@g.us`;
      const as = (member: string): Conversation => {
        if (!members.includes(member)) throw new Error(`${member} is not in the group "${name}".`);
        return talk({ chat, kind: "group", contact: contactOf({ name: member }), group: { name, members } });
      };
      return { ...as(members[0]!), as };
    },
  };
}

/** 18 digits, the same for the same name. */
function idOf(name: string): bigint {
  const letters = [...name].map((letter) => BigInt(letter.codePointAt(0)!));
  return 10n ** 17n + (letters.reduce((sum, letter) => sum * 1_114_111n + letter, 0n) % (9n * 10n ** 17n));
}
