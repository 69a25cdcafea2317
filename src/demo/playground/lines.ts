import type { AcceptedMessage, TranscriptEntry } from "../../simulator/types.ts";
import type { MessageBody } from "../../simulator/types.ts";
import type { Line, LineBody, NoteView, WhyView } from "./view.ts";

/** More would slow the page down; the oldest are forgotten. */
const MOST_LINES = 4_000;
/** Not messages that a person would see. */
const UNSEEN = new Set(["sender_key", "protocol", "unknown", "timer", "album"]);

/** What all phones show, in the order in which they showed it. */
export interface Lines {
  /** Something came to a device. */
  came(entry: TranscriptEntry): void;
  /** A phone has sent something itself. */
  wrote(phone: string, message: AcceptedMessage, forGateway: boolean): void;
  /** What the gateway says of a message, wherever it is shown. */
  explain(id: string, why: WhyView): void;
  /** What the code of a bot has to say about a message, wherever it is shown. */
  note(id: string, note: NoteView): void;
  all(): Line[];
  ofChat(phone: string, chat: string): Line[];
  /** Called with each line that is new or has changed. */
  onChange(listener: (line: Line) => void): void;
}

/** Of a message of which nothing is said. */
const nothing: Pick<Line, "why" | "notes"> = { why: null, notes: [] };

/** No lines yet. */
export function createLines(): Lines {
  const lines = new Map<string, Line>();
  const byId = new Map<string, Line[]>();
  /**
   * Ids that the gateway has taken, maybe before the sender's phone was asked what it wrote: the place that is theirs, because
   * the answer may be on the phone by then.
   */
  const taken = new Map<string, Pick<Line, "place">>();
  /** What is said of messages, maybe before we hear of them: the gateway is as fast as the transcript. */
  const said = new Map<string, Pick<Line, "why" | "notes">>();
  const listeners = new Set<(line: Line) => void>();
  let version = 0;

  const tell = (line: Line): void => {
    line.version = ++version;
    for (const listener of listeners) listener(line);
  };
  const show = (shown: Omit<Line, "version" | "place" | "why" | "notes">): void => {
    const key = keyOf(shown);
    const known = lines.get(key);
    if (known !== undefined) {
      // A phone shows an id once, however often it comes; what is read late fills what was there.
      if (known.kind === shown.kind) return;
      Object.assign(known, shown);
      return tell(known);
    }
    const before = shown.taken === true ? taken.get(shown.id) : undefined;
    const line: Line = {
      ...shown,
      version: 0,
      place: version + 1,
      ...nothing,
      ...before,
      ...said.get(shown.id),
    };
    lines.set(key, line);
    byId.set(line.id, [...(byId.get(line.id) ?? []), line]);
    forgetOldest(lines, byId);
    tell(line);
  };
  const change = <K extends "why" | "notes">(id: string, what: K, next: (now: Line[K]) => Line[K]): void => {
    const before = said.get(id) ?? nothing;
    said.set(id, { ...before, [what]: next((before as Pick<Line, K>)[what]) });
    for (const line of byId.get(id) ?? []) {
      const changed = next(line[what]);
      if (JSON.stringify(line[what]) === JSON.stringify(changed)) continue;
      line[what] = changed;
      tell(line);
    }
  };
  return {
    came(entry) {
      const { id, from, to, at, chat } = entry;
      if (UNSEEN.has(entry.kind) || !entry.decrypted) return;
      if (entry.direction === "to_companion") {
        if (!taken.has(id)) taken.set(id, { place: ++version });
        for (const line of byId.get(id) ?? []) {
          if (line.taken !== false) continue;
          line.taken = true;
          tell(line);
        }
        return;
      }
      if (entry.device !== 0) return;
      show({ phone: to, chat, id, from, at, taken: null, ...bodyOf(entry) });
    },
    wrote(phone, message, forGateway) {
      const { id, at, chat } = message;
      const isTaken = forGateway ? taken.has(id) : null;
      show({ phone, chat, id, from: phone, at, taken: isTaken, ...bodyOf(message) });
    },
    explain: (id, why) => change(id, "why", () => why),
    note: (id, note) =>
      change(id, "notes", (now) => (now.some(({ text }) => text === note.text) ? now : [...now, note])),
    all: () => [...lines.values()],
    ofChat: (phone, chat) => [...lines.values()].filter((line) => line.phone === phone && line.chat === chat),
    onChange: (listener) => void listeners.add(listener),
  };
}

const keyOf = ({ phone, from, id }: Pick<Line, "phone" | "from" | "id">): string => `${phone} ${from} ${id}`;

function forgetOldest(lines: Map<string, Line>, byId: Map<string, Line[]>): void {
  for (const [key, line] of lines) {
    if (lines.size <= MOST_LINES) return;
    lines.delete(key);
    byId.delete(line.id);
  }
}

/** What the page needs of a message's content. */
function bodyOf(message: MessageBody): LineBody {
  const { kind, text, media, poll, choices, location, contacts, target, quoted } = message;
  const said: Record<string, unknown> = {
    text,
    choices,
    target,
    location: location && {
      latitude: location.latitude,
      longitude: location.longitude,
      ...(location.name !== undefined && { name: location.name }),
    },
    contacts: contacts?.map(({ name }) => ({ name })),
    quoted: quoted && { id: quoted.id, ...(quoted.text !== undefined && { text: quoted.text }) },
    poll: poll && { options: poll.options, selectable: poll.selectable },
    media: media && {
      mimetype: media.mimetype,
      size: media.size,
      ...(media.fileName !== undefined && { fileName: media.fileName }),
      ...(media.seconds !== undefined && { seconds: media.seconds }),
    },
  };
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return { kind, ...given };
}
