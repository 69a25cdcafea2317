import { meta } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { AlertRecord } from "./alert.ts";
import type { Ledger } from "./ledger.ts";
import type { Posted } from "./post.ts";

/** How telling goes, as it stands in `meta` for the doctor. Times are Unix milliseconds. */
export interface Telling {
  /** The last alert that arrived; null: none has yet. */
  deliveredAt: number | null;
  /** Since when none arrives; null: they do. */
  failingSince: number | null;
  /** Attempts in a row that failed. */
  failures: number;
  /** Of the last attempt; null: it succeeded. */
  lastError: string | null;
  nextAttemptAt: number | null;
  /** Alerts that were given up since the first start. */
  givenUp: number;
}

/** Posts what is to be told, again and again until it arrives or is too old. */
export interface Teller {
  /** Posts what is due, unless the pause after a failure lasts. Calls that come meanwhile are one. Never rejects. */
  tell(): Promise<void>;
  state(): Promise<Telling>;
}

interface TellerDeps {
  store: Pick<Store, "readOne" | "writer" | "now">;
  log: Logger;
  ledger: Pick<Ledger, "due" | "settle">;
  post(alerts: readonly AlertRecord[]): Promise<Posted>;
}

/** Of one request. Hundreds of numbers go away together when WhatsApp does. */
const AT_ONCE = 100;
const FIRST_PAUSE_MS = 5 * SECOND_MS;
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;
const LONGEST_ASKED_MS = HOUR_MS;
/** What could not be told for so long is told no more. */
const GIVEN_UP_AFTER_MS = DAY_MS;

/** Under which the state is kept. */
export const TELLING_ROW = "alerts";
/** Reads the state. */
export const TELLING = defineQuery("SELECT value FROM meta WHERE key = 'alerts'", { value: meta.value });
const KEEP = `INSERT INTO meta (key, value) VALUES ('${TELLING_ROW}', ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

const FRESH: Telling = {
  deliveredAt: null,
  failingSince: null,
  failures: 0,
  lastError: null,
  nextAttemptAt: null,
  givenUp: 0,
};

/** How long to wait after so many failures, or as long as the receiver asks for. */
export const pauseAfter = (failures: number, retryAfter: number | null): number =>
  Math.max(
    Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)),
    Math.min(LONGEST_ASKED_MS, (retryAfter ?? 0) * SECOND_MS),
  );

/** One teller among all processes works; its state is read at the first call. */
export function createTeller({ store, log, ledger, post }: TellerDeps): Teller {
  let known: Telling | null = null;
  let telling: Promise<void> | null = null;

  async function state(): Promise<Telling> {
    if (known !== null) return known;
    const row = await store.readOne(TELLING);
    return (known ??= row === null ? FRESH : (JSON.parse(row.value) as Telling));
  }

  async function keep(next: Telling): Promise<void> {
    known = next;
    await store.writer.commit([{ sql: KEEP, args: [JSON.stringify(next)] }], { owning: null });
  }

  function failedNow(before: Telling, { error: reason, retryAfter }: Posted): Telling {
    const failures = before.failures + 1;
    const nextAttemptAt = store.now() + pauseAfter(failures, retryAfter);
    const next = { at: new Date(nextAttemptAt).toISOString(), failures, reason };
    if (failures === 1) log.warn(next, "an alert could not be delivered to ALERT_URL; trying again");
    else log.debug(next, "an alert could not be delivered to ALERT_URL");
    const failingSince = before.failingSince ?? store.now();
    return { ...before, failures, failingSince, nextAttemptAt, lastError: reason };
  }

  async function tellSome(): Promise<boolean> {
    const before = await state();
    const now = store.now();
    const due = await ledger.due(now, AT_ONCE);
    const tooOld = due.filter(({ raised }) => now - raised > GIVEN_UP_AFTER_MS && before.failures > 0);
    if (tooOld.length > 0) {
      await ledger.settle(tooOld);
      await keep({ ...before, givenUp: before.givenUp + tooOld.length });
      log.error(
        { count: tooOld.length },
        "alerts could not be delivered to ALERT_URL for a day and are given up",
      );
      return true;
    }
    // A clock that was set back makes no pause longer than any is.
    const waits = before.nextAttemptAt !== null && before.nextAttemptAt > now;
    if (due.length === 0 || (waits && before.nextAttemptAt! - now <= LONGEST_ASKED_MS)) return false;
    const posted = await post(due.map(({ record }) => record));
    if (!posted.delivered) {
      await keep(failedNow(before, posted));
      return false;
    }
    await ledger.settle(due);
    if (before.failures > 0) log.info({ failures: before.failures }, "ALERT_URL takes alerts again");
    await keep({ ...FRESH, deliveredAt: now, givenUp: before.givenUp });
    return true;
  }

  return {
    state,
    tell: () =>
      (telling ??= (async () => {
        while (await tellSome());
      })()
        // A database that is away says so elsewhere, and the next look is soon.
        .catch((err: unknown) => log.debug({ err }, "could not look for alerts"))
        .finally(() => (telling = null))),
  };
}
