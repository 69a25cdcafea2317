import { z } from "zod";
import { GatewayError } from "./errors/errors.ts";

/** One row's place in a list that begins with the newest. */
export interface Place {
  /** Unix milliseconds. */
  at: number;
  /** Number of the row: it settles which of two in the same millisecond is the older one. Below zero: it was imported. */
  row: number;
}

/** Which page of a list is wanted. */
export interface PageWanted {
  /** How many records it has at most. Default: `MOST_UNASKED`. */
  limit?: number | undefined;
  /** `next` of the page before, or an ISO time: only older ones. */
  before?: string | undefined;
}

/** One page of a list, the newest record first. */
export interface Page<T> {
  /** How many there are on all pages; null when it is more than is worth counting. */
  total: number | null;
  /** `before` of the next page; null at the end. */
  next: string | null;
  items: T[];
}

/** No row of a time has a number as low: what has that very time is not before it. */
export const BEFORE_ALL_ROWS: number = Number.MIN_SAFE_INTEGER;

/** Before everything. */
export const TOP: Readonly<Place> = { at: Number.MAX_SAFE_INTEGER, row: 0 };

/**
 * What people make one by one (accounts, keys, numbers, channels) is told as far as this when nobody asks for a page: it is
 * few, and whoever reads such a list wants to know all of it.
 */
export const MOST_UNASKED = 1_000;

/** Rows that a list counts; with more, its total is not known. */
export const MOST_COUNTED = 1_000;

const CURSOR = /^(\d{1,16})\.(-?\d{1,16})$/;

/** What `next` of an answer says, and `before` of the next request gives back. */
export const cursorOf = ({ at, row }: Place): string => `${at}.${row}`;

const TIME = z.iso.datetime({ offset: true });

/** @returns null for what is neither a cursor nor a time in ISO 8601 with a time zone */
export function readPlace(before: string): Place | null {
  const [, at, row] = CURSOR.exec(before) ?? [];
  if (at !== undefined) return { at: Number(at), row: Number(row) };
  // By its form first: `Date.parse` takes a 31st of February, and whatever stands behind a date.
  return TIME.safeParse(before).success ? { at: Date.parse(before), row: BEFORE_ALL_ROWS } : null;
}

/** What is said of a `before` that is none. */
export const NO_PLACE =
  "Must be `next` of the previous page, or a time in ISO 8601 with a time zone, for instance 2030-01-31T12:00:00Z.";
/** The same for a list whose records have ids of their own. */
export const NO_PLACE_NOR_ID = NO_PLACE.replace(", or", ", the id of a record, or");

/** The refusal of a `before` that may be an id, and is nobody's. */
export const noPlace = (): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { before: [NO_PLACE_NOR_ID] } });

/** @throws TypeError for what is neither `next` of a page nor a time: whoever reads requests refuses it */
export function placeOf(before: string | undefined): Place {
  const place = before === undefined ? TOP : readPlace(before);
  if (place === null) throw new TypeError("`before` is not a place in a list.");
  return place;
}

/** Newest first; of two in the same millisecond, the one whose row is the newer. */
export const newestFirst = (a: Place, b: Place): number => b.at - a.at || b.row - a.row;

/** A page of a list that is in memory as a whole. */
export function pageInMemory<T>(
  all: readonly T[],
  placeFor: (item: T) => Place,
  { limit = MOST_UNASKED, before }: PageWanted,
): Page<T> {
  const from = placeOf(before);
  const found = all
    .map((item) => ({ item, place: placeFor(item) }))
    .filter(({ place }) => newestFirst(from, place) < 0)
    .toSorted((a, b) => newestFirst(a.place, b.place))
    .slice(0, limit + 1);
  return {
    total: all.length,
    next: nextOf(
      found.map(({ place }) => place),
      limit,
    ),
    items: found.slice(0, limit).map(({ item }) => item),
  };
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
