/** What is the same on all devices of an account: its chats' settings, labels, names of contacts. */
import type { Address, PhoneNumber } from "./addresses.ts";

/** A collection of app state. */
export type CollectionName =
  | "critical_block"
  | "critical_unblock_low"
  | "regular_high"
  | "regular_low"
  | "regular";

/** Something that an owner does on the phone and that the companions hear of by app state. `chat`: a number, `…@lid` or `…@g.us`. */
export type AppStateChange =
  | { kind: "archive"; chat: Address; archived: boolean }
  /** `until` in Unix milliseconds, -1 for ever; null ends it. */
  | { kind: "mute"; chat: Address; until: number | null }
  | { kind: "pin"; chat: Address; pinned: boolean }
  | { kind: "star"; chat: Address; messageId: string; fromMe: boolean; starred: boolean }
  | { kind: "label"; id: string; name: string; color?: number; deleted?: boolean }
  | { kind: "labelChat"; id: string; chat: Address; labeled: boolean }
  /** A name in the owner's address book; null takes the contact out of it. */
  | { kind: "contact"; person: Address; name: string | null }
  | { kind: "deleteChat"; chat: Address }
  | { kind: "markRead"; chat: Address; read: boolean }
  | { kind: "pushName"; name: string };

/** How a change is written. */
export interface AppStateWriting {
  /** `new`: with a key that is shared first; `unshared`: with one that the companions are not given before `shareAppStateKeys`. */
  key?: "same" | "new" | "unshared";
  /** The changes lie in a file at the media host, as many of them do. */
  external?: boolean;
}

/** What is wrong with what the service gives out of a collection. */
export type AppStateTrouble =
  /** One byte of each value is another. */
  | "spoilt"
  /** Patches are no protobufs. */
  | "garbage"
  /** Snapshots and files of patches are not at the media host. */
  | "gone"
  /** The collection answers with an error of its own. */
  | "refused";

/** One entry of app state, opened. */
export interface AppStateEntry {
  collection: CollectionName;
  /** The kind, then what it is about. */
  index: string[];
  /** As the protobuf `SyncActionValue` has it. */
  value: Record<string, unknown>;
}

/** What a dirty bit is about. */
export type DirtyType = "account_sync" | "groups" | "syncd_app_state" | "newsletter_metadata" | "communities";

/** App state, as the owner's phone writes it and reads what companions have written. */
export interface AppStateMethods {
  /** The owner does something; the companions are told that there is news. Resolves with the versions that the collections then have. */
  changeAppState(
    number: PhoneNumber,
    changes: AppStateChange | AppStateChange[],
    writing?: AppStateWriting,
  ): Promise<Partial<Record<CollectionName, number>>>;
  /** All that is there, companions' changes included. What of it a phone cannot read is a violation. */
  appState(number: PhoneNumber): Promise<AppStateEntry[]>;
  /** The phone gives its companions all keys that it has. */
  shareAppStateKeys(number: PhoneNumber): Promise<void>;
  /** From now on the service gives out a collection in this way; undefined: as it is. */
  spoilAppState(number: PhoneNumber, collection: CollectionName, trouble?: AppStateTrouble): Promise<void>;
  /** Companions are told that there is news of collections, whatever their names. */
  announceAppState(number: PhoneNumber, collections: string[]): Promise<void>;
  /** Companions are told, now and at each login, that what they know of this is out of date, until they say that it is not. */
  markDirty(number: PhoneNumber, type: DirtyType | (string & {})): Promise<void>;
  /** What companions have not said to be clean. */
  dirty(number: PhoneNumber): Promise<string[]>;
}
