import type { Logger } from "../log.ts";
import { failpoint } from "../model/failpoint.ts";
import type { Topic } from "../model/nodes/cluster.ts";
import type { News } from "../model/nodes/news.ts";
import type { DisabledReason } from "../model/webhook-words.ts";
import { boolean, defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { endWaiting, inSteps, WAITING } from "./attempts/waiting.ts";
import { createSecret } from "./events/sign.ts";
import {
  isActive,
  keyOf,
  namesOf,
  signingSecrets,
  targetOf,
  type Receiver,
  type Target,
} from "./receiver.ts";

/** Webhooks, or listeners: rows of one table, all of them in memory. */
export interface Receivers<R extends Receiver> {
  /** Reads all rows once; afterwards every look-up is one in memory. */
  load(): Promise<void>;
  get(target: Target): R | null;
  /** Those of a number, oldest first. */
  of(deviceId: number): R[];
  /** As its row has it, which another node may have written in this moment. */
  current(target: Target): Promise<R | null>;
  /**
   * Writes it. False: its row is gone, and it stays so.
   *
   * @param anew  its owner has set it: nothing is held against it any more
   * @param write default: as its table writes what is there
   */
  save(receiver: R, anew: boolean, write?: Statement): Promise<boolean>;
  /** Ends what is pending. False when there was none. @param beside for the same commit */
  remove(target: Target, beside: Statement[]): Promise<boolean>;
  /** A new secret; the old one signs as well for 24 h. Null when there is none. */
  rotate(target: Target): Promise<{ secret: string } | null>;
  /** The same of one alone, for whoever posts to it. */
  atHand(target: Target): ReceiverAtHand<R>;
  forget(deviceId: number): void;
}

/** One receiver, for whoever posts to it. */
export interface ReceiverAtHand<R extends Receiver> {
  get(): R | null;
  /** Ends what waits for a further attempt although it is switched off, or gone, a few rows in each commit. */
  endForgotten(): Promise<void>;
  /** Statements that switch it off, and what holds once they are committed. */
  disabling(reason: DisabledReason): { statements: Statement[]; committed(): void };
}

/** A table of receivers. */
export interface ReceiverTable<R extends Receiver> {
  all(): Promise<R[]>;
  one(target: Target): Promise<R | null>;
  write(receiver: R): Statement;
  /** `update … set` and `delete from` this one row. */
  change(target: Target, set: string, args: Statement["args"]): Statement;
  remove(target: Target): Statement;
}

/** A receiver is set otherwise, or deleted. */
export interface ReceiverSet {
  deviceId: number;
  listener?: string;
  anew?: boolean;
}

/** What the webhooks of all numbers, and their listeners, are kept with. */
export interface RegistryDeps {
  store: Store;
  log: Logger;
  config: { webhookTimeoutMs: number };
  news: News;
  /** @throws {GatewayError} URL_NOT_ALLOWED when the address leads into a private network */
  checkUrl(url: string): Promise<void>;
  /** Another node has deleted one. */
  onGone(target: Target): void;
  /** Another node has set one anew: nothing is held against it. */
  onAnew(target: Target): void;
}

interface ReceiversDeps<R extends Receiver> extends Pick<
  RegistryDeps,
  "store" | "log" | "news" | "onGone" | "onAnew"
> {
  topic: Topic<ReceiverSet>;
  table: ReceiverTable<R>;
}

const BOTH_SECRETS_SIGN_MS = 24 * 3600 * 1000;
/** Each costs a signature per event. */
const MOST_OLD_SECRETS = 3;
const ANYTHING_WAITS = defineQuery(
  `select 1 as found from deliveries indexed by deliveries_waiting
    where device_id = ? and listener = ? and ${WAITING} limit 1`,
  { found: boolean() },
);

/** None before `load`. */
export function createReceivers<R extends Receiver>(deps: ReceiversDeps<R>): Receivers<R> {
  const { store, news, topic, table } = deps;
  const known = createKnown<R>();
  const ends = createEnds(store);
  const told = ({ deviceId, listener }: Target, anew = false): Statement[] =>
    news.of(topic, { deviceId, ...(listener !== "" && { listener }), ...(anew && { anew }) });

  const load = async (): Promise<void> => known.replace(await table.all());

  news.listen(topic, {
    async hear({ deviceId, listener = "", anew = false }) {
      const target = { deviceId, listener };
      const receiver = await table.one(target);
      if (receiver === null) {
        known.drop(target);
        return deps.onGone(target);
      }
      known.set(receiver);
      if (anew) deps.onAnew(target);
    },
    reread: load,
  });

  async function save(receiver: R, anew: boolean, write = table.write(receiver)): Promise<boolean> {
    await ends.running(receiver);
    failpoint("before-secret-commit");
    const [result] = await store.writer.commit([write, ...told(receiver, anew)]);
    failpoint("after-secret-commit");
    if (result!.rowsAffected === 0 && (await table.one(receiver)) === null) {
      known.drop(receiver);
      return false;
    }
    known.set(receiver);
    if (!isActive(receiver)) await ends.begin(receiver);
    return true;
  }

  return {
    load,
    get: known.get,
    of: known.of,
    current: table.one,
    save,
    forget: known.forget,

    async remove(target, beside) {
      const existed = (await table.one(target)) !== null;
      await store.writer.commit([table.remove(target), ...beside, ...told(target)]);
      known.drop(target);
      await ends.begin(target);
      return existed;
    },

    async rotate(target) {
      const before = await table.one(target);
      if (before === null) return null;
      const secret = createSecret();
      // Who did not hear the answer rotates again: the receiver still knows only what was before that.
      const oldSecrets = signingSecrets(before, store.now()).slice(0, MOST_OLD_SECRETS);
      const oldSecretUntil = store.now() + BOTH_SECRETS_SIGN_MS;
      return (await save({ ...before, secret, oldSecrets, oldSecretUntil }, false)) ? { secret } : null;
    },

    atHand: (target) => createAtHand(target, { ...deps, known, ends, told }),
  };
}

interface AtHandDeps<R extends Receiver> extends Pick<ReceiversDeps<R>, "store" | "log" | "table"> {
  known: ReturnType<typeof createKnown<R>>;
  ends: ReturnType<typeof createEnds>;
  /** What other nodes hear. */
  told(target: Target): Statement[];
}

function createAtHand<R extends Receiver>(
  target: Target,
  { store, log, table, known, ends, told }: AtHandDeps<R>,
): ReceiverAtHand<R> {
  return {
    get: () => known.get(target),
    /** What is known here may be older than its row, which another node has just written. */
    async endForgotten() {
      const { deviceId, listener } = target;
      if ((await store.readOne(ANYTHING_WAITS, [deviceId, listener])) === null) return;
      const row = await table.one(target);
      if (row === null || !isActive(row)) await (ends.running(target) ?? ends.begin(target));
    },
    disabling(reason) {
      const off = table.change(target, "enabled = 0, disabled_reason = ?", [reason]);
      return {
        statements: [off, endWaiting(target, store.now()), ...told(target)],
        committed: () => {
          ends
            .begin(target)
            .catch((error: unknown) =>
              log.error(
                { err: error, ...namesOf(target) },
                "could not end the deliveries of a disabled webhook",
              ),
            );
          const receiver = known.get(target);
          if (receiver) known.set({ ...receiver, enabled: false, disabledReason: reason });
        },
      };
    },
  };
}

/** What is in memory, by number. */
function createKnown<R extends Receiver>() {
  let byNumber = new Map<number, Map<string, R>>();
  function set(receiver: R): void {
    const { deviceId, listener } = receiver;
    const own = byNumber.get(deviceId) ?? new Map<string, R>();
    byNumber.set(deviceId, own.set(listener, receiver));
  }
  return {
    set,
    get: ({ deviceId, listener }: Target): R | null => byNumber.get(deviceId)?.get(listener) ?? null,
    of: (deviceId: number): R[] => [...(byNumber.get(deviceId)?.values() ?? [])],
    drop: ({ deviceId, listener }: Target): void => void byNumber.get(deviceId)?.delete(listener),
    forget: (deviceId: number): void => void byNumber.delete(deviceId),
    replace(all: R[]): void {
      byNumber = new Map();
      for (const receiver of all) set(receiver);
    },
  };
}

/** What waits is being ended: who is set anew meanwhile would lose what came after. */
function createEnds(store: Pick<Store, "writer" | "now">) {
  const ending = new Map<string, Promise<void>>();
  return {
    /** Undefined: nothing is. */
    running: (target: Target): Promise<void> | undefined => ending.get(keyOf(target)),
    begin(target: Target): Promise<void> {
      const key = keyOf(target);
      const until = store.now();
      const whose = targetOf(target);
      const ended = inSteps(store, () => endWaiting(whose, until)).finally(() => ending.delete(key));
      ending.set(key, ended);
      return ended;
    },
  };
}
