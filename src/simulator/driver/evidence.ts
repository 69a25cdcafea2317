import { DEFAULT_WAIT_MS } from "./patience.ts";
import type { MediaStore } from "../media/store.ts";
import type {
  Arrival,
  ArrivedMessage,
  EvidenceMethods,
  MessageFilter,
  WaitFilter,
} from "../surface/evidence.ts";
import type { AcceptedMessages } from "../server/messages/accepted-messages.ts";
import type { Transcript } from "../transcript.ts";
import type { World } from "../world/world.ts";

interface Needs {
  world: World;
  transcript: Transcript;
  accepted: AcceptedMessages;
  media: MediaStore;
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
}

/** Observing messages and files, and waiting for them. */
export function createEvidence(needs: Needs): EvidenceMethods {
  const { world, transcript, accepted, media, until } = needs;
  return {
    async transcript(filter) {
      return transcript.entries(filter).map((entry) => ({ ...entry }));
    },

    async messages(contact, filter = {}) {
      return arrived(needs, contact, filter);
    },

    async accepted(filter = {}) {
      return accepted
        .all()
        .map((taken) => ({ ...taken, ...(transcript.bodyOf(taken.from, taken.id) ?? { kind: "unknown" }) }))
        .filter(
          (message) =>
            is(filter.from, message.from) &&
            is(filter.by, world.accounts.get(message.from)?.kind) &&
            is(filter.chat, message.chat) &&
            is(filter.id, message.id) &&
            is(filter.kind, message.kind),
        );
    },

    async arrivals(filter = {}) {
      return [...world.accounts.values()]
        .filter(({ kind, number }) => kind === "contact" && is(filter.contact, number))
        .flatMap(({ number }) => arrivalsAt(number, transcript.arrivedAt(number)))
        .filter(
          ({ from, chat, kind }) => is(filter.from, from) && is(filter.chat, chat) && is(filter.kind, kind),
        )
        .toSorted((one, other) => one.seq - other.seq);
    },

    async waitForMessage(contact, filter = {}, timeoutMs = DEFAULT_WAIT_MS) {
      const wanted = filter.count ?? 1;
      const found = () => arrived(needs, contact, filter);
      if (await until(() => found().length >= wanted, timeoutMs)) return found()[wanted - 1]!;
      const seen = JSON.stringify(arrived(needs, contact, {}).slice(-5));
      const sought = JSON.stringify(filter);
      throw new Error(`${contact} did not get ${sought} within ${timeoutMs} ms; it got ${seen}`);
    },

    async mediaRequests(filter) {
      return media.requests(filter);
    },
  };
}

/** What is left out of a filter matches anything. */
const is = <T>(wanted: T | undefined, found: T | undefined): boolean =>
  wanted === undefined || wanted === found;

/** Messages at a contact's phone, in the order of arrival. */
function arrived(
  { world, transcript }: Pick<Needs, "world" | "transcript">,
  contact: string,
  filter: WaitFilter & MessageFilter,
): ArrivedMessage[] {
  const { number } = world.account(contact);
  const from = filter.from && world.account(filter.from).number;
  return transcript
    .arrivedAt(number)
    .filter(
      (message) =>
        (filter.repeated === true || !message.repeated) &&
        is(from, message.from) &&
        is(filter.chat, message.chat) &&
        is(filter.id, message.id) &&
        is(filter.text, message.text) &&
        is(filter.kind, message.kind) &&
        is(filter.target, message.target) &&
        (filter.since === undefined || message.seq > filter.since),
    );
}

/** One row for each message, with how often it came and its place in its chat. */
function arrivalsAt(contact: string, rows: readonly ArrivedMessage[]): Arrival[] {
  const found = new Map<string, Arrival>();
  const places = new Map<string, number>();
  for (const row of rows) {
    const name = `${row.from} ${row.id}`;
    const known = found.get(name);
    if (known) {
      known.times += 1;
      continue;
    }
    const place = (places.get(row.chat) ?? 0) + 1;
    places.set(row.chat, place);
    found.set(name, { ...row, contact, times: 1, place });
  }
  return [...found.values()];
}
