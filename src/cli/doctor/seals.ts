import type { Client, Row } from "@libsql/client";
import { readKeyCheck, requireFittingKey } from "../../store/sealed/key-check.ts";
import { createSecretBox } from "../../store/sealed/secret-box.ts";
import { SEALED_COLUMNS, type SealedColumn } from "../../store/sealed/sealed-columns.ts";
import { findMasterKey } from "../../store/sealed/secrets.ts";
import { bad, good, NOT_SAVED, REPAIR, type Examination } from "./finding.ts";

const ROWS_AT_ONCE = 500;

/** Sealed values that do not open: with what they are, and for which number. */
export async function checkSeals(examination: Examination): Promise<void> {
  const { client, config, file, findings } = examination;
  const check = await readKeyCheck(client);
  const key = findMasterKey(config);
  if (check === null) return;
  requireFittingKey(key, check, config.dataDir, `The database ${file}`);
  const box = createSecretBox(key);
  const opens = (sealed: ArrayBuffer, context: string): boolean => {
    try {
      box.open(new Uint8Array(sealed), context);
      return true;
    } catch {
      return false;
    }
  };
  let broken = 0;
  for (const column of SEALED_COLUMNS) {
    const rows = await closedRows(client, column, opens);
    if (rows.length === 0) continue;
    broken += rows.length;
    await reportSeals(examination, column, rows);
  }
  if (broken === 0) findings.push(good("seals", "all sealed values open"));
}

interface ClosedRow {
  rowid: number;
  /** Digits, or null when the table does not say. */
  number: string | null;
}

async function closedRows(
  client: Client,
  { table, column, keys, context }: SealedColumn,
  opens: (sealed: ArrayBuffer, context: string) => boolean,
): Promise<ClosedRow[]> {
  const { rows: info } = await client.execute(`SELECT name FROM pragma_table_info('${table}')`);
  const hasDevice = info.some(({ name }) => name === "device_id");
  const number = hasDevice ? "(SELECT number FROM devices WHERE devices.id = t.device_id)" : "NULL";
  const closed: ClosedRow[] = [];
  for (let after = Number.MIN_SAFE_INTEGER, rows: Row[] = []; ; after = Number(rows.at(-1)!["rowid_"])) {
    ({ rows } = await client.execute({
      sql: `SELECT t.rowid AS rowid_, ${number} AS number_, ${keys.map((key) => `t.${key}`).join(", ")}, t.${column} AS sealed_
        FROM ${table} t WHERE t.rowid > ? AND typeof(t.${column}) = 'blob' ORDER BY t.rowid LIMIT ${ROWS_AT_ONCE}`,
      args: [after],
    }));
    for (const row of rows)
      if (!opens(row["sealed_"] as ArrayBuffer, context(...keys.map((key) => row[key] as string | number))))
        closed.push({
          rowid: Number(row["rowid_"]),
          number: row["number_"] === null ? null : String(row["number_"]),
        });
    if (rows.length < ROWS_AT_ONCE) return closed;
  }
}

async function reportSeals(
  { client, repair, copyFirst, findings }: Examination,
  { table, column }: SealedColumn,
  rows: ClosedRow[],
): Promise<void> {
  const numbers = [...new Set(rows.flatMap(({ number }) => number ?? []))].join(", ");
  const what = `${rows.length} in ${table}.${column}${numbers === "" ? "" : ` of ${numbers}`} cannot be opened`;
  if (table === "wa_creds")
    findings.push(
      bad("seals", `${what}: remove the number and link it again with POST /generate-qr, or ${NOT_SAVED}`),
    );
  else if (table !== "wa_keys")
    findings.push(bad("seals", `${what}: their contents are lost, or ${NOT_SAVED}`));
  else if (!repair)
    findings.push(bad("seals", `${what}: Parley makes these keys again once they are removed; ${REPAIR}`));
  else {
    copyFirst();
    await client.execute({
      sql: `DELETE FROM wa_keys WHERE rowid IN (SELECT value FROM json_each(?))`,
      args: [JSON.stringify(rows.map(({ rowid }) => rowid))],
    });
    findings.push(
      good("seals", `repaired: ${what} and were removed; contacts' phones open new sessions on their own`),
    );
  }
}
