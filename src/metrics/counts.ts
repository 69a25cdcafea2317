/** What happened in some time. */
export interface Counts {
  /** Messages of others that came. */
  in: number;
  /** Messages of ours that WhatsApp took. */
  out: number;
  /** Messages of ours that failed, or expired. */
  failed: number;
  /** Messages that came and that a bot (or the text for callers) answered, that the webhook answered at once, and all others. */
  bot: number;
  webhook: number;
  nobody: number;
  /** Attempts at webhooks. */
  posts: number;
  postFailures: number;
  /** How many answers took how long: one count for each of {@link BOUNDS_MS}, and one for what took longer. */
  waits: number[];
}

/** Counts that are numbers, in the order in which rows have them. */
const NAMES = ["in", "out", "failed", "bot", "posts", "postFailures", "webhook", "nobody"] as const;
const BOUNDS_MS = [
  25, 50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 15_000, 20_000, 30_000,
  60_000,
];

export const noCounts = (): Counts => ({
  in: 0,
  out: 0,
  failed: 0,
  bot: 0,
  webhook: 0,
  nobody: 0,
  posts: 0,
  postFailures: 0,
  waits: [],
});

/** Notes how long an answer took. */
export function noteWait(counts: Counts, ms: number): void {
  const place = BOUNDS_MS.findIndex((bound) => ms <= bound);
  addWait(counts, place === -1 ? BOUNDS_MS.length : place, 1);
}

function addWait({ waits }: Counts, place: number, count: number): void {
  while (waits.length <= place) waits.push(0);
  waits[place]! += count;
}

export function addCounts(to: Counts, from: Counts): void {
  for (const name of NAMES) to[name] += from[name];
  from.waits.forEach((count, place) => addWait(to, place, count));
}

/** Adds to what there is of a time already. */
export function addTo(sums: Map<number, Counts>, at: number, counts: Counts): void {
  const sum = sums.get(at) ?? noCounts();
  addCounts(sum, counts);
  sums.set(at, sum);
}

/** As rows and other nodes are given them: short, and the same whatever is added to the list later. */
export const encodeCounts = (counts: Counts): string =>
  JSON.stringify([...NAMES.map((name) => counts[name]), counts.waits]);

/** @throws when the text is none of `encodeCounts` */
export function decodeCounts(text: string): Counts {
  const [waits, ...numbers] = (JSON.parse(text) as [...number[], number[]]).toReversed() as [
    number[],
    ...number[],
  ];
  const counts = noCounts();
  numbers.toReversed().forEach((count, place) => {
    const name = NAMES[place];
    if (name !== undefined) counts[name] = count;
  });
  counts.waits = waits;
  return counts;
}

/**
 * How long answers took that were slower than a share of all of them. An estimate: within the bounds between which it lies
 * they are taken to be spread evenly.
 *
 * @param share 0.5 is the median
 * @returns milliseconds; null when nothing was answered
 */
export function slowness({ waits }: Pick<Counts, "waits">, share: number): number | null {
  const total = waits.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [place, count] of waits.entries()) {
    if (left > count || count === 0) {
      left -= count;
      continue;
    }
    const from = place === 0 ? 0 : BOUNDS_MS[place - 1]!;
    const to = BOUNDS_MS[place] ?? from;
    return Math.round(from + (to - from) * (left / count));
  }
  return BOUNDS_MS.at(-1)!;
}
