import { chatSettings, chatTimers } from "../../drizzle/schema.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Reading } from "../store/store.ts";

/** How the number's phone shows a chat. */
export interface ShownSettings {
  archived: boolean;
  pinned: boolean;
  /** Unix milliseconds; -1: for ever; null: it makes a sound. */
  mutedUntil: number | null;
  /** Marked by hand. */
  markedUnread: boolean;
  /** Seconds after which messages disappear; 0: they stay; null: WhatsApp has not said so of this group yet. */
  disappearing: number | null;
}

const EACH_KEY = "SELECT json_extract(k.value, '$[0]') AS place";
const OF_KEY = "WHERE t.device_id = json_extract(k.value, '$[1]') AND t.chat = json_extract(k.value, '$[2]')";

const SETTINGS = defineQuery(
  `${EACH_KEY}, t.archived, t.pinned, t.muted_until, t.unread, t.updated_at
  FROM json_each(?1) k CROSS JOIN chat_settings t ${OF_KEY}`,
  {
    place: integer(),
    archived: chatSettings.archived,
    pinned: chatSettings.pinned,
    mutedUntil: chatSettings.mutedUntil,
    unread: chatSettings.unread,
    updatedAt: chatSettings.updatedAt,
  },
);
const TIMERS = defineQuery(
  `${EACH_KEY}, t.seconds, t.since FROM json_each(?1) k CROSS JOIN chat_timers t ${OF_KEY}`,
  { place: integer(), seconds: chatTimers.seconds, since: chatTimers.since },
);

/**
 * Two statements, however many chats are asked about.
 *
 * @param keys `[[place, device, key], …]` as JSON
 * @param isGroup by place
 * @returns by place
 */
export async function settingsOf(
  { read, now }: Pick<Reading, "read"> & { now(): number },
  keys: string,
  isGroup: (place: number) => boolean,
): Promise<(place: number) => ShownSettings> {
  // Of several keys the row that was written last counts.
  const settings = (await read(SETTINGS, [keys])).toSorted((a, b) => a.updatedAt - b.updatedAt);
  const timers = (await read(TIMERS, [keys])).toSorted((a, b) => a.since - b.since);
  const shown = new Map(settings.map((row) => [row.place, row]));
  const seconds = new Map(timers.map((row) => [row.place, row.seconds]));
  return (place) => {
    const row = shown.get(place);
    const mutedUntil = row?.mutedUntil ?? null;
    return {
      archived: row?.archived ?? false,
      pinned: row?.pinned ?? false,
      mutedUntil: mutedUntil !== null && (mutedUntil < 0 || mutedUntil > now()) ? mutedUntil : null,
      markedUnread: row?.unread ?? false,
      disappearing: seconds.get(place) ?? (isGroup(place) ? null : 0),
    };
  };
}
