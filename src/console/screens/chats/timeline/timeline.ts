import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from "vue";
import { api } from "../../../data/index.ts";
import { messagesCall } from "../calls.ts";
import { keepUp } from "./following.ts";
import { answered, createTold, merged, newQuestion, type Side } from "./merging.ts";
import type { Message, PageOf, Place } from "../records.ts";
import { justAfter, newerThan, type AskPage } from "./windows.ts";

/** Messages that are held at a time: of a longer conversation the other end is let go, and read again when one comes back. */
const HELD = 1_200;

/**
 * The messages of a conversation around where one looks: pages backwards and forwards, live at its end.
 *
 * @param place changes with the conversation; null: none is open
 */
export function useTimeline(place: Ref<Place | null>) {
  const messages = shallowRef<Message[]>([]);
  /** `before` of the next older page; null: this is the beginning. */
  const older = ref<string | null>(null);
  /** Nothing newer is left out. */
  const atEnd = ref(true);
  const loading = ref<"first" | "older" | "newer" | null>("first");
  const error = shallowRef<unknown>(null);
  /** Came while one looked elsewhere. */
  const missed = ref(0);
  const told = createTold();
  let abort = new AbortController();

  async function run(what: "first" | "older" | "newer", work: (signal: AbortSignal) => Promise<void>) {
    if (loading.value !== null && what !== "first") return;
    if (what === "first") {
      abort.abort();
      abort = new AbortController();
    }
    const { signal } = abort;
    loading.value = what;
    try {
      await work(signal);
      error.value = null;
    } catch (failure) {
      if (!signal.aborted) error.value = failure;
    }
    if (signal.aborted) return;
    loading.value = null;
    following.look();
  }

  const asking =
    (signal: AbortSignal): AskPage =>
    async (range) => {
      const question = newQuestion();
      const page = await api<PageOf<Message>>(messagesCall(place.value!, range), { signal });
      return { ...page, data: answered(page.data, question) };
    };
  /** What is held with what has come, and what events told of it meanwhile. */
  const having = (held: readonly Message[], page: readonly Message[], side: Side): Message[] =>
    told.on(merged(held, page, side));

  /** The newest, or from a time backwards. @param before ISO 8601 */
  const open = (before: string | null = null): Promise<void> =>
    run("first", async (signal) => {
      const page = await asking(signal)({ before });
      if (signal.aborted) return;
      messages.value = having([], page.data, "older");
      older.value = page.next;
      atEnd.value = before === null;
      missed.value = 0;
    });

  const moreOlder = (): Promise<void> =>
    run("older", async (signal) => {
      if (older.value === null) return;
      const page = await asking(signal)({ before: older.value });
      if (signal.aborted) return;
      const all = having(messages.value, page.data, "older");
      older.value = page.next;
      if (all.length > HELD) atEnd.value = false;
      messages.value = all.slice(0, HELD);
    });

  const moreNewer = (): Promise<void> =>
    run("newer", async (signal) => {
      if (atEnd.value) return;
      const { found, reachedEnd } = await newerThan(messages.value, asking(signal), signal);
      if (signal.aborted) return;
      hold(having(messages.value, found, "newer"));
      if (reachedEnd) atEnd.value = true;
    });

  /** The newest of them. */
  function hold(all: Message[]): void {
    const dropped = all.length - HELD;
    messages.value = dropped > 0 ? all.slice(dropped) : all;
    // The cursor was that of messages that are let go: from here a time serves.
    if (dropped > 0) older.value = justAfter(messages.value[0]!.at);
  }

  const following = keepUp(place, {
    messages,
    older,
    atEnd,
    missed,
    told,
    open: () => open(),
    take: (fresh) => hold(having(messages.value, fresh, "newer")),
    asking: () => ({ ask: asking(abort.signal), signal: abort.signal }),
    isOpening: () => loading.value === "first",
  });
  watch(
    () => (place.value === null ? null : `${place.value.sender}/${place.value.chat}`),
    (key) => {
      abort.abort();
      messages.value = [];
      older.value = null;
      if (key !== null) void open();
    },
    { immediate: true },
  );
  onScopeDispose(() => abort.abort());
  return {
    messages: computed(() => messages.value),
    loading: computed(() => loading.value),
    error: computed(() => error.value),
    atStart: computed(() => older.value === null),
    atEnd: computed(() => atEnd.value),
    missed,
    open,
    moreOlder,
    moreNewer,
    update: following.update,
  };
}
