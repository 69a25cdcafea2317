import { onScopeDispose, type Ref } from "vue";
import { useEvents, type LiveEvent } from "../../../data/index.ts";
import { newQuestion, questionOf, type Told } from "./merging.ts";
import { keyOfMessage, type Message, type Place } from "../records.ts";
import { everythingOf, justAfter, type AskPage } from "./windows.ts";

/** A burst of events is one question. */
const SETTLE_MS = 400;
/** A question that failed is put again after so long. */
const FAILED_MS = 5_000;
/** So many messages are asked for one by one; of more, all that are held. */
const ONE_BY_ONE = 10;
/** Pages of 100 that hold what is held, and what came meanwhile. */
const MOST_PAGES = 16;

/** What a timeline shares with the events. */
export interface Followed {
  messages: Ref<Message[]>;
  /** `before` of the next older page. */
  older: Ref<string | null>;
  /** Nothing newer than what is held is left out. */
  atEnd: Ref<boolean>;
  /** Came while one looked elsewhere. */
  missed: Ref<number>;
  told: Told;
  /** Begins anew with the newest. */
  open(): Promise<void>;
  /** Lays records over what is held. */
  take(fresh: readonly Message[]): void;
  /** How to ask now; the signal aborts when another conversation, or another time of it, is opened. */
  asking(): { ask: AskPage; signal: AbortSignal };
  isOpening(): boolean;
}

/** A timeline that is kept up. */
export interface Following {
  /** Asks for what is new. */
  update(): Promise<void>;
  /** Something was read: is it old already? */
  look(): void;
}

/**
 * Keeps what is shown as it is at the gateway. Whatever an event tells of is asked for after the event, however many questions are
 * under way; an answer that was asked for earlier changes nothing that a later one brought.
 */
export function keepUp(place: Ref<Place | null>, followed: Followed): Following {
  const { messages, atEnd, missed, told } = followed;
  let planned: ReturnType<typeof setTimeout> | null = null;
  let gone = false;
  /** One at a time: what is asked for meanwhile is asked for after it. */
  let running: Promise<void> | null = null;
  let again = false;
  const plan = (ms: number): void => {
    planned ??= setTimeout(() => {
      planned = null;
      void update();
    }, ms);
  };

  function update(): Promise<void> {
    again = running !== null;
    running ??= ask().finally(() => {
      running = null;
      if (again) plan(0);
    });
    return running;
  }
  async function ask(): Promise<void> {
    if (gone || place.value === null) return;
    // What is under way may be from before.
    if (followed.isOpening()) return plan(SETTLE_MS);
    const { signal } = followed.asking();
    try {
      await catchUp(followed);
    } catch {
      if (!signal.aborted) plan(FAILED_MS);
    }
  }
  const look = (): void => (told.oldOf(messages.value).length > 0 ? plan(SETTLE_MS) : undefined);

  function heard({ type, data }: LiveEvent): void {
    const here = place.value;
    if (here === null) return;
    if (type === "resumed") {
      told.changeAll();
      return plan(SETTLE_MS);
    }
    if (data["device"] !== here.sender && data["sender"] !== here.sender) return;
    if (type === "delivery") return delivered(String(data["message_id"]), data["state"]);
    const id = String(data["id"] ?? data["message_id"]);
    if (type === "message.out") {
      const state = data["state"] as NonNullable<Message["state"]>;
      const held = messages.value.find((message) => message.id === id && message.state !== undefined);
      told.state(id, state);
      messages.value = told.on(messages.value);
      // What waited for its time stands where it was queued, as a message of now.
      if (held !== undefined && (held.state !== "scheduled" || state === "scheduled")) return;
    }
    if (typeof data["chat"] === "string" && data["chat"] !== here.chat) return;
    told.change(id);
    if (typeof data["target_id"] === "string") told.change(data["target_id"]);
    if (!atEnd.value && type === "message.in") missed.value++;
    plan(SETTLE_MS);
  }
  /** The webhook took a message that nobody answered, maybe long after it came: it may have answered now. */
  function delivered(id: string, state: unknown): void {
    if (state !== "delivered") return;
    if (!messages.value.some((held) => held.id === id && held.answered_by === undefined)) return;
    told.change(id);
    plan(SETTLE_MS);
  }
  useEvents(["delivery", "message.in", "message.out", "decision", "resumed"], heard);
  onScopeDispose(() => {
    gone = true;
    if (planned !== null) clearTimeout(planned);
  });
  return { update, look };
}

/** What is new, and what is known to be old. */
async function catchUp(followed: Followed): Promise<void> {
  const { messages, atEnd, told, asking } = followed;
  const { ask, signal } = asking();
  if (atEnd.value) {
    const fresh = await newest(followed, ask);
    if (signal.aborted) return;
    if (fresh === null) return followed.open();
    followed.take(fresh);
  }
  const old = told.oldOf(messages.value);
  if (old.length === 0) return;
  const question = newQuestion();
  if (!(await renew(followed, old))) return;
  // What was asked for and did not come is gone.
  const gone = new Set(old.map(keyOfMessage));
  messages.value = messages.value.filter(
    (message) => !gone.has(keyOfMessage(message)) || questionOf(message) > question,
  );
}

/** The newest page, and all between it and what is held; null: that is too much. */
async function newest({ messages, older }: Followed, ask: AskPage): Promise<readonly Message[] | null> {
  const page = await ask({});
  const held = messages.value;
  if (held.length === 0) older.value = page.next;
  const known = new Set(held.map(keyOfMessage));
  const meets = held.length === 0 || page.data.some((message) => known.has(keyOfMessage(message)));
  if (meets || page.next === null) return page.data;
  const between = await everythingOf({ since: held.at(-1)!.at, before: page.next }, ask, MOST_PAGES);
  return between === null ? null : [...page.data, ...between];
}

/** These as they are now: one by one, or all that is held. @returns false: something else is shown by now */
async function renew({ messages, atEnd, asking, take, open }: Followed, old: Message[]): Promise<boolean> {
  const { ask, signal } = asking();
  if (old.length <= ONE_BY_ONE) {
    for (const { at } of old) {
      const page = await ask({ since: at, before: justAfter(at), limit: 100 });
      if (signal.aborted) return false;
      take(page.data);
    }
    return true;
  }
  const before = atEnd.value ? null : justAfter(messages.value.at(-1)!.at);
  const fresh = await everythingOf({ since: messages.value[0]!.at, before }, ask, MOST_PAGES);
  if (signal.aborted) return false;
  if (fresh === null) {
    await open();
    return false;
  }
  take(fresh);
  return true;
}
