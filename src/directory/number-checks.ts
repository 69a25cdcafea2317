import { numberChecks } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import type { GatewayError } from "../model/errors/errors.ts";
import { DAY_MS, MINUTE_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { RateOverlimit, type CheckedNumber, type WhatsAppConnection } from "../whatsapp/port.ts";
import { connected } from "./connected.ts";
import { PACES, tooOften, type Paces } from "./paces.ts";

/** What is known of a number. */
export interface NumberCheck {
  /** Digits. */
  number: string;
  /** Null: WhatsApp did not say. */
  exists: boolean | null;
  /** `<digits>@lid`; null when it has none, or WhatsApp did not say. */
  lid: string | null;
  /** When WhatsApp was asked, Unix milliseconds. */
  checkedAt: number;
}

/** Which numbers are on WhatsApp. */
export interface NumberChecks {
  /**
   * Answers from what is kept for a day; asks WhatsApp about all others together.
   *
   * @param numbers digits, each once
   * @returns in their order
   * @throws RATE_LIMITED when that would be more questions than {@link PACES} has for an hour, or WhatsApp says that it is too
   *   many: nothing was asked; UNAVAILABLE while the number is not connected
   */
  check(deviceId: number, numbers: readonly string[]): Promise<NumberCheck[]>;
}

interface NumberChecksDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "now">;
  log: Logger;
  paces: Paces;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "checkNumbers"> | null;
}

const KEPT_MS = DAY_MS;
/** After WhatsApp's own refusal, which does not say for how long. */
const REFUSED_MS = 5 * MINUTE_MS;

const KNOWN = defineQuery(
  `SELECT number, "exists", lid_user, checked_at FROM number_checks
  WHERE device_id = ?1 AND number IN (SELECT value FROM json_each(?2)) AND checked_at > ?3`,
  {
    number: numberChecks.number,
    exists: numberChecks.exists,
    lidUser: numberChecks.lidUser,
    checkedAt: numberChecks.checkedAt,
  },
);
const KEEP = `INSERT OR REPLACE INTO number_checks (device_id, number, "exists", lid_user, checked_at) VALUES (?, ?, ?, ?, ?)`;

/** Kept answers cost nothing; what WhatsApp does not say is asked again the next time. */
export function createNumberChecks({ store, log, paces, connection }: NumberChecksDeps): NumberChecks {
  async function known(deviceId: number, numbers: readonly string[]): Promise<Map<string, NumberCheck>> {
    const rows = await store.read(KNOWN, [deviceId, JSON.stringify(numbers), store.now() - KEPT_MS]);
    return new Map(
      rows.map(({ lidUser, ...row }) => [
        row.number,
        { ...row, lid: lidUser === null ? null : `${lidUser}@lid` },
      ]),
    );
  }

  async function takeQuestions(deviceId: number, count: number): Promise<void> {
    const waitMs = await paces.take(deviceId, "checks", count);
    if (waitMs > 0) throw tooMany(waitMs);
  }

  async function ask(deviceId: number, numbers: readonly string[]): Promise<CheckedNumber[]> {
    const line = connected(connection(deviceId));
    await takeQuestions(deviceId, numbers.length);
    try {
      return await line.checkNumbers(numbers);
    } catch (error) {
      if (error instanceof RateOverlimit) throw tooMany(REFUSED_MS);
      log.warn({ err: error, device: deviceId }, "WhatsApp did not say which numbers it knows");
      return [];
    }
  }

  /** What was paid for with questions is told, even if it cannot be kept. */
  async function keep(
    deviceId: number,
    answered: readonly CheckedNumber[],
    checkedAt: number,
  ): Promise<void> {
    const kept = answered.map(({ number, exists, lid }): Statement => ({
      sql: KEEP,
      args: [deviceId, number, exists, lid === null ? null : lid.replace("@lid", ""), checkedAt],
    }));
    if (kept.length === 0) return;
    await store.writer.commit(kept, { owning: deviceId }).catch((err: unknown) => {
      log.warn({ err, device: deviceId }, "could not keep which numbers are on WhatsApp");
    });
  }

  return {
    async check(deviceId, numbers) {
      const found = await known(deviceId, numbers);
      const missing = numbers.filter((number) => !found.has(number));
      if (missing.length === 0) return numbers.map((number) => found.get(number)!);
      const answered = await ask(deviceId, missing);
      const checkedAt = store.now();
      for (const one of answered) found.set(one.number, { ...one, checkedAt });
      await keep(deviceId, answered, checkedAt);
      return numbers.map((number) => found.get(number) ?? { number, exists: null, lid: null, checkedAt });
    },
  };
}

const tooMany = (ms: number): GatewayError =>
  tooOften(
    `WhatsApp blocks numbers that ask about many others: at most ${PACES.checks.words}. Ask about fewer.`,
    ms,
  );
