/** What members and admins do to a group, in a word. */
export const GROUP_ACTIONS = [
  "created",
  "subject",
  "description",
  "add",
  "remove",
  "promote",
  "demote",
  "leave",
  "settings",
] as const;
export type GroupAction = (typeof GROUP_ACTIONS)[number];

/** A group was changed, as those who watch it are told. */
export interface GroupHappening {
  /** Of WhatsApp's notification and its place in it: told again, it is the same one. */
  key: string;
  /** `…@g.us` */
  group: string;
  action: GroupAction;
  /** Digits, or `…@lid` while the number is unknown; null: WhatsApp names nobody, as for who follows a link. */
  by: string | null;
  /** Those whom it is about, in the same form. */
  participants: string[];
  /** The new name or description; "" for everything else. */
  text: string;
  /** Unix milliseconds. */
  at: number;
}

/** What somebody is seen to do in a chat. */
export const PRESENCE_STATES = ["typing", "recording", "paused", "online", "offline"] as const;
export type PresenceState = (typeof PRESENCE_STATES)[number];

/** How somebody is, as WhatsApp tells it. */
export interface Presence {
  /** The chat, as it is named on the wire. */
  chat: string;
  /** The person, likewise: in chats with one person the same. */
  person: string;
  state: PresenceState;
  /** Unix milliseconds; null: not told. */
  lastSeen: number | null;
}

/** Somebody goes on under another number, or another LID; addresses on the wire. */
export interface MovedPerson {
  before: { pn: string | null; lid: string | null };
  after: { pn: string | null; lid: string | null };
}
