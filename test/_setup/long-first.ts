import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Projects in the order in which they run. Files of one project follow each other: only then does Vitest keep a process for
 * the next of them. First come those that need no build of the gateway, which is made meanwhile, and mostly wait; last the
 * one with the smallest files, so that no worker ends up alone.
 */
const PROJECTS = ["whatsapp", "simulator", "gateway", "sources", "units"];

/** Files that take longer than ten seconds, longest first: nobody may begin with one when the others are done. */
const LONG = [
  "whatsapp/numbers",
  "whatsapp/messages",
  "whatsapp/backlog",
  "whatsapp/sealed",
  "simulator/faults",
  "simulator/capacity",
  "simulator/violations",
  "simulator/placeholders",
  "e2e/generate-qr",
  "crash/mutations",
  "e2e/incoming-guarantees",
  "crash/points",
  "e2e/media-in",
  "cli/bots",
  "cli/parley",
  "security/bad-requests",
  "e2e/backup",
  "e2e/year",
  "crash/overload",
  "faults/errors",
  "attack/attacks",
  "e2e/closed-numbers",
  "faults/database",
  "e2e/rotate-key",
  "faults/drain",
  "e2e/webhook-outage",
  "crash/kill",
  "crash/production",
  "e2e/channels",
  "faults/clock",
  "crash/soak",
  "e2e/send-media",
  "bots/crash",
  "demo/demo",
  "bots/pages",
  "testing/crash",
  "contracts/thread",
  "unit/webhooks/hostile-receivers",
  "unit/store/crash",
  "unit/media/hostile",
  "unit/media/decoders",
  "unit/webhooks/breaker",
  "unit/webhooks/retries",
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
