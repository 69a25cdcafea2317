import { giveWay } from "../model/give-way.ts";
import { cursorOf, type Place } from "../model/page.ts";

/** Rows that are looked at for one page, at most; then it ends, though it may not be full, and `next` goes on. */
const MOST_LOOKED_AT = 200;
const AT_ONCE = 100;

/** One page of what was looked for. */
export interface Found<T> {
  items: T[];
  /** `before` of the next page; null at the end. */
  next: string | null;
}

/**
 * Looks through a list until a page is full. Filters that no index knows are worked off here: a page takes a limited time
 * however few rows pass them.
 *
 * @param from   where it begins
 * @param more   the next places, at most as many as asked for; fewer mean that the list ends
 * @param accept those of them that are wanted, in their order
 * @param most   rows that are looked at, about
 */
export async function walk<S extends Place, T extends Place>(
  from: Place,
  limit: number,
  more: (count: number) => Promise<S[]>,
  accept: (some: S[]) => Promise<T[]>,
  most = MOST_LOOKED_AT,
): Promise<Found<T>> {
  const items: T[] = [];
  let place = from;
  let count = limit + 1;
  for (let looked = 0; looked < most; looked += count, count = AT_ONCE) {
    if (looked > 0) await giveWay();
    const some = await more(count);
    items.push(...(await accept(some)));
    if (items.length > limit) return { items: items.slice(0, limit), next: cursorOf(items[limit - 1]!) };
    if (some.length < count) return { items, next: null };
    place = some.at(-1)!;
  }
  return { items, next: cursorOf(place) };
}
