import { useVirtualizer, type Virtualizer } from "@tanstack/vue-virtual";
import { computed, nextTick, onMounted, ref, watch, type Ref } from "vue";
import type { Row } from "./rows.ts";

/** From its end: nearer than this one stands at it, and new messages move the page. */
const AT_END_PX = 60;
/** How far before an end the next page is asked for. */
const AHEAD_PX = 900;

type Drawn = Virtualizer<HTMLElement, Element>;

/** What is listed, as the page has it now. */
export interface Listed {
  rows: Row[];
  /** The conversation begins with the first of the rows. */
  atStart: boolean;
  /** The conversation ends with the last of the rows. */
  atEnd: boolean;
  loading: "first" | "older" | "newer" | null;
}

export interface Scrolling {
  virtual: Ref<Drawn>;
  /** One stands at the end, and stays there when messages come. */
  pinned: Ref<boolean>;
  /** How many came below of what one looks at. */
  fresh: Ref<number>;
  onScroll(): void;
  toEnd(): void;
  /** Leaves the end for a row of the list, by its index. */
  toRow(index: number, align: "start" | "center" | "end"): void;
}

function drawing(scroller: Ref<HTMLElement | null>, listed: Listed): Ref<Drawn> {
  return useVirtualizer<HTMLElement, Element>(
    computed(() => ({
      count: listed.rows.length,
      getScrollElement: () => scroller.value,
      estimateSize: (index: number) => (listed.rows[index]!.kind === "message" ? 76 : 40),
      getItemKey: (index: number) => listed.rows[index]!.key,
      overscan: 8,
      paddingStart: 12,
      paddingEnd: 12,
    })),
  );
}

interface Anchor {
  key: string;
  offset: number;
}
/**
 * What stands at the top of the window stays there, whatever is put before it. The line of a day does not: older messages of
 * the same day come between it and what it stood above.
 *
 * @param shown what is drawn still: the virtualizer knows of the next rows already
 */
function anchorIn(scroller: HTMLElement | null, shown: readonly Row[]): Anchor | null {
  const top = scroller?.getBoundingClientRect().top ?? 0;
  for (const element of scroller?.querySelectorAll<HTMLElement>(".item") ?? []) {
    const row = shown[Number(element.dataset["index"])];
    const box = element.getBoundingClientRect();
    if (box.bottom > top && row !== undefined && row.kind !== "day")
      return { key: row.key, offset: box.top - top };
  }
  return null;
}
/**
 * The virtualizer is told before it draws: rows that it drew and measured at the place of before would move the page. The page
 * itself can be moved only once it is as long as the new rows.
 *
 * @returns false: what stood there is gone
 */
function hold(drawn: Drawn, next: readonly Row[], held: Anchor | null): boolean {
  const index = held === null ? -1 : next.findIndex(({ key }) => key === held.key);
  if (index < 0) return false;
  drawn.getTotalSize();
  drawn.scrollOffset = drawn.measurementsCache[index]!.start - held!.offset;
  return true;
}
function messagesAfter(before: readonly Row[], next: readonly Row[]): number {
  const known = before.length === 0 ? -1 : next.findIndex(({ key }) => key === before.at(-1)!.key);
  return known < 0 ? 0 : next.slice(known + 1).filter(({ kind }) => kind === "message").length;
}

/**
 * Where one stands in a conversation that is read from its end: whoever stands at the end stays there, and anybody else sees
 * nothing move when messages come before or after. Near an end of the rows that is not the conversation's, `more` is asked.
 */
export function useScrolling(
  scroller: Ref<HTMLElement | null>,
  listed: Listed,
  more: (which: "older" | "newer") => void,
): Scrolling {
  const virtual = drawing(scroller, listed);
  const pinned = ref(true);
  const fresh = ref(0);
  /** Between new rows and their place: where one stands is not known. */
  let isPlacing = false;

  function toEnd(): void {
    const { value } = scroller;
    if (value) value.scrollTop = value.scrollHeight;
  }
  const stayAtEnd = (): void => {
    if (pinned.value && listed.atEnd) toEnd();
  };
  function readOn(): void {
    const { value } = scroller;
    if (value === null || isPlacing || listed.loading !== null || listed.rows.length === 0) return;
    const below = value.scrollHeight - value.scrollTop - value.clientHeight;
    if (!listed.atStart && value.scrollTop < AHEAD_PX) more("older");
    else if (!listed.atEnd && below < AHEAD_PX) more("newer");
  }
  function onScroll(): void {
    const { value } = scroller;
    if (value === null) return;
    // The end of what is held so far is not the end: what comes next leaves the page where it is.
    pinned.value = listed.atEnd && value.scrollHeight - value.scrollTop - value.clientHeight < AT_END_PX;
    if (pinned.value) fresh.value = 0;
    readOn();
  }
  async function place(next: readonly Row[], before: readonly Row[]): Promise<void> {
    const wasAtEnd = pinned.value;
    const isHeld = hold(virtual.value, next, anchorIn(scroller.value, before));
    isPlacing = true;
    await nextTick();
    isPlacing = false;
    if (wasAtEnd && listed.atEnd) toEnd();
    else {
      if (listed.atEnd) fresh.value += messagesAfter(before, next);
      if (isHeld) scroller.value!.scrollTop = virtual.value.scrollOffset!;
    }
    readOn();
  }

  watch(() => listed.rows, place);
  // Rows are measured once they are there: whoever stands at the end stays at the end.
  watch(() => virtual.value.getTotalSize(), stayAtEnd, { flush: "post" });
  // What is written, or a smaller window, takes nothing from the end of the list.
  onMounted(() => new ResizeObserver(stayAtEnd).observe(scroller.value!));
  watch([() => listed.loading, () => listed.atStart], readOn, { flush: "post" });
  // Nothing newer was there: the end of what is shown is the conversation's after all, and nobody has scrolled.
  watch(() => listed.atEnd, onScroll, { flush: "post" });

  const toRow: Scrolling["toRow"] = (index, align) => {
    pinned.value = false;
    virtual.value.scrollToIndex(index, { align });
  };
  return { virtual, pinned, fresh, onScroll, toEnd, toRow };
}
