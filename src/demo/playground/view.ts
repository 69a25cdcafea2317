/** What the playground's page is told, as JSON. Types alone: the page imports them. */

/** How a contact can be reached, and what WhatsApp tells of it. */
export type PhoneKind = "owner" | "number" | "lid" | "hidden";

/** One simulated phone. */
export interface PhoneView {
  /** Digits. */
  number: string;
  name: string;
  kind: PhoneKind;
  /** Digits of its LID. */
  lid: string;
  online: boolean;
}

/** A group of phones; the linked number is always a member. */
export interface GroupView {
  /** `…@g.us` */
  id: string;
  subject: string;
  /** Digits. */
  members: string[];
}

/** A file that came with a message, or went. */
export interface MediaView {
  mimetype: string;
  /** Bytes. */
  size: number;
  fileName?: string;
  seconds?: number;
}

/** What a person wrote about a message, or as one. */
export interface LineBody {
  /** As the simulator names it: `text`, `image`, `poll`, `vote`, `reaction`, `edit`, `revoke`, … */
  kind: string;
  /** The text, the caption, the question of a poll, the emoji of a reaction, the new text of an edit. */
  text?: string;
  media?: MediaView;
  poll?: { options: string[]; selectable: number };
  /** Of a vote. */
  choices?: string[];
  location?: { latitude: number; longitude: number; name?: string };
  contacts?: { name: string }[];
  /** The message that a reaction, edit, revoke or vote is about. */
  target?: string;
  quoted?: { id: string; text?: string };
}

/** In a few words, what became of a message at the gateway; see `GET /messages/{id}/trace`. */
export interface WhyView {
  outcome: string;
  /** `bot:menu`, `webhook`, `api`: who answered, or for a reply who wrote it. */
  by: string | null;
  silence: { reason: string; text: string } | null;
}

/** What the code of a bot has thrown or logged about a message, in development. */
export interface NoteView {
  kind: "error" | "warning";
  text: string;
  /** In the author's files, the nearest first: `sum.ts:3:9`. */
  places: string[];
}

/** A message on one phone. */
export interface Line extends LineBody {
  /** Rises with each change of any line. */
  version: number;
  /** Its place on the phone, rising. */
  place: number;
  /** Digits of the phone that shows it. */
  phone: string;
  /** Digits of the partner, or `…@g.us`. */
  chat: string;
  id: string;
  /** Digits. */
  from: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The gateway has taken it (`to_companion` in the transcript); null: it was not for the gateway. */
  taken: boolean | null;
  why: WhyView | null;
  notes: NoteView[];
}

/** A phone calls the number. */
export interface CallView {
  /** Digits of the caller. */
  phone: string;
  state: "ringing" | "accepted" | "rejected" | "ended";
}

/** What can be made to go wrong, and stays so until it is switched off. */
export const FAULTS = ["slow", "backlog", "refused", "webhook", "passkey"] as const;
/** One of {@link FAULTS}. */
export type FaultName = (typeof FAULTS)[number];

/** A file that can be sent. */
export interface FileView {
  id: string;
  name: string;
  mimetype: string;
  /** As which kind of message it is sent. */
  kind: "image" | "video" | "audio" | "voice" | "document" | "sticker";
  /** It comes with the demo. */
  sample: boolean;
}

/** How the linked number stands. */
export interface NumberView {
  /** Digits. */
  digits: string;
  name: string;
  /** As `GET /devices/{number}` has it; null: the gateway does not answer. */
  state: string | null;
  /** What to do, in the gateway's words. */
  advice: string | null;
  /** PNG as a data URL, while it waits to be scanned. */
  qr: string | null;
  /** WhatsApp waits for the owner's passkey. */
  passkey: boolean;
}

/** A change of files, and what it meant. */
export interface ReloadView {
  /** Milliseconds since 1970. */
  at: number;
  /** `loaded`: of files that bots share. */
  what: "reloaded" | "added" | "removed" | "loaded" | "broken";
  /** Id of the bot, or names of the files. */
  name: string;
}

/** What is wrong with a bot's file. */
export interface BotTroubleView {
  bot: string;
  /** Why it cannot be loaded, with file and line. */
  error: string | null;
  /** What it was before goes on. */
  kept: boolean;
  /** What its author may not have meant, each with file and line. */
  warnings: string[];
}

/** Bots whose files are read again when they change. */
export interface AuthorView {
  /** As whoever started it would name it. */
  folder: string;
  troubles: BotTroubleView[];
  /** The last ones, newest first. */
  reloads: ReloadView[];
}

/** What the judge of the crash drills finds. */
export interface VerdictView {
  /** Milliseconds since 1970. */
  at: number;
  /** Messages looked at, in and out. */
  messages: number;
  lost: number;
  doubled: number;
  outOfOrder: number;
  refused: number;
  /** What is wrong, or still under way, one line each. */
  problems: string[];
}

/** Everything but the messages. */
export interface WorldView {
  number: NumberView;
  gateway: { url: string; up: boolean; kills: number };
  phones: PhoneView[];
  groups: GroupView[];
  calls: CallView[];
  faults: Record<FaultName, boolean>;
  bots: string[];
  /** Null: the bots are those of the build. */
  author: AuthorView | null;
  files: FileView[];
  webhook: { url: string; taken: number; refused: number };
  verdict: VerdictView | null;
  judging: boolean;
}

/** Events of `GET /playground/api/events`, each one line of JSON. */
export type PlaygroundEvent =
  | { type: "all"; world: WorldView; lines: Line[] }
  | { type: "world"; world: WorldView }
  | { type: "line"; line: Line };
