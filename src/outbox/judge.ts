import type { Logger } from "pino";
import type { Statement, Store } from "../store/store.ts";
import type { OutgoingMessage, SendOutcome } from "../whatsapp/port.ts";
import type { Brake } from "./brake.ts";
import type { Entry } from "./chats.ts";
import type { Reachout } from "./reachout.ts";
import type { Rows, SendError } from "./rows.ts";
import { backoffMs, type Schedule } from "./schedule.ts";
import type { Sender, Verdict } from "./sender.ts";
import type { Settled } from "./submit.ts";

export interface JudgeDeps {
  store: Store;
  rows: Rows;
  reachout: Reachout;
  brake: Brake;
  schedule: Schedule;
  log: Logger;
  retentionDays: number;
  /** Why nothing may be sent to this address, or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  settled: (entry: Entry, outcome: Settled) => void;
  changed: (deviceId: number, waId: string) => void;
  /** @param seconds from storing it to knowing what became of it */
  onOutcome?: (kind: string, result: "sent" | "failed" | "expired", seconds: number) => void;
}

/** Decides what may be sent and what an attempt's outcome means, and writes it down (T3). */
export interface Judge {
  compose(entry: Entry): Promise<OutgoingMessage | null>;
  judge(entry: Entry, outcome: SendOutcome): Promise<Verdict>;
  /** While the reach-out lock holds, what would be a first contact fails at once instead of waiting for its turn. */
  failFirstContacts(deviceId: number, sender: Sender): Promise<void>;
  /** It has waited for longer than RETENTION_DAYS: nobody would expect it any more. */
  isExpired(entry: Pick<Entry, "createdAt">): boolean;
  expire(entry: Entry): Promise<void>;
  /** No commit is waited for any longer than its first attempt. */
  stop(): void;
}

const REACHOUT_LOCKED = 463;
const STALE_ADDRESSING = 479;
const EXPIRED: SendError = { code: "EXPIRED" };
/** Groups and channels, where somebody else decides who may write. */
const OF_MANY = /@(g\.us|newsletter)$/;
const DAY_MS = 24 * 60 * 60 * 1000;

export function createJudge(deps: JudgeDeps): Judge {
  const { store, rows, reachout, brake, schedule, log, settled } = deps;
  let stopped = false;
  const endPauses = new Set<() => void>();

  /** The outcome is known and must not be forgotten, or the message would be sent again: a full disk is waited for. */
  async function write(
    entry: Entry,
    result: "sent" | "failed" | "expired",
    statements: Statement[],
  ): Promise<void> {
    deps.onOutcome?.(entry.draft?.kind ?? "unknown", result, (store.now() - entry.createdAt) / 1000);
    for (let failures = 1; ; failures++) {
      try {
        await store.writer.commit(statements);
        deps.changed(entry.deviceId, entry.waId);
        return;
      } catch (error) {
        log.error(
          { error: (error as Error).name },
          "what became of a message could not be stored; trying again",
        );
        if (stopped) return;
        await pause(backoffMs(failures));
      }
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        endPauses.delete(end);
        resolve();
      };
      const cancel = schedule(ms, end);
      endPauses.add(end);
    });
  }

  async function keepSent(entry: Entry): Promise<void> {
    await write(entry, "sent", rows.sent(entry.id, entry.attempts));
    settled(entry, { state: "sent" });
  }

  async function fail(entry: Entry, error: SendError): Promise<void> {
    await write(entry, "failed", rows.failed(entry.id, entry.attempts, error));
    settled(entry, { state: "failed", error });
  }

  async function expire(entry: Entry): Promise<void> {
    await write(entry, "expired", rows.expired(entry.id, EXPIRED));
    settled(entry, { state: "failed", error: EXPIRED });
  }

  const isExpired = ({ createdAt }: Pick<Entry, "createdAt">): boolean =>
    createdAt < store.now() - deps.retentionDays * DAY_MS;

  /** Sends by REST were asked about when they came; replies of bots and webhooks, and what waited, are asked about here. */
  async function whyNot(entry: Entry): Promise<SendError | null> {
    if (await isHeldBack(entry)) return reachout.error(entry.deviceId);
    if (entry.allowed || !OF_MANY.test(entry.jid)) return null;
    const refused = (await deps.refusal?.(entry.deviceId, entry.jid)) ?? null;
    entry.allowed = refused === null;
    return refused;
  }

  async function isHeldBack(entry: Entry): Promise<boolean> {
    if (entry.isReply || !reachout.isLocked(entry.deviceId)) return false;
    return reachout.isFirstContact(entry.deviceId, entry.chat);
  }

  async function refuse(entry: Entry, outcome: SendOutcome & { kind: "refused" }): Promise<Verdict> {
    brake.release(entry.deviceId);
    log.warn(
      { device: entry.deviceId, message: entry.waId, code: outcome.code, reason: outcome.reason },
      "WhatsApp refused a message",
    );
    if (outcome.code === STALE_ADDRESSING && !entry.retried) {
      entry.retried = true;
      return "again";
    }
    if (outcome.code === REACHOUT_LOCKED) {
      await reachout
        .lock(entry.deviceId, outcome.until)
        .catch((error: Error) => log.error({ error: error.name }, "a reach-out lock could not be stored"));
      await fail(entry, reachout.error(entry.deviceId));
    } else {
      await fail(entry, refusalError(outcome));
    }
    return "done";
  }

  return {
    async compose(entry) {
      const refused = isExpired(entry) ? EXPIRED : await whyNot(entry);
      // A receipt may have come while that was asked.
      if (entry.confirmed) await keepSent(entry);
      else if (refused === EXPIRED) await expire(entry);
      else if (refused !== null) await fail(entry, refused);
      if (entry.confirmed || refused !== null) return null;
      if (entry.draft === null) {
        const [row] = await store.rows("SELECT body FROM outbox WHERE id = ? AND state = 'queued'", [
          entry.id,
        ]);
        if (row === undefined) return null;
        entry.draft = rows.openDraft(entry.deviceId, entry.waId, row.body);
      }
      return { waId: entry.waId, jid: entry.jid, draft: entry.draft };
    },

    async judge(entry, outcome) {
      entry.attempts++;
      // Whoever has received it has it, whatever came of sending it once more.
      if (outcome.kind === "refused" && !entry.confirmed) return refuse(entry, outcome);
      if (outcome.kind === "limited" && !entry.confirmed) {
        await brake.pull(entry.deviceId);
        return "again";
      }
      if (outcome.kind === "sent" || entry.confirmed) {
        if (outcome.kind === "sent") brake.release(entry.deviceId);
        await keepSent(entry);
        return "done";
      }
      log.info(
        { device: entry.deviceId, message: entry.waId, attempts: entry.attempts, reason: outcome.reason },
        "no acknowledgement; the message is sent again under the same id",
      );
      await store.writer
        .commit([rows.attempted(entry.id, entry.attempts)])
        .catch(() => log.warn("the number of attempts could not be stored"));
      return "later";
    },

    async failFirstContacts(deviceId, sender) {
      for (const entry of sender.entries()) {
        if (!(await isHeldBack(entry))) continue;
        if (sender.remove((candidate) => candidate === entry).length > 0)
          await fail(entry, reachout.error(deviceId));
      }
    },

    isExpired,
    expire,

    stop() {
      stopped = true;
      for (const end of endPauses) end();
    },
  };
}

function refusalError({ code, reason }: SendOutcome & { kind: "refused" }): SendError {
  if (reason === "not_on_whatsapp") return { code: "NOT_ON_WHATSAPP" };
  if (reason === "file_gone")
    return { code: "FILE_UNREACHABLE", message: "The gateway does not keep this file any more." };
  return { code: "WHATSAPP_REFUSED", ...(code === 0 ? {} : { whatsapp_code: code }) };
}
