/** One row's place in a list that begins with the newest. */
export interface Place {
  /** Unix milliseconds. */
  at: number;
  /** Number of the row: it settles which of two in the same millisecond is the older one. */
  row: number;
}

/** Before everything. */
export const TOP: Readonly<Place> = { at: Number.MAX_SAFE_INTEGER, row: 0 };

/** Rows that a list counts; with more, its total is not known. */
export const MOST_COUNTED = 1_000;

const CURSOR = /^(\d{1,16})\.(\d{1,16})$/;

/** What `next` of an answer says, and `before` of the next request gives back. */
export const cursorOf = ({ at, row }: Place): string => `${at}.${row}`;

/** @returns null for what is neither a cursor nor a time in ISO 8601 */
export function readPlace(before: string): Place | null {
  const [, at, row] = CURSOR.exec(before) ?? [];
  if (at !== undefined) return { at: Number(at), row: Number(row) };
  const time = /^\d{4}-\d{2}-\d{2}/.test(before) ? Date.parse(before) : Number.NaN;
  return Number.isNaN(time) ? null : { at: time, row: 0 };
}

/**
 * @param places newest first, of one row more than the page has, when there is one
 * @returns what `next` says: null when the list ends with this page
 */
export function nextOf(places: Place[], limit: number): string | null {
  return places.length > limit ? cursorOf(places[limit - 1]!) : null;
}

/** @param counted at most one more than `MOST_COUNTED` */
export const totalOf = (counted: number): number | null => (counted > MOST_COUNTED ? null : counted);
