import { onScopeDispose, reactive, shallowReactive, toValue, watch, computed } from "vue";
import type { ComputedRef, MaybeRefOrGetter } from "vue";
import { isPassing } from "./api.ts";
import { useEvents, type LiveEvent } from "./events.ts";

interface Entry {
  data: unknown;
  error: unknown;
  loading: boolean;
  fetcher: ((signal: AbortSignal) => Promise<unknown>) | null;
  abort: AbortController | null;
  /** Asked for again while an answer was under way. */
  again: boolean;
  users: number;
}

/** When a query asks again by itself. */
export interface QueryOptions {
  /** Types of events: `device`, `message.in` … */
  on?: string[];
  /** Which of these events; default all. */
  when?: (event: LiveEvent) => boolean;
  /** Seconds between two looks while the page is visible; default never. */
  every?: number;
  /** Milliseconds in which all events are one question; default 250. */
  settle?: number;
}

/** What a screen sees of a query. */
export interface Query<T> {
  data: ComputedRef<T | undefined>;
  error: ComputedRef<unknown>;
  /** True until the first answer, and while another is under way. */
  loading: ComputedRef<boolean>;
  refresh: () => Promise<void>;
}

/** Answers of screens that nobody looks at are kept, so that going back shows them at once; more than these are forgotten. */
const KEPT = 60;
const nothing = (): void => {};
const entries = reactive(new Map<string, Entry>());

function entryOf(key: string): Entry {
  const known = entries.get(key);
  if (known) return known;
  for (const [old, entry] of entries) {
    if (entries.size < KEPT) break;
    if (entry.users === 0) entries.delete(old);
  }
  const made = shallowReactive<Entry>({
    data: undefined,
    error: null,
    loading: false,
    fetcher: null,
    abort: null,
    again: false,
    users: 0,
  });
  entries.set(key, made);
  return made;
}

async function load(entry: Entry): Promise<void> {
  if (!entry.fetcher) return;
  if (entry.abort) {
    entry.again = true;
    return;
  }
  const abort = new AbortController();
  entry.abort = abort;
  entry.loading = true;
  try {
    entry.data = await entry.fetcher(abort.signal);
    entry.error = null;
  } catch (error) {
    if (!abort.signal.aborted) entry.error = error;
  }
  if (entry.abort !== abort) return;
  entry.abort = null;
  entry.loading = false;
  if (!entry.again) return;
  entry.again = false;
  await load(entry);
}

/** Puts an answer in place without asking, as after a write whose answer is the record. One that is under way may be from before it. */
export function setQuery(key: string, data: unknown): void {
  const entry = entryOf(key);
  entry.data = data;
  entry.error = null;
  if (entry.abort === null) return;
  entry.abort.abort();
  entry.abort = null;
  entry.again = false;
  void load(entry);
}

/** Asks again for everything on screen whose key begins so. */
export function refreshQueries(prefix: string): void {
  for (const [key, entry] of entries) {
    if (!key.startsWith(prefix)) continue;
    if (entry.users > 0) void load(entry);
    else entries.delete(key);
  }
}

/** Forgets everything: another account is looked at. */
export function clearQueries(): void {
  for (const entry of entries.values()) entry.abort?.abort();
  entries.clear();
}

/**
 * What a GET answers, shared by everybody on screen who asks for the same key; the old answer stays while it is asked again.
 *
 * @param key     names the question, beginning with its area: `numbers/628…`; null asks nothing
 * @param fetcher asks it; throws ApiError
 */
export function useQuery<T>(
  key: MaybeRefOrGetter<string | null>,
  fetcher: (signal: AbortSignal) => Promise<T>,
  options: QueryOptions = {},
): Query<T> {
  const current = computed(() => {
    const name = toValue(key);
    return name === null ? null : (entries.get(name) ?? null);
  });
  let release = nothing;
  watch(
    () => toValue(key),
    (name) => {
      release();
      release = nothing;
      if (name === null) return;
      const entry = entryOf(name);
      entry.users++;
      entry.fetcher = fetcher;
      release = () => {
        if (--entry.users > 0) return;
        entry.abort?.abort();
        entry.abort = null;
        entry.again = false;
        entry.loading = false;
      };
      void load(entry);
    },
    { immediate: true },
  );
  onScopeDispose(() => release());
  const refresh = async (): Promise<void> => {
    const name = toValue(key);
    if (name !== null) await load(entryOf(name));
  };
  repeat(refresh, options, () => current.value?.error ?? null);
  return {
    data: computed(() => current.value?.data as T | undefined),
    error: computed(() => current.value?.error ?? null),
    loading: computed(() => current.value?.loading ?? false),
    refresh,
  };
}

/** A question that failed is put again after so long, when it may be answered then. */
const FAILED_MS = 5_000;

/**
 * Asks again on events, after a lost connection, at intervals, and when the page is looked at again.
 *
 * @param refresh with true after a lost connection: whatever is held may have changed
 * @param errorOf of the last question
 */
export function repeat(
  refresh: (all?: boolean) => Promise<void>,
  { on = [], when = () => true, every, settle = 250 }: QueryOptions,
  errorOf: () => unknown,
): void {
  let planned: ReturnType<typeof setTimeout> | null = null;
  let all = false;
  let gone = false;
  function plan(ms: number): void {
    // A burst of events is one question.
    planned ??= setTimeout(async () => {
      const whole = all;
      planned = null;
      all = false;
      await refresh(whole);
      if (gone || !isPassing(errorOf())) return;
      all ||= whole;
      plan(FAILED_MS);
    }, ms);
  }
  useEvents([...on, "resumed"], (event) => {
    if (event.type !== "resumed") return when(event) ? plan(settle) : undefined;
    // What no event changes is asked for only where there is nothing to show.
    if (on.length === 0 && errorOf() === null) return;
    all = true;
    plan(settle);
  });
  const timer =
    every === undefined
      ? null
      : setInterval(() => {
          if (document.visibilityState === "visible") void refresh();
        }, every * 1_000);
  onScopeDispose(() => {
    gone = true;
    if (planned !== null) clearTimeout(planned);
    if (timer !== null) clearInterval(timer);
  });
}
