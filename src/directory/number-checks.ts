import { numberChecks } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { RateOverlimit, type CheckedNumber, type WhatsAppConnection } from "../whatsapp/port.ts";
import { connected } from "./connected.ts";

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
   * @throws RATE_LIMITED when that would be more than {@link MOST_AN_HOUR} questions in an hour, or WhatsApp says that it is too
   *   many: nothing was asked; UNAVAILABLE while the number is not connected
   */
  check(deviceId: number, numbers: readonly string[]): Promise<NumberCheck[]>;
}

interface NumberChecksDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "now">;
  log: Logger;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "checkNumbers"> | null;
}

/** WhatsApp takes questions about many strangers for a search of addresses to write to, and blocks who asks. */
export const MOST_AN_HOUR = 500;
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
const IN_AN_HOUR = "FROM number_questions WHERE device_id = ?1 AND asked_at > ?2";
// Asked and counted in one commit: two requests at once cannot both take what is left for one.
const TAKE = `INSERT INTO number_questions (device_id, asked_at, asked) SELECT ?1, ?3, ?4
  WHERE (SELECT coalesce(sum(asked), 0) ${IN_AN_HOUR}) + ?4 <= ${MOST_AN_HOUR}`;
/** When so many of them are older than an hour that there is room for what is wanted. */
const ROOM = defineQuery(
  `SELECT min(asked_at) AS at FROM (SELECT asked_at, sum(asked) OVER (ORDER BY asked_at DESC, id DESC) AS since ${IN_AN_HOUR})
  WHERE since > ${MOST_AN_HOUR} - ?3`,
  { at: nullable(integer()) },
);
const KEEP = `INSERT OR REPLACE INTO number_checks (device_id, number, "exists", lid_user, checked_at) VALUES (?, ?, ?, ?, ?)`;

/** Kept answers cost nothing; what WhatsApp does not say is asked again the next time. */
export function createNumberChecks({ store, log, connection }: NumberChecksDeps): NumberChecks {
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
    const now = store.now();
    const since = now - HOUR_MS;
    const take: Statement = { sql: TAKE, args: [deviceId, since, now, count] };
    const [taken] = await store.writer.commit([take], { owning: deviceId });
    if (taken!.rowsAffected > 0) return;
    const room = await store.readOne(ROOM, [deviceId, since, count]);
    throw tooMany((room?.at ?? now) + HOUR_MS - now);
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

function tooMany(ms: number): GatewayError {
  const retryAfter = Math.max(1, Math.ceil(ms / SECOND_MS));
  return new GatewayError(
    "RATE_LIMITED",
    `WhatsApp punishes numbers that ask about many others: at most ${MOST_AN_HOUR} an hour. Ask about fewer, or wait ${retryAfter} seconds.`,
    { retryAfter },
  );
}
