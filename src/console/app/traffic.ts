/** One step of time; counts are of messages and posts. */
export interface Bucket {
  at: string;
  in: number;
  out: number;
  failed: number;
  answered: number;
  answer_ms: { p50: number; p95: number } | null;
  posts: number;
  post_failures: number;
}

/** `GET /traffic`, `GET /admin/traffic`. */
export interface Traffic {
  since: string;
  until: string;
  step_seconds: number;
  /** Before it nothing was counted; null: all is known. */
  complete_since: string | null;
  partial: boolean;
  buckets: Bucket[];
  total: Omit<Bucket, "at">;
}

/** A line of a chart. */
export interface Line {
  label: string;
  /** Name of a colour of the kit, without its dashes. */
  tone: "accent" | "good-mark" | "warn-mark" | "bad-mark";
  /** Null where nothing is known. */
  values: (number | null)[];
}

/** Null before the time from which everything was counted: nothing known is not nothing. */
export const knownValues = (traffic: Traffic, of: (bucket: Bucket) => number | null): (number | null)[] =>
  traffic.buckets.map((bucket) =>
    traffic.complete_since !== null && bucket.at < traffic.complete_since && of(bucket) === 0
      ? null
      : of(bucket),
  );
