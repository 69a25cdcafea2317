import type { AuditReport } from "../../audit/audit.ts";
import { iso } from "./views.ts";

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));
/** As everywhere in answers: digits of a number, the full id of everything else. */
const shown = (id: string): string => id.replace(/@s\.whatsapp\.net$/, "");

/** The report as `GET /devices/{number}/audit` answers it, with times in ISO 8601. */
export const auditView = (report: AuditReport) => ({
  since: iso(report.since),
  until: iso(report.until),
  lost: report.lost,
  received: report.received,
  answered_or_forwarded: report.answeredOrForwarded,
  pending: report.pending,
  awaited: report.awaited,
  recovered: report.recovered,
  connections: report.connections.map((connection) => ({
    opened_at: iso(connection.openedAt),
    closed_at: isoOrNull(connection.closedAt),
    code: connection.code,
    announced: connection.announced,
    arrived: connection.arrived,
  })),
  missing: report.missing.map((entry) => ({
    id: entry.id,
    chat: shown(entry.chat),
    from: shown(entry.from),
    reason: entry.reason,
    state: entry.state,
    noticed_at: iso(entry.noticedAt),
    resolved_at: isoOrNull(entry.resolvedAt),
  })),
});

/** The report in one sentence: what an operator wants to read. */
export function auditSentence({ lost, since, awaited, recovered }: AuditReport): string {
  const parts = [`${lost} ${lost === 1 ? "message" : "messages"} lost since ${iso(since)}`];
  if (recovered > 0) parts.push(`${recovered} arrived late`);
  if (awaited > 0)
    parts.push(`${awaited} did not arrive or could not be read, and ${was(awaited)} requested again`);
  return `${parts.join("; ")}.`;
}

const was = (count: number): string => (count === 1 ? "was" : "were");
