/** Counts of messages and posts. */
export interface Counts {
  in: number;
  out: number;
  answered_by: { bot: number; webhook: number; nobody: number };
  failed: number;
  p50_ms: number | null;
  p95_ms: number | null;
  posts: number;
  post_failures: number;
}

/** `GET /stats`, `GET /admin/stats`. */
export interface Stats {
  /** Oldest first. */
  data: (Counts & { at: string })[];
  sum: Counts;
  /** Before it nothing was counted; null: all is known. */
  complete_since: string | null;
  partial: boolean;
}

/** A line of a chart. */
export interface Line {
  label: string;
  /** Name of a colour of the kit, without its dashes. */
  tone: "accent" | "good-mark" | "warn-mark" | "bad-mark";
  /** Null where nothing is known. */
  values: (number | null)[];
}

const HOUR_MS = 3_600_000;

/** Null before the time from which everything was counted: nothing known is not nothing. */
export const knownValues = (stats: Stats, of: (hour: Counts) => number): (number | null)[] =>
  stats.data.map((hour) =>
    stats.complete_since !== null &&
    Date.parse(hour.at) + HOUR_MS <= Date.parse(stats.complete_since) &&
    of(hour) === 0
      ? null
      : of(hour),
  );
