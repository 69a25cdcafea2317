import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Incoming } from "../model/messages.ts";
import { DAY_MS } from "../model/time.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import type { Store } from "../store/store.ts";
import type { MessageReceipt, Witness } from "../whatsapp/port.ts";
import { createConnectionBook } from "./connections.ts";
import { createHourBook } from "./hours.ts";
import { createMissingBook, type Found } from "./missing.ts";
import { reportOn, type AuditReport } from "./report.ts";
import { createSentElsewhere } from "./sent-elsewhere.ts";

export type { AuditReport, MissingEntry } from "./report.ts";

const DEFAULT_DAYS = 7;
/** WhatsApp's phones do not send older ones again. */
const ASKABLE_SECONDS = 14 * 86_400;

/** How long a report waits for what is counted for all that follow. */
const COUNTING_PATIENCE_MS = 250;

/** Keeps account of what should have arrived, and compares it with the inbox. */
export interface Audit {
  /** What connections tell. */
  witness: Witness;
  /** Reads what is open. Call it before the first message. */
  load(): Promise<void>;
  /** For the commit that stores messages: some of them may have been missing. */
  found(deviceId: number, messages: Incoming[]): Found;
  /** Receipts of what this number sent. */
  receipts(deviceId: number, receipts: MessageReceipt[]): void;
  /**
   * @param since Unix milliseconds. Default: seven days ago, or as long as messages are kept
   * @throws INVALID_PARAMETERS when it is in the future, or before the time of which anything is kept
   */
  report(deviceId: number, since?: number): Promise<AuditReport>;
  /** Reads again what is open of a number: another process had it. @throws StorageUnavailable */
  open(deviceId: number): Promise<void>;
  forget(deviceId: number): void;
  /** Every hour: counts what was decided, so that reports stay quick, and lets go of what was deleted. */
  sweep(): Promise<void>;
  /** Resolves when everything is written. */
  stop(): Promise<void>;
}

/** Joins the books of the audit: what is missing, connections, what was sent elsewhere, counts. */
export function createAudit(deps: { store: Store; config: { retentionDays: number }; log: Logger }): Audit {
  const { store, config, log } = deps;
  const missing = createMissingBook(store);
  const hours = createHourBook(store);
  const connections = createConnectionBook(store, log);
  const elsewhere = createSentElsewhere(store, log);

  return {
    witness: {
      missing: missing.note,
      read(deviceId, waId) {
        const { statements, stored } = missing.found(deviceId, [{ id: waId }]);
        if (statements.length === 0) return;
        store.writer.commit(statements, { owning: deviceId }).then(stored, (error: unknown) => {
          if (isWorthLogging(error))
            log.warn(
              { err: error, device: deviceId },
              "could not update the audit: a message that arrived still counts as missing",
            );
        });
      },
      askable: (deviceId, noticedBefore) =>
        missing.open(deviceId, noticedBefore, Math.floor(store.now() / 1000) - ASKABLE_SECONDS),
      unknownOf: missing.noteUnknown,
      connection: connections.note,
      sentElsewhere: elsewhere.note,
    },
    load: missing.load,
    found: missing.found,
    receipts(deviceId, receipts) {
      // Reading may come when the outbox has forgotten the message; phones get it within a month.
      for (const { waId, jid, state } of receipts)
        if (state === "delivered") elsewhere.note(deviceId, { waId, jid });
    },
    async report(deviceId, since) {
      const now = store.now();
      const days = Math.min(DEFAULT_DAYS, config.retentionDays);
      const from = since ?? now - days * DAY_MS;
      // A minute, because nobody computes the limit to the millisecond.
      if (from < now - config.retentionDays * DAY_MS - 60_000)
        throw invalid(`Must be within the last ${config.retentionDays} days: messages are kept that long.`);
      if (from > now) throw invalid("Must not be in the future.");
      await elsewhere.flush();
      await store.writer.drain();
      // A folder that comes from long ago has much to count: then the report reads what it needs itself.
      await store.time.within(COUNTING_PATIENCE_MS, hours.catchUp());
      return reportOn(store, hours, deviceId, from, now);
    },
    open: missing.openNumber,
    forget(deviceId) {
      missing.forget(deviceId);
      connections.forget(deviceId);
      elsewhere.forget(deviceId);
    },
    async sweep() {
      await hours.catchUp();
      await missing.load();
    },
    stop: elsewhere.stop,
  };
}

const invalid = (problem: string): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { since: [problem] } });
