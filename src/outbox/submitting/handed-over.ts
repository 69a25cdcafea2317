import type { ResultSet } from "@libsql/client";
import { outbox } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import type { Cluster } from "../../model/nodes/cluster.ts";
import { SENT_STATES } from "../../model/messages.ts";
import { SECOND_MS, type Cancel } from "../../model/time.ts";
import { defineQuery, json, nullable, text } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import { NOT_LINKED } from "../sending/abandoning.ts";
import type { SendError } from "../rows.ts";
import type { Settled, Submissions } from "./submit.ts";
import { ENDED, STORED, wakeOf, wakeStatement } from "./wakes.ts";

interface HandedOverDeps {
  cluster: Cluster;
  store: Pick<Store, "read" | "time">;
  submissions: Pick<Submissions, "waiting" | "settled">;
  log: Logger;
}

/** A message as it is known outside of its row. */
export interface MessageName {
  deviceId: number;
  waId: string;
}

/** What this node has stored for numbers that another one has, and how it hears what became of it. */
export interface HandedOver {
  /** For the commit that stores messages of the number: none when this process is alone. */
  statements(deviceId: number): Statement[];
  /** After that commit: the owner is told. @param result of `statements` */
  tell(deviceId: number, waIds: string[], result: ResultSet | undefined): void;
  /** Looks what became of messages that somebody waits for, in case news of them were lost. Never rejects. */
  look(messages: MessageName[]): Promise<void>;
  start(): void;
  stop(): void;
}

/** How long news of an outcome are waited for before the rows are looked at. */
const LOOK_MS = 2 * SECOND_MS;
const ROWS_AT_ONCE = 200;

const OUTCOMES = defineQuery(
  `SELECT value ->> 1 AS wa_id, o.state, o.error FROM json_each(?) AS wanted
LEFT JOIN outbox o ON o.device_id = wanted.value ->> 0 AND o.wa_id = wanted.value ->> 1`,
  { waId: outbox.waId, state: nullable(text()), error: nullable(json<SendError>()) },
);

/** Nothing is done where the process is alone. */
export function createHandedOver({ cluster, store, submissions, log }: HandedOverDeps): HandedOver {
  const { node, bus, ownership } = cluster;
  const ends: Cancel[] = [];
  let looking = false;

  async function look(messages: MessageName[]): Promise<void> {
    if (node === null) return;
    try {
      for (let from = 0; from < messages.length; from += ROWS_AT_ONCE) {
        const some = messages.slice(from, from + ROWS_AT_ONCE);
        const wanted = JSON.stringify(some.map(({ deviceId, waId }) => [deviceId, waId]));
        const rows = await store.read(OUTCOMES, [wanted]);
        const byId = new Map(rows.map((row) => [row.waId, row]));
        for (const message of some) {
          const row = byId.get(message.waId);
          const outcome = row && outcomeOf(row.state, row.error);
          if (outcome) submissions.settled(message, outcome);
        }
      }
    } catch (error) {
      // What is not known now is queued, as far as anybody can say.
      log.debug({ err: error }, "could not read the outcomes of sends");
    }
  }

  /** Also at those of its own numbers: they may have been another node's in between. */
  async function lookAtAll(): Promise<void> {
    if (looking) return;
    looking = true;
    await look(submissions.waiting());
    looking = false;
  }

  return {
    statements: (deviceId) => (node === null ? [] : [wakeStatement(deviceId, node)]),
    tell(deviceId, waIds, result) {
      const owner = ownership.ownerOf(deviceId);
      if (node === null || owner === null || waIds.length === 0) return;
      bus.tell(STORED, { deviceId, waIds, wake: wakeOf(result), node }, owner);
    },
    look,
    start() {
      if (node === null) return;
      ends.push(
        bus.listen(ENDED, ({ outcome, ...message }) => {
          if (outcome === null) void look([message]);
          else submissions.settled(message, outcome);
        }),
        bus.onGap(() => void lookAtAll()),
        store.time.every(LOOK_MS, () => void lookAtAll()),
      );
    },
    stop() {
      for (const end of ends.splice(0)) end();
    },
  };
}

/** Null while it is on its way. A row that is gone was erased with its number. */
function outcomeOf(state: string | null, error: SendError | null): Settled | null {
  if (state === "queued" || state === "scheduled") return null;
  if ((SENT_STATES as readonly (string | null)[]).includes(state)) return { state: "sent" };
  if (state === "cancelled") return { state };
  return { state: "failed", error: error ?? NOT_LINKED };
}
