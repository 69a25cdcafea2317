import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Projects in the order in which they run. Files of one project follow each other: only then does Vitest keep a process for
 * the next of them. First comes the one that needs no build of the gateway, which is made meanwhile; last the one with the
 * smallest files, so that no worker ends up alone.
 */
const PROJECTS = ["long", "simulator", "gateway", "nodes", "baileys", "bots", "sources"];

/** Files that take longer than twelve seconds, longest first: nobody may begin with one when the others are done. */
const LONG = [
  "long/scroll",
  "long/console",
  "long/release",
  "simulator/faults",
  "simulator/capacity",
  "simulator/violations",
  "simulator/placeholders",
  "simulator/other-client",
  "simulator/half-open",
  "simulator/groups-2026",
  "simulator/messages",
  "simulator/behaviour-2026",
  "crash/mutations",
  "crash/points",
  "console/live",
  "bots/crash",
  "e2e/year",
  "cluster/drill",
  "e2e/send-media",
  "demo/playground",
  "console/numbers",
  "console/shell",
  "cli/bots",
  "console/chats",
  "e2e/closed-numbers",
  "security/bad-requests",
  "unit/whatsapp/key-parts",
  "e2e/media-in",
  "demo/demo",
  "console/bots",
  "unit/cluster/leases",
  "unit/cluster/bus",
  "bots/pages",
  "unit/webhooks/hostile-receivers",
  "unit/cluster/sends",
  "e2e/outgoing-limits",
  "testing/fork",
  "unit/media/decoders",
  "cluster/move-database",
  "whatsapp/backlog",
  "faults/database",
  "attack/attacks",
  "e2e/generate-qr",
  "faults/drain",
  "faults/errors",
  "contracts/server",
  "e2e/send-media-again",
  "cluster/life",
  "e2e/incoming-guarantees",
  "crash/production",
  "e2e/first-conversation",
  "console/desk",
  "faults/clock",
  "cli/parley",
  "unit/media/hostile",
  "crash/kill",
  "compat/reply-shapes",
  "e2e/outgoing",
  "whatsapp/numbers",
  "e2e/audit",
  "whatsapp/messages",
  "cluster/deploy",
  "e2e/webhook-outage",
  "crash/order",
  "unit/cluster/hand-over",
  "e2e/rotate-key",
  "unit/webhooks/breaker",
  "faults/disk-full",
  "whatsapp/incoming-faults",
  "e2e/groups-at-size",
  "contracts/move-database",
  "e2e/idempotency",
  "unit/cluster/webhooks",
  "crash/overload",
  "cluster/webhooks",
  "e2e/outgoing-retries",
  "compat/migrating",
  "e2e/groups-and-lids",
  "unit/store/crash",
  "cluster/requests",
  "security/sessions",
  "security/permissions",
  "unit/webhooks/retries",
  "dev/bindings",
  "unit/webhooks/backlog",
  "client/pages",
  "e2e/backup",
  "contracts/thread",
  "e2e/channels",
  "e2e/polls",
  "demo/first-day",
  "whatsapp/ratchet",
  "testing/package",
  "api/documentation",
  "api/process",
  "properties/ratchet",
];

/** Orders the files of a run: by project, and within one the long files first; otherwise Vitest decides. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files);
    const place = (list: string[], name: string): number => {
      const found = list.indexOf(name);
      return found === -1 ? list.length : found;
    };
    const nameOf = ({ moduleId, project }: TestSpecification): string =>
      relative(`${project.vitest.config.root}/test`, moduleId).replace(/\.test\.ts$/, "");
    return known.toSorted(
      (a, b) =>
        place(PROJECTS, a.project.name) - place(PROJECTS, b.project.name) ||
        place(LONG, nameOf(a)) - place(LONG, nameOf(b)),
    );
  }
}
