import type { DatabaseServer } from "./servers.ts";

/** What only the owner of a number writes, and when. */
const OWNERS_WRITES = {
  inbox: "INSERT ON inbox WHEN NEW.type <> 'timer' AND",
  decisions: "INSERT ON decisions WHEN",
  sent: "UPDATE OF state ON outbox WHEN OLD.state = 'queued' AND NEW.state = 'sent' AND",
  keys: "INSERT ON wa_keys WHEN",
  ratchets: "UPDATE ON wa_keys WHEN",
};
const NOBODY_HAS_IT = `NOT EXISTS (SELECT 1 FROM leases WHERE p = NEW.device_id % 256
  AND node IS NOT NULL AND until > unixepoch('subsec') * 1000)`;

/**
 * Lets the database itself count what is written for a number under a lease that is over, whoever writes it: triggers see what
 * a commit holds, and what the lease was in that moment. That a node writes under the lease of another is not seen here but
 * at the phones: two writers of one ratchet make messages that nobody can read.
 */
export async function watchStaleWrites(database: DatabaseServer): Promise<void> {
  const triggers = Object.entries(OWNERS_WRITES).map(
    ([name, when]) => `CREATE TRIGGER IF NOT EXISTS drill_${name} AFTER ${when} ${NOBODY_HAS_IT}
BEGIN INSERT INTO drill_stale (what, device_id) VALUES ('${name}', NEW.device_id); END;`,
  );
  await database.execute(
    `CREATE TABLE IF NOT EXISTS drill_stale (id INTEGER PRIMARY KEY, what TEXT, device_id INTEGER);\n${triggers.join("\n")}`,
  );
}

/** @returns one line for each since the last look */
export async function staleWrites(database: DatabaseServer): Promise<string[]> {
  const rows = await database.rows<{ what: string; n: number; device_id: number }>(
    "SELECT what, device_id, count(*) AS n FROM drill_stale GROUP BY what, device_id ORDER BY id",
  );
  await database.execute("DELETE FROM drill_stale");
  return rows.flatMap(({ what, device_id: device, n }) =>
    Array.from({ length: n }, () => `written under a lease that is over: ${what} of device ${device}`),
  );
}
