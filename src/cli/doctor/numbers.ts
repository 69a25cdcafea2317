import { existsSync } from "node:fs";
import { devices, listeners } from "../../../drizzle/schema.ts";
import { conditionsOf } from "../../alerts/conditions.ts";
import type { Config } from "../../config.ts";
import { adviceFor, type LastClose, type LinkState } from "../../numbers/link.ts";
import { openReadOnly } from "../../store/file/read-only.ts";
import { missingMigrations } from "../../store/migrations.ts";
import { defineQuery, integer, nullable } from "../../store/query.ts";
import { bad, good, note, type Finding } from "./finding.ts";

const NUMBERS = defineQuery(
  `SELECT id, account_id, number, state, since, lid, last_close,
    (SELECT disabled_reason FROM webhooks WHERE device_id = d.id) AS webhook,
    (SELECT min(disabled_reason) FROM listeners WHERE device_id = d.id) AS listener,
    (SELECT count(*) FROM webhooks WHERE device_id = d.id AND NOT enabled AND disabled_reason IS NULL)
    + (SELECT count(*) FROM listeners WHERE device_id = d.id AND NOT enabled AND disabled_reason IS NULL) AS off
  FROM devices d ORDER BY id`,
  {
    id: devices.id,
    accountId: devices.accountId,
    number: devices.number,
    state: devices.state,
    since: devices.since,
    lid: nullable(devices.lid),
    lastClose: devices.lastClose,
    webhook: nullable(listeners.disabledReason),
    listener: nullable(listeners.disabledReason),
    off: integer(),
  },
);
/** A machine without network has all its numbers away. */
const MOST_NAMED = 10;

/** Does the database fit this version? What is missing, the next start makes. */
export async function checkMigrations(config: Config): Promise<Finding[]> {
  const missing = databaseThere(config) ? await missingMigrations(config).catch(() => null) : null;
  // What keeps the database from being read is a finding of its own.
  if (missing === null) return [];
  if (missing === 0) return [good("schema", "no migration is pending")];
  const waits = missing === 1 ? "1 migration waits" : `${missing} migrations wait`;
  return [
    note(
      "schema",
      `${waits} for the next start of this version: make a backup, then restart (docs/upgrade.md). Numbers and webhooks are looked at afterwards`,
    ),
  ];
}

/**
 * Which numbers do not work, and which webhooks and listeners are switched off: what an operator with `ALERT_URL` is told as well.
 *
 * @param isRunning a gateway that was stopped has no number online
 */
export async function checkNumbers(config: Config, isRunning: boolean, now = Date.now()): Promise<Finding[]> {
  const rows = databaseThere(config) ? await numbersOf(config) : null;
  if (rows === null || rows.length === 0) return [];
  const wrong = rows.flatMap((row) => wrongOf(row, now)).filter(({ isAway }) => isRunning || !isAway);
  const off = rows.reduce((sum, row) => sum + row.off, 0);
  const findings = wrong.slice(0, MOST_NAMED).map(({ name, text }) => bad(name, text));
  if (wrong.length > MOST_NAMED)
    findings.push(
      bad(
        "numbers",
        `${wrong.length - MOST_NAMED} more like these: npm run parley -- devices list shows all`,
      ),
    );
  if (off > 0)
    findings.push(
      note(
        "webhooks",
        `${off} are switched off by their owners, who set "enabled": true to get events again`,
      ),
    );
  return wrong.length > 0
    ? findings
    : [good("numbers", `none of ${rows.length} is logged out, blocked or away`), ...findings];
}

type NumberRow = NonNullable<Awaited<ReturnType<typeof numbersOf>>>[number];

/** Null: nothing can be read, and a finding of its own says why. */
const numbersOf = (config: Config) =>
  openReadOnly(config).then(
    (store) => store.read(NUMBERS).finally(() => store.close()),
    () => null,
  );

const databaseThere = ({ databaseUrl }: Config): boolean =>
  !databaseUrl.startsWith("file:") || existsSync(databaseUrl.slice("file:".length));

function wrongOf(row: NumberRow, now: number): { name: string; text: string; isAway: boolean }[] {
  const conditions = conditionsOf(row, {
    webhook: row.webhook,
    listener: row.listener,
    now,
    isOpen: () => false,
    advice: () => adviceFor(row.state as LinkState, row.lastClose as LastClose | null),
  });
  return [...conditions.values()].map(({ alert, text, advice }) => ({
    name: alert === "webhook_off" ? "webhook" : "number",
    text: [text, advice].filter((part) => part !== null).join(" "),
    isAway: alert === "number_away",
  }));
}
