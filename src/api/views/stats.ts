import type { TrafficReport, TrafficSum } from "../../metrics/traffic.ts";
import { iso, isoOrNull } from "./views.ts";

/** The body of an answer with statistics: its hours, their sum, and how far they are known. */
export const statsView = ({ hours, sum, completeSince, partial }: TrafficReport) => ({
  total: hours.length,
  data: hours.map(({ at, ...counts }) => ({ at: iso(at), ...countsView(counts) })),
  sum: countsView(sum),
  complete_since: isoOrNull(completeSince),
  partial,
});

const countsView = ({ answerMs, postFailures, bot, webhook, nobody, ...counts }: TrafficSum) => ({
  ...counts,
  answered_by: { bot, webhook, nobody },
  p50_ms: answerMs?.p50 ?? null,
  p95_ms: answerMs?.p95 ?? null,
  post_failures: postFailures,
});
