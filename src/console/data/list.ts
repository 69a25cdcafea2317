import { computed, ref, shallowRef, toValue, watch } from "vue";
import type { MaybeRefOrGetter } from "vue";
import { useEvents, type LiveEvent } from "./events.ts";
import { repeat, type QueryOptions } from "./query.ts";

/** One page of a list that grows. */
export interface Page<T> {
  data: T[];
  next: string | null;
}

/** How a list is followed. */
export interface ListOptions<T> extends QueryOptions {
  /** Tells records apart; default their `id`. */
  idOf?: (record: T) => string;
  /** The record of one of `on`'s events, which takes the place of the one that is shown; null: it has none. */
  recordOf?: (event: LiveEvent) => T | null;
}

/** Pages that are read anew at a time; what is below them is let go, and read again when somebody comes there. */
const MOST_PAGES = 10;

/**
 * A list that is read page by page, newest first. Asking again reads its beginning, down to where it is as it was, and keeps what is
 * below.
 *
 * @param key  another key is another list; null asks nothing
 * @param page asks for one page; `before` is the `next` of the page before it
 */
export function useList<T>(
  key: MaybeRefOrGetter<string | null>,
  page: (before: string | null, signal: AbortSignal) => Promise<Page<T>>,
  options: ListOptions<T> = {},
) {
  const idOf = options.idOf ?? ((record: T) => String((record as { id?: unknown }).id));
  const items = shallowRef<T[]>([]);
  const next = ref<string | null>(null);
  const error = shallowRef<unknown>(null);
  const first = ref(false);
  const further = ref(false);
  /** Records that events told of while a page was under way, which may be from before. */
  const told = new Map<string, T>();
  let abort = new AbortController();
  let running: Promise<void> | null = null;
  /** Asked for while an answer was under way: that one may be from before. */
  let again: { all: boolean } | null = null;

  async function ask(busy: typeof first, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (toValue(key) === null) return;
    const { signal } = abort;
    busy.value = true;
    try {
      await work(signal);
      if (!signal.aborted) error.value = null;
    } catch (failure) {
      if (!signal.aborted) error.value = failure;
    } finally {
      if (!signal.aborted) busy.value = false;
      if (!first.value && !further.value) told.clear();
    }
  }
  const asTold = (records: T[]): T[] => records.map((record) => told.get(idOf(record)) ?? record);

  /** What is held below a page's last record, when that one is as it was. @returns null: nothing is known to fit */
  function below(fresh: readonly T[]): T[] | null {
    const last = fresh.at(-1);
    if (last === undefined) return null;
    const at = items.value.findIndex((item) => idOf(item) === idOf(last));
    if (at < 0 || JSON.stringify(items.value[at]) !== JSON.stringify(last)) return null;
    const ids = new Set(fresh.map(idOf));
    return items.value.slice(at + 1).filter((item) => !ids.has(idOf(item)));
  }

  /** @param all all that is held is asked for, not only what comes first */
  async function renew(all: boolean, signal: AbortSignal): Promise<void> {
    const held = items.value.length;
    let got = await page(null, signal);
    const fresh = new Map(got.data.map((record) => [idOf(record), record]));
    // Where nothing is known, one page is a beginning.
    const most = items.value.some((item) => fresh.has(idOf(item))) ? MOST_PAGES : 1;
    const fits = (): boolean => fresh.size >= held || (!all && below([...fresh.values()]) !== null);
    for (let pages = 1; got.next !== null && pages < most && !fits(); pages++) {
      got = await page(got.next, signal);
      for (const record of got.data) if (!fresh.has(idOf(record))) fresh.set(idOf(record), record);
    }
    if (signal.aborted) return;
    const records = [...fresh.values()];
    const rest = got.next === null || all ? null : below(records);
    if (rest === null || rest.length === 0) next.value = got.next;
    items.value = asTold([...records, ...(rest ?? [])]);
  }

  /** @param all after a lost connection: whatever is held may have changed */
  function refresh(all = false): Promise<void> {
    if (running !== null) {
      again = { all: all || (again?.all ?? false) };
      return running;
    }
    const { signal } = abort;
    const mine = (async () => {
      let whole = all;
      for (;;) {
        await ask(first, (asking) => renew(whole, asking));
        if (signal.aborted || again === null) return;
        whole = again.all;
        again = null;
      }
    })().finally(() => {
      if (running === mine) running = null;
    });
    running = mine;
    return mine;
  }

  async function more(): Promise<void> {
    const from = next.value;
    if (from === null || further.value) return;
    await ask(further, async (signal) => {
      const got = await page(from, signal);
      // The list was read anew, and ends elsewhere.
      if (signal.aborted || next.value !== from) return;
      const known = new Set(items.value.map(idOf));
      items.value = [...items.value, ...asTold(got.data).filter((item) => !known.has(idOf(item)))];
      next.value = got.next;
    });
  }

  watch(
    () => toValue(key),
    () => {
      abort.abort();
      abort = new AbortController();
      running = null;
      again = null;
      items.value = [];
      next.value = null;
      error.value = null;
      first.value = false;
      further.value = false;
      void refresh();
    },
    { immediate: true },
  );
  useEvents(options.recordOf ? (options.on ?? []) : [], (event) => {
    const record = options.recordOf?.(event) ?? null;
    if (record === null) return;
    if (first.value || further.value) told.set(idOf(record), record);
    if (items.value.some((item) => idOf(item) === idOf(record)))
      items.value = items.value.map((item) => (idOf(item) === idOf(record) ? record : item));
  });
  repeat(refresh, options, () => error.value);
  return {
    items,
    next: computed(() => next.value),
    error: computed(() => error.value),
    loading: computed(() => first.value),
    loadingMore: computed(() => further.value),
    more,
    /** The list as it is now. */
    refresh: () => refresh(),
  };
}
