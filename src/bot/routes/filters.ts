import { MESSAGE_TYPES, type MediaKind, type MessageType } from "../../model/messages.ts";
import { nearest } from "../place.ts";
import type { Filter, Predicate } from "../types.ts";

const MEDIA: readonly MediaKind[] = ["image", "video", "audio", "voice", "document", "sticker"];

const byType = (type: MessageType): [Filter, Predicate] => [
  type as Filter,
  (message) => message.type === type,
];
const byMedia = (kind: MediaKind): [Filter, Predicate] => [
  `media:${kind}`,
  (message) => message.media?.kind === kind,
];

const FILTERS = new Map<Filter, Predicate>([
  ...MESSAGE_TYPES.map(byType),
  ...MEDIA.map(byMedia),
  ["media", (message) => message.media !== null],
  ["poll:new", (message) => message.type === "poll"],
  ["poll:vote", (message) => message.type === "poll_vote"],
  ["quoted", (message) => message.quoted !== null],
  ["mention", (message) => message.mentions.length > 0],
]);

function meant(names: readonly unknown[]): string {
  const wrong = names.find((name) => !FILTERS.has(name as Filter));
  const near = typeof wrong === "string" ? nearest(wrong, [...FILTERS.keys()]) : null;
  return near === null ? "" : `did you mean ${JSON.stringify(near)}? Else `;
}

/**
 * @param filter a filter, several of them, or a function of the message
 * @throws {TypeError} that names every filter when this is none of them
 */
export function readFilter(filter: unknown): { pattern: string; filter: Predicate } {
  if (typeof filter === "function")
    return { pattern: filter.name || "predicate", filter: filter as Predicate };
  const names = (Array.isArray(filter) ? filter : [filter]) as Filter[];
  const predicates = names.map((name) => FILTERS.get(name));
  if (names.length === 0 || predicates.includes(undefined))
    throw new TypeError(
      `b.on(${JSON.stringify(filter)}): ${meant(names)}use a function, or message types and filters of ${[...FILTERS.keys()].join(", ")}.`,
    );
  const wanted = predicates as Predicate[];
  const only = wanted[0]!;
  return {
    pattern: names.join("|"),
    filter: wanted.length === 1 ? only : (message) => wanted.some((accepts) => accepts(message)),
  };
}
