import { existsSync } from "node:fs";
import { join } from "node:path";
import { sources as developed } from "#bots";
import type { Bindings } from "../bot/bindings/bindings.ts";
import { repositoryRoot, type Config } from "../config.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { MOST_PROBLEMS } from "../model/errors/field-problems.ts";
import { createSequence } from "../model/shares/sequence.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { ForkAsked, Forked, ForkFolder, ForkLine } from "../path/fork.ts";
import { readConversation, type Happened } from "../path/happened.ts";
import type { Store } from "../store/store.ts";
import { runFork } from "./fork-process.ts";
import { CAME, LEFT } from "./fork-rows.ts";

/** Which conversation, up to where, and how it goes on. */
export interface ForkWanted {
  deviceId: number;
  /** Keys under which the chat is stored, the canonical one first. */
  chats: readonly string[];
  /** WhatsApp's id of the last message; null: the newest. */
  message: string | null;
  /** Messages that are told at most, the newest. */
  last: number;
  more: readonly ForkLine[];
  /** Ids of the bots; null: those that are on at the number. */
  bots: readonly string[] | null;
}

/** Stored conversations, told again to the bots as their files are now. */
export interface Forks {
  /**
   * Nothing leaves, and nothing is stored. One at a time.
   *
   * @returns `complete`: nothing earlier of the chat is stored
   * @throws {GatewayError} NOT_FOUND when the message is not in the chat, or nobody has written there; INVALID_PARAMETERS for
   *   bots that there are not, or none; UNAVAILABLE when too many wait
   */
  run(wanted: ForkWanted): Promise<Forked & { complete: boolean }>;
}

interface ForksDeps {
  store: Pick<Store, "read" | "readOne" | "box">;
  config: Pick<Config, "botsDir" | "takeoverMinutes" | "botTimeoutMs">;
  bindings: Pick<Bindings, "list">;
}

/** An answer may take so long; what was answered later is not beside its message. */
const ANSWERED_WITHIN_MS = 5 * MINUTE_MS;
/** Who waits longer has gone. */
const MOST_WAITING = 4;

/** Tells conversations again; the bots run in a process of their own. */
export function createForks({ store, config, bindings }: ForksDeps): Forks {
  let waiting = 0;
  const sequence = createSequence();

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= MOST_WAITING)
      throw new GatewayError("UNAVAILABLE", "The sandbox is busy. Try again in a moment.", { retryAfter: 5 });
    waiting += 1;
    return sequence(work).finally(() => (waiting -= 1));
  }

  /** Unix milliseconds, and the row that is the last one. @throws NOT_FOUND */
  async function endOf({
    deviceId,
    chats,
    message,
  }: ForkWanted): Promise<{ at: number; row: number } | null> {
    if (message === null) return null;
    const args = [deviceId, message, JSON.stringify(chats)];
    const came = await store.readOne(CAME, args);
    if (came !== null) return { at: came.receivedAt, row: came.id };
    const left = await store.readOne(LEFT, args);
    if (left === null) throw new GatewayError("NOT_FOUND", "This chat has no message with this id.");
    return { at: left.receivedAt ?? left.createdAt, row: left.inboxId ?? Number.MAX_SAFE_INTEGER };
  }

  async function conversation(wanted: ForkWanted): Promise<Happened[]> {
    const { deviceId, chats, last: limit } = wanted;
    const end = await endOf(wanted);
    const span = { deviceId, chats, since: 0, limit: limit + 1 };
    const read = await readConversation(
      store,
      end === null ? span : { ...span, until: end.at + ANSWERED_WITHIN_MS },
    );
    const happened = end === null ? read : upTo(read, end);
    if (!happened.some(({ kind }) => kind === "came"))
      throw new GatewayError("NOT_FOUND", "No contact has written in this chat.");
    return happened;
  }

  function boundBots({ deviceId, bots }: ForkWanted): ForkAsked["bots"] {
    const on = bindings
      .list(deviceId)
      .filter(({ id, enabled }) => (bots === null ? enabled : bots.includes(id)))
      .toSorted((one, other) => one.priority - other.priority);
    const known = on.map(({ id }) => id);
    const unknown = (bots ?? []).filter((id) => !known.includes(id));
    if (unknown.length === 0 && on.length > 0)
      return on.map(({ id, priority, config: own }) => ({ id, priority, config: own }));
    const problem =
      unknown.length > 0
        ? `There is no bot ${someOf(unknown)}.`
        : "No bot is on at this number. Name the bots that should answer.";
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { bots: [problem] } });
  }

  return {
    async run(wanted) {
      const bots = boundBots(wanted);
      const happened = await conversation(wanted);
      const { takeoverMinutes, botTimeoutMs } = config;
      const forked = await inTurn(() =>
        runFork({
          chat: wanted.chats[0]!,
          happened: happened.slice(-wanted.last),
          bots,
          folders: foldersOf(config),
          more: wanted.more,
          settings: { takeoverMinutes, botTimeoutMs },
        }),
      );
      return { ...forked, complete: happened.length <= wanted.last };
    },
  };
}

function someOf(names: string[]): string {
  const more = names.length - MOST_PROBLEMS;
  return names.slice(0, MOST_PROBLEMS).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The message, what was before it, and what answered any of it. */
function upTo(happened: readonly Happened[], end: { at: number; row: number }): Happened[] {
  const came = new Set(
    happened.flatMap((one) =>
      one.kind === "came" && (one.at < end.at || (one.at === end.at && one.id <= end.row)) ? [one.id] : [],
    ),
  );
  return happened.filter((one) => {
    if (one.kind === "came") return came.has(one.id);
    return one.answers === null ? one.at <= end.at : came.has(one.answers);
  });
}

/** Files that were changed since the start are used as they are now; what lies in none of these is the build's. */
function foldersOf({ botsDir }: Pick<Config, "botsDir">): ForkFolder[] {
  const sources = developed ?? join(repositoryRoot(), "bots");
  return [
    ...(botsDir === null ? [] : [{ from: "folder" as const, path: botsDir }]),
    ...(existsSync(join(sources, "../src/bot/routes/define.ts")) || developed !== null
      ? [{ from: "sources" as const, path: sources }]
      : []),
  ];
}
