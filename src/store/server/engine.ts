import type { Client, ResultSet } from "@libsql/client";
import { randomUUID } from "node:crypto";
import { DAY_MS } from "../../model/time.ts";
import { BatchFailed, type Engine } from "../engine.ts";
import { recoverResults } from "../write/lost-results.ts";
import { toResultSet } from "../result.ts";
import type { RawRows } from "../query.ts";
import type { RowSource } from "../reading.ts";
import type { Statement } from "../store.ts";
import { isTooMuch, readInParts } from "./parts.ts";
import { connectToServer, toRawRows, type ServerAddress, type Within } from "./client.ts";
import { NOT_DURABLE } from "./durability.ts";
import { createFence } from "./fence.ts";

/** Rows of writers that are gone are kept for this long. */
const KEEP_MS = 7 * DAY_MS;
// After an answer was lost the server is asked what became of it: at once, and for ten seconds.
const SETTLE_PAUSES_MS = [50, 200, 500, 1_000, 2_000, 3_000, 3_000];
const SETTLE_MS = 10_000;

interface ServerEngineOptions extends ServerAddress {
  /** Pauses between the questions what became of a batch. Tests may hand in shorter ones. */
  settlePausesMs?: number[];
  /** How long all of them may take together. */
  settleMs?: number;
  /**
   * Told whether commits are durable, whenever that has shown itself. Given it, every batch demands it in its own
   * transaction: what the server would not keep through a power cut is not written.
   */
  onDurable?: (durable: boolean) => void;
  /**
   * Told once when the server does not have any more what it had confirmed. From then on nothing is written: what memory holds, and what
   * is read, are of two times.
   */
  onGoneBack?: () => void;
}

const GONE_BACK = "it has lost confirmed commits";

/**
 * Writes to a libSQL server by `http(s)://`: every batch is one request, and the server keeps its transactions apart.
 *
 * A batch whose answer is lost may have been carried out, now or later. Each batch therefore moves this writer's fence, in
 * the same transaction, from its number to the next, and fails when the fence is not where it expects it. After a lost
 * answer the engine looks where the fence is and moves it on: what had not happened by then never will. So nothing is
 * applied twice, and nothing that was applied is reported as failed; as long as the server stays away the outcome is
 * `uncertain`, and nothing else is written before it is settled.
 */
export function createServerEngine(options: ServerEngineOptions): Engine {
  const { time, settlePausesMs = SETTLE_PAUSES_MS, settleMs = SETTLE_MS } = options;
  const server = connectToServer(options);
  const { onDurable } = options;
  const fence = createFence(randomUUID(), onDurable !== undefined);
  let opened = false;
  /** The last batch may have been applied, and the fence does not tell yet. */
  let unsettled = false;
  /** What the last look at the fence found. */
  let durable = true;
  let goneBack = false;
  let settling: Promise<boolean> | null = null;

  async function send(statements: Statement[]): Promise<ResultSet[]> {
    const results = await server.ask((client) => client.batch(statements, "write"));
    return results.map(exactly);
  }

  async function open(): Promise<void> {
    if (!opened) await send(fence.open(KEEP_MS));
    opened = true;
  }

  /** @returns whether the last batch was applied; from now on it cannot be any more */
  function settle(): Promise<boolean> {
    // One at a time: an answer that somebody has given up waiting for still says where the fence is.
    settling ??= askPlace().finally(() => (settling = null));
    return settling;
  }

  async function askPlace(): Promise<boolean> {
    const [place] = await send(fence.moveOn());
    unsettled = false;
    durable = Number(place!.rows[0]?.durable ?? 1) === 1;
    onDurable?.(durable);
    const found = fence.movedOn(place!.rows[0]);
    if (found === "gone back") {
      if (!goneBack) options.onGoneBack?.();
      goneBack = true;
    }
    return found === "applied";
  }

  function refuseGoneBack(): void {
    if (goneBack) throw new BatchFailed("unavailable", null, new Error(GONE_BACK));
  }

  async function settlePatiently(lost: BatchFailed): Promise<boolean> {
    unsettled = true;
    const uncertain = (): BatchFailed => new BatchFailed("uncertain", null, lost.cause);
    const end = time.monotonic() + settleMs;
    for (const pause of settlePausesMs) {
      const left = end - time.monotonic();
      if (left <= 0) break;
      server.reconnect();
      try {
        return await time.deadline(left, settle(), uncertain);
      } catch {
        await time.pause(pause);
      }
    }
    throw uncertain();
  }

  async function batch(statements: Statement[]): Promise<ResultSet[]> {
    await before(async () => {
      await open();
      if (unsettled) await settle();
      refuseGoneBack();
    });
    try {
      const results = await send([fence.pass(), ...statements]);
      fence.passed();
      if (!durable) onDurable?.((durable = true));
      return results.slice(1);
    } catch (error) {
      return afterFailure(statements, error as BatchFailed);
    }
  }

  async function afterFailure(statements: Statement[], failed: BatchFailed): Promise<ResultSet[]> {
    if (failed.kind === "uncertain") {
      if (await settlePatiently(failed)) return recoverResults(statements, send);
      refuseGoneBack();
      throw new BatchFailed("busy", null, failed.cause);
    }
    // Not durable now, or it has lost what it had confirmed: rolled back, or not durable and crashed.
    if (failed.index === 0 && failed.kind === "constraint") {
      await before(async () => void (await settle()));
      refuseGoneBack();
      throw durable
        ? new BatchFailed("busy", null, failed.cause)
        : new BatchFailed("unavailable", null, new Error(NOT_DURABLE));
    }
    throw new BatchFailed(
      failed.kind,
      failed.index === null ? null : Math.max(0, failed.index - 1),
      failed.cause,
    );
  }

  return {
    batch,
    reconnect: async () => server.reconnect(),
    // The server's own business.
    checkpoint: async () => undefined,
    close: async () => server.close(),
  };
}

/** What has to be done before a batch is sent: when that fails, nothing of the batch has happened. */
async function before(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { kind, cause } = error as BatchFailed;
    throw new BatchFailed(kind === "busy" ? "busy" : "unavailable", null, cause);
  }
}

/** Reads from a libSQL server; a read is one request, or several when there is much. A lost answer of a read is no uncertainty: it can be read again. */
export function createServerReader(address: ServerAddress): RowSource {
  const server = connectToServer(address);
  let closed = false;
  return {
    async read(statement) {
      if (closed) throw new BatchFailed("unavailable", null, new Error("it is closed"));
      try {
        return await server.askOften((client, within) => readAll(client, within, statement));
      } catch (error) {
        const { kind, index, cause } = error as BatchFailed;
        throw new BatchFailed(kind === "uncertain" ? "unavailable" : kind, index, cause);
      }
    },
    reconnect: () => server.reconnect(),
    close() {
      closed = true;
      server.close();
    },
  };
}

async function readAll(client: Client, within: Within, statement: Statement): Promise<RawRows> {
  try {
    return toRawRows(await within(client.execute(statement)));
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return readInParts(client, within, statement);
  }
}

function exactly(result: ResultSet): ResultSet {
  if (result.rows.length === 0) return result;
  return toResultSet({ ...toRawRows(result), rowsAffected: result.rowsAffected, lastInsertRowid: null });
}
