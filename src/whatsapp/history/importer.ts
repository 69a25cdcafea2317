import type { WAMessage } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import { failpoint } from "../../model/failpoint.ts";
import { giveWay } from "../../model/give-way.ts";
import type { Incoming } from "../../model/messages.ts";
import { MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";
import { OutboundError } from "../../net/errors.ts";
import { NotOwner } from "../../store/errors.ts";
import { readMessage } from "../content/conversion.ts";
import type { WhatsApp } from "../port.ts";
import type { Journal } from "../signal/journal.ts";
import type { OwedHistory } from "../signal/journal-rows.ts";
import type { Receiving } from "../receive/receiving.ts";
import { messagesIn, pairsIn, type Pair } from "./messages.ts";
import { historyNotice, type HistoryNotice } from "./notice.ts";
import { HistoryUnusable, loadPiece, type LoadFile } from "./piece.ts";

/** In one commit, and in one turn of the event loop: a live message waits for no more than this. */
const AT_ONCE = 25;
const PAIRS_AT_ONCE = 200;
/** Pauses between tries on one connection; the next connection tries again. */
const PAUSES_MS = [10 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS];
/** The file is not there any more, or never for us. */
const GONE = new Set([403, 404, 410]);

/** What importing history takes that all numbers share. */
export interface HistorySource {
  load: WhatsApp["downloadMedia"];
  /** Unix milliseconds: what was written before is not imported. */
  oldest(): number;
  /** Waits until few others import: each holds a piece in memory. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** What importing history needs of its connection. */
interface ImportDeps {
  deviceId: number;
  log: Logger;
  time: Time;
  source: HistorySource;
  journal: Pick<Journal, "histories" | "spend">;
  receiving: Pick<Receiving, "own" | "read">;
  /** See `WhatsAppConnection.mediaHosts`. */
  hosts(): Promise<string[]>;
  /** When the phone has accepted these credentials, Unix seconds. */
  linkedAt(): number;
  storePairs(pairs: Pair[]): Promise<void>;
  store(messages: Incoming[]): Promise<void>;
}

/** Imports what the phone has told of the time before the linking, beside everything else that the connection does. */
export interface HistoryImport {
  /** There may be something to import. */
  wake(): void;
  /** Begins nothing more. What is left is taken up by the next connection. */
  stop(): void;
}

/** The pieces wait in the journal, each until all of it is stored: what a crash leaves undone is begun anew, and doubles nothing. */
export function createHistoryImport(deps: ImportDeps): HistoryImport {
  const { deviceId, log, time, source, journal } = deps;
  const ending = new AbortController();
  const { signal } = ending;
  let running = false;
  let woken = false;

  async function importPiece(open: OwedHistory["open"]): Promise<number> {
    const notice = noticeIn(open);
    const load: LoadFile = async (file, read) =>
      source.load({ deviceId, hosts: await deps.hosts(), ...file, signal }, read);
    const piece = await loadPiece(notice, load);
    await storePairs(piece, deps);
    return storeMessages(piece, deps, signal);
  }

  async function importAll(): Promise<void> {
    for await (const { hash, open } of journal.histories()) {
      if (signal.aborted) return;
      try {
        const messages = await source.inTurn(() => importPiece(open));
        if (signal.aborted) return;
        log.info({ device: deviceId, messages }, "imported a piece of the phone's history");
      } catch (error) {
        if (!isUseless(error)) throw error;
        log.warn({ err: error, device: deviceId }, "a piece of the phone's history cannot be imported");
      }
      await journal.spend(hash);
    }
  }

  async function run(): Promise<void> {
    for (const pauseMs of [...PAUSES_MS, null]) {
      try {
        do {
          woken = false;
          await importAll();
        } while (woken && !signal.aborted);
        return;
      } catch (error) {
        if (signal.aborted || error instanceof NotOwner) return;
        log.warn({ err: error, device: deviceId }, "could not import the phone's history; trying again");
        if (pauseMs !== null) await time.pause(pauseMs, signal);
      }
      if (signal.aborted) return;
    }
  }

  return {
    wake() {
      woken = true;
      if (running || signal.aborted) return;
      running = true;
      void run().finally(() => (running = false));
    },
    stop: () => ending.abort(new Error("The connection has ended.")),
  };
}

/** @throws HistoryUnusable */
function noticeIn(open: OwedHistory["open"]): HistoryNotice {
  try {
    const notice = historyNotice(readMessage(open()).message);
    if (notice !== null) return notice;
  } catch (cause) {
    throw new HistoryUnusable("Its row is damaged.", { cause });
  }
  throw new HistoryUnusable("It is no piece of history.");
}

/** Their numbers are known before the messages of people who are named by LIDs. */
async function storePairs(piece: Buffer, deps: ImportDeps): Promise<void> {
  let some: Pair[] = [];
  for (const pair of pairsIn(piece)) {
    if (pair !== null) some.push(pair);
    else await giveWay();
    if (some.length < PAIRS_AT_ONCE) continue;
    await deps.storePairs(some);
    some = [];
  }
  if (some.length > 0) await deps.storePairs(some);
}

/** @returns how many were handed on to be stored */
async function storeMessages(piece: Buffer, deps: ImportDeps, signal: AbortSignal): Promise<number> {
  const { receiving, source } = deps;
  const span: Span = { from: source.oldest(), to: deps.linkedAt() * 1000, now: deps.time.now() };
  let count = 0;
  let some: WAMessage[] = [];
  const storeSome = async (): Promise<void> => {
    const wanted = (await receiving.read(some)).filter((message) => isWanted(message, span));
    some = [];
    count += wanted.length;
    if (wanted.length > 0) await deps.store(wanted);
    failpoint("in-import");
    await giveWay();
  };
  for (const message of messagesIn(piece, receiving.own())) {
    if (signal.aborted) return count;
    if (message !== null) some.push(message);
    else await giveWay();
    if (some.length === AT_ONCE) await storeSome();
  }
  if (some.length > 0 && !signal.aborted) await storeSome();
  return count;
}

/** Unix milliseconds. */
interface Span {
  from: number;
  to: number;
  now: number;
}

/** What was written since the linking comes as everything else does; what has disappeared from phones is not brought back. */
function isWanted({ timestamp, expiresAt, chatKind }: Incoming, { from, to, now }: Span): boolean {
  const writtenAt = timestamp * 1000;
  if (chatKind !== "dm" && chatKind !== "group") return false;
  return writtenAt >= from && writtenAt <= Math.min(to, now) && (expiresAt ?? Infinity) * 1000 > now;
}

/** It would be so however often it is tried. */
function isUseless(error: unknown): boolean {
  if (error instanceof HistoryUnusable) return true;
  if (!(error instanceof OutboundError)) return false;
  const { problem, status } = error;
  return problem === "too_large" || problem === "not_allowed" || (status !== null && GONE.has(status));
}
