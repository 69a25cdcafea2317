import type { ResultSet } from "@libsql/client";
import type { StoredMessage } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { Way } from "../model/way.ts";
import { ConstraintViolation, StorageUnavailable } from "../store/errors.ts";
import type { DecisionRow, PipelineDeps } from "./deps.ts";
import { createHeldIn } from "./way.ts";

// The guard of the whole commit: a message that has its decision, or whose row is gone, breaks a rule of the table here,
// and then nothing of the commit takes effect. An answer that was lost on its way back must not be committed twice.
const INSERT_DECISION = `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, "by", route, guard, trail, way, at)
VALUES (?1, (SELECT device_id FROM inbox WHERE id = ?1 AND state = 'pending'), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`;
/** What each text of a statement writes to. */
const heldIn = createHeldIn();

/** What is committed with the decision of a message. */
export interface Concluded {
  /** What the answerers want. */
  effects: Statement[];
  row: DecisionRow;
  /** What the chat remembers. */
  chat: Statement[];
  way: Pick<Way, "asked" | "ahead" | "ids">;
}

/** The commit of decisions (T2). */
export interface Conclusions {
  /** The decision and what follows from it in the message's own rows. The guard comes first. */
  statements(stored: StoredMessage, row: DecisionRow, way: Way | null): Statement[];
  /**
   * A statement of an answerer that breaks a rule of the database would do so for ever: the message then gets its
   * decision without what the answerers wanted.
   *
   * @returns results of `effects`; null when they were dropped
   * @throws Overtaken nothing is committed: what the answer was made from is not so any more
   * @throws StorageUnavailable nothing is committed, or nobody knows whether it is
   */
  commit(stored: StoredMessage, concluded: Concluded): Promise<ResultSet[] | null>;
}

export function createConclusions({
  store,
  inbox,
  log,
}: Pick<PipelineDeps, "store" | "inbox" | "log">): Conclusions {
  function statements(stored: StoredMessage, row: DecisionRow, way: Way | null): Statement[] {
    const { inboxId, message } = stored;
    const { by, route, guard } = row;
    const [trail, kept] = [JSON.stringify(row.trail), way && JSON.stringify(way)];
    const args = [inboxId, message.chatKey, message.id, by, route, guard, trail, kept, store.now()];
    return [{ sql: INSERT_DECISION, args }, inbox.done(inboxId)];
  }

  async function withoutEffects(
    stored: StoredMessage,
    { row, chat, way }: Concluded,
    err: Error,
  ): Promise<void> {
    const { deviceId: device, message } = stored;
    log.error(
      { device, message: message.id, by: row.by, err },
      "the database refused an answer; dropping it",
    );
    const trail = [...row.trail, { by: row.by ?? "commit", outcome: "failed", detail: err.name }];
    const held = heldIn(chat);
    const without = statements(stored, { ...row, by: null, route: null, trail }, { ...way, held });
    await store.writer.commit([...without, ...chat], { owning: device });
  }

  return {
    statements,
    async commit(stored, concluded) {
      const { effects, row, chat, way } = concluded;
      const guarded = statements(stored, row, { ...way, held: heldIn([...effects, ...chat]) });
      try {
        const all = [...guarded, ...effects, ...chat];
        const results = await store.writer.commit(all, { owning: stored.deviceId });
        return results.slice(guarded.length, guarded.length + effects.length);
      } catch (error) {
        if (error instanceof StorageUnavailable || effects.length === 0) throw error;
        if (error instanceof ConstraintViolation) {
          if (error.statement === 0) throw error;
          if (effects[error.statement - guarded.length]?.isGuard) throw new Overtaken();
        }
        await withoutEffects(stored, concluded, error as Error);
        return null;
      }
    },
  };
}

/** Another commit came first, and changed what the answer was made from: the message is to be answered anew, at once. */
export class Overtaken extends Error {
  constructor() {
    super("The data behind the answer has changed since.");
    this.name = "Overtaken";
  }
}
