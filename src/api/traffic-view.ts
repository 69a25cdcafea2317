import type { TrafficPoint, TrafficReport } from "../metrics/traffic.ts";
import { iso } from "./views.ts";

/** Traffic as charts are drawn of it. */
export const trafficView = (report: TrafficReport) => ({
  since: iso(report.since),
  until: iso(report.until),
  step_seconds: report.stepMs / 1000,
  complete_since: report.completeSince === null ? null : iso(report.completeSince),
  partial: report.partial,
  buckets: report.points.map(({ at, ...counts }) => ({ at: iso(at), ...countsView(counts) })),
  total: countsView(report.total),
});

const countsView = ({ answerMs, postFailures, ...counts }: Omit<TrafficPoint, "at">) => ({
  ...counts,
  answer_ms: answerMs,
  post_failures: postFailures,
});
