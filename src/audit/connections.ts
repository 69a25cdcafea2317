import type { Logger } from "../log.ts";
import type { Store } from "../store/store.ts";
import type { ConnectionFacts } from "../whatsapp/port.ts";

/** The book of connections. */
interface ConnectionBook {
  /** Never throws: an audit that cannot be written stops nothing. */
  note(deviceId: number, facts: ConnectionFacts): void;
  forget(deviceId: number): void;
}

const OPENED = `insert into connections (closed_at, code, announced, arrived, device_id, opened_at)
  values (?, ?, ?, ?, ?, ?)`;
const CHANGED = `update connections set closed_at = ?, code = ?, announced = ?, arrived = ?
  where device_id = ? and opened_at = ?`;

/** One row for each connection, changed as often as its numbers do. */
export function createConnectionBook({ writer }: Pick<Store, "writer">, log: Logger): ConnectionBook {
  const current = new Map<number, number>();
  return {
    note(deviceId, { openedAt, closedAt, code, announced, arrived }) {
      const sql = current.get(deviceId) === openedAt ? CHANGED : OPENED;
      current.set(deviceId, openedAt);
      const args = [closedAt, code, announced, arrived, deviceId, openedAt];
      writer
        .commit([{ sql, args }], { owning: deviceId })
        .catch((error: unknown) =>
          log.warn({ err: error, device: deviceId }, "could not record a connection in the audit"),
        );
    },
    forget: (deviceId) => void current.delete(deviceId),
  };
}
