import { keyOfMessage, type Message } from "../records.ts";

type State = NonNullable<Message["state"]>;

/** How far a message of ours has come: it goes forwards, or stays. */
const RANK: Record<string, number> = {
  scheduled: -1,
  queued: 0,
  sending: 1,
  sent: 2,
  failed: 2,
  expired: 2,
  cancelled: 2,
  delivered: 3,
  read: 4,
  played: 5,
};
/** Messages of which events have told lately. */
const MOST_TOLD = 1_000;
/** They change another message. */
const CHANGES = new Set<string>(["edit", "revoke"]);

/** Which question brought a record. Of two records of a message that holds which was asked for later. */
const askedBy = new WeakMap<Message, number>();
let questions = 0;

/** To be taken before a question is put, and given to {@link answered} with its answer. */
export const newQuestion = (): number => ++questions;

/** Notes which question brought these records. */
export function answered<T extends readonly Message[]>(messages: T, question: number): T {
  for (const message of messages) askedBy.set(message, question);
  return messages;
}

/** Which question brought it; 0: none. */
export const questionOf = (message: Message): number => askedBy.get(message) ?? 0;

const isFurther = (state: State, than: State): boolean => (RANK[state] ?? 0) > (RANK[than] ?? 0);

/** The record with a state that was told of it, unless it has come as far. */
function withState(message: Message, state: State | undefined): Message {
  if (state === undefined || message.state === undefined || !isFurther(state, message.state)) return message;
  const moved = { ...message, state };
  askedBy.set(moved, questionOf(message));
  return moved;
}

/** Where a page is that has nothing in common with what is held. */
export type Side = "older" | "newer";

/**
 * Both, oldest first, each once; of two the one that was asked for later, as far as either has come.
 *
 * @param page newest first, as the gateway lists it
 */
export function merged(held: readonly Message[], page: readonly Message[], side: Side): Message[] {
  const all = new Map(held.map((message) => [keyOfMessage(message), message]));
  const places = placesOf([...all.keys()], page.map(keyOfMessage).toReversed(), side);
  for (const message of page) {
    const key = keyOfMessage(message);
    const known = all.get(key);
    if (known === undefined) all.set(key, message);
    else if (questionOf(message) < questionOf(known)) all.set(key, withState(known, message.state));
    else all.set(key, withState(message, known.state));
  }
  // By time; within a millisecond as the gateway lists them, also where one page of it ends there and the next begins.
  return Array.from(all, ([key, message]) => ({ message, place: places.get(key)! }))
    .toSorted((a, b) =>
      a.message.at === b.message.at ? a.place - b.place : a.message.at < b.message.at ? -1 : 1,
    )
    .map(({ message }) => message);
}

/** Each of a page stands after the one before it that is held as well, and before the next of those. Both are oldest first. */
function placesOf(held: readonly string[], page: readonly string[], side: Side): Map<string, number> {
  const places = new Map(held.map((key, place) => [key, place]));
  const firstHeld = page.find((key) => places.has(key));
  let after = firstHeld === undefined ? (side === "older" ? -1 : held.length) : places.get(firstHeld)! - 1;
  page.forEach((key, index) => {
    const place = places.get(key);
    if (place === undefined) places.set(key, after + (index + 1) / (page.length + 1));
    else after = Math.max(after, place);
  });
  return places;
}

/** What is known of messages beside the lists, which may have been asked for before it and arrive after. */
export interface Told {
  /** An event told how far it is. */
  state(id: string, state: State): void;
  /** An event told that it is another: whatever was asked for before is old. */
  change(id: string): void;
  /** Events were missed: whatever was asked for before may be old. */
  changeAll(): void;
  /** The records, as far as is known of each; those among them that change others are noted. */
  on(messages: readonly Message[]): Message[];
  /** Those that are to be asked for again. */
  oldOf(messages: readonly Message[]): Message[];
}

function keep<T>(all: Map<string, T>, id: string, value: T): void {
  all.delete(id);
  all.set(id, value);
  if (all.size > MOST_TOLD) all.delete(all.keys().next().value!);
}

/** Of the last {@link MOST_TOLD} messages. */
export function createTold(): Told {
  const states = new Map<string, State>();
  const changed = new Map<string, number>();
  let missed = 0;
  return {
    state(id, state) {
      const known = states.get(id);
      keep(states, id, known !== undefined && isFurther(known, state) ? known : state);
    },
    change: (id) => keep(changed, id, newQuestion()),
    changeAll: () => void (missed = newQuestion()),
    on: (messages) =>
      messages.map((message) => {
        const { type, target_id: target } = message;
        if (CHANGES.has(type) && target && (changed.get(target) ?? 0) < questionOf(message))
          keep(changed, target, questionOf(message));
        return withState(message, states.get(message.id));
      }),
    oldOf: (messages) =>
      messages.filter((message) => questionOf(message) < Math.max(missed, changed.get(message.id) ?? 0)),
  };
}
