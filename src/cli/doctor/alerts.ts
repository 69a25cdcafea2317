import { existsSync } from "node:fs";
import { TELLING, type Telling } from "../../alerts/telling.ts";
import type { Config } from "../../config.ts";
import { openReadOnly } from "../../store/file/read-only.ts";
import { bad, good, note, type Finding } from "./finding.ts";

const TEST = "npm run parley -- alerts test";

/** Is the operator told, and does it arrive? */
export async function checkAlerts(config: Config): Promise<Finding> {
  const { alertUrl, alertSecret } = config;
  if (alertUrl === null)
    return note(
      "alerts",
      "off: nobody is told when a number is logged out or the disk runs full. Set ALERT_URL (docs/operations/alerts.md).",
    );
  const { host } = new URL(alertUrl);
  const telling = await lastKnown(config);
  const unsigned = alertSecret === null ? ", not signed (set ALERT_SECRET)" : "";
  if (telling === null) return note("alerts", `to ${host}${unsigned}; none was needed yet. Try it: ${TEST}`);
  const { failingSince, lastError, failures, deliveredAt, givenUp } = telling;
  const lost = givenUp > 0 ? `; ${givenUp} were given up after a day` : "";
  if (failingSince !== null)
    return bad(
      "alerts",
      `do not arrive at ${host} since ${new Date(failingSince).toISOString()} (${failures} attempts, ${lastError})${lost}: correct the receiver or ALERT_URL, then ${TEST}`,
    );
  const when = deliveredAt === null ? "none yet" : `the last at ${new Date(deliveredAt).toISOString()}`;
  return good("alerts", `to ${host}${unsigned}, ${when}${lost}`);
}

/** Null: nothing was told yet, or nothing can be read here: the gateway has a server, or no data yet. */
async function lastKnown(config: Config): Promise<Telling | null> {
  const { databaseUrl } = config;
  if (!databaseUrl.startsWith("file:") || !existsSync(databaseUrl.slice("file:".length))) return null;
  const row = await openReadOnly(config).then(
    (store) => store.readOne(TELLING).finally(() => store.close()),
    () => null,
  );
  return row && (JSON.parse(row.value) as Telling);
}
