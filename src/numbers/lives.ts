import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { MINUTE_MS } from "../model/time.ts";
import { NO_INTAKE, type Intake } from "../store/write/intake.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import type { Statement } from "../store/store.ts";
import type { NumbersDeps } from "./deps.ts";
import { updateStatement, type DeviceChange, type DeviceRecord } from "./device-record.ts";
import { createLogins } from "./logins.ts";
import { createNumber } from "./number.ts";
import type { LiveEvent, NumberLife } from "./number-life.ts";

import type { Records } from "./records.ts";
import type { SessionStates } from "./session-state.ts";

interface LivesDeps extends NumbersDeps {
  log: Logger;
  records: Records;
  sessions: SessionStates;
  /** Milliseconds between two numbers that connect. */
  loginEveryMs(): number;
}

/** The numbers that live in this process: each has a connection, or is on its way to one, or rests. */
export interface Lives {
  get(deviceId: number): NumberLife | null;
  /** @throws UNAVAILABLE when it does not live here */
  of(deviceId: number): NumberLife;
  all(): Iterable<NumberLife>;
  add(device: DeviceRecord, linked: boolean): NumberLife;
  /** Those that come back by themselves connect, each when it is its turn. */
  begin(deviceIds: readonly number[]): void;
  /** It lives here no longer, or shall not while it is being removed; nothing is closed. */
  drop(deviceId: number): void;
  /** Puts one that was dropped back in its place. */
  putBack(life: NumberLife): void;
  /**
   * Ends these lives without logging out: their connections are closed before this returns. Resolves when what closing them
   * has brought is handed on.
   */
  end(deviceIds: readonly number[]): Promise<void>;
  /** Ends all of them, and writes down when each was last used. */
  stop(): Promise<void>;
}

const ACTIVITY_FLUSH_MS = 10_000;
/** One that had the number before may be on its way to WhatsApp for so long, and knows nothing of it. */
const CONTESTED_MS = 2 * MINUTE_MS;

const leaveThem = async (): Promise<void> => undefined;

/** None yet. */
export function createLives(deps: LivesDeps): Lives {
  const { store, log, records, sessions, cluster } = deps;
  const { node, ownership } = cluster!;
  const lives = new Map<number, NumberLife>();
  const active = new Set<number>();
  /** Ended here; whatever still happens to them is nobody's business. */
  const ended = new WeakSet<NumberLife>();
  const logins = createLogins(store.time, (id) => lives.get(id)?.connect(), deps.loginEveryMs);

  function save(deviceId: number, change: DeviceChange, isSeen: boolean, told: Intake = NO_INTAKE): void {
    const news: Statement[] = isSeen ? records.told(deviceId) : [];
    store.writer
      .commit([updateStatement(deviceId, change), ...told.statements, ...news], { owning: deviceId })
      .then(([, ...results]) => told.committed(results.slice(0, told.statements.length)))
      .catch((error: unknown) => {
        if (isWorthLogging(error)) log.error({ err: error }, "could not store the state of a number");
      });
  }

  /** What happens to a number, and who is told of it. */
  function eventsOf(device: DeviceRecord) {
    const { id, number } = device;
    return {
      save(change: DeviceChange) {
        save(id, change, true, change.state === undefined ? undefined : deps.onMoved?.(device));
      },
      beforeReading: async () => deps.beforeReading?.(id),
      onMessages(messages: Parameters<NumbersDeps["onMessages"]>[2]) {
        active.add(id);
        return deps.onMessages(id, number, messages);
      },
      onImported: (deps.onImported ?? leaveThem).bind(null, id),
      onSent: () => void active.add(id),
      onAcknowledged: deps.onAcknowledged.bind(null, id),
      tell: (event: LiveEvent) => deps.tell({ deviceId: id, ...event }),
      onTaken: () => deps.onTaken?.(id),
    };
  }

  function add(device: DeviceRecord, linked: boolean): NumberLife {
    const { id } = device;
    const began = store.time.monotonic();
    const life = createNumber({
      device,
      linked,
      whatsapp: deps.whatsapp,
      store,
      log,
      random: deps.random ?? Math.random,
      passkeys: deps.passkeys ?? false,
      isOurs: () => ownership.owns(id),
      // Credentials that were made here nobody else has.
      isContested: () => node !== null && linked && store.time.monotonic() - began < CONTESTED_MS,
      changed() {
        if (ended.has(life)) return;
        sessions.publish(life);
        deps.tell({ type: "device", deviceId: id, record: device });
      },
      ...eventsOf(device),
    });
    lives.set(id, life);
    return life;
  }

  // A write per message would cost more than the message.
  function flushActivity(): void {
    for (const id of active) {
      const life = lives.get(id);
      if (life === undefined) continue;
      const { lastIn, lastOut } = life.device;
      save(id, { lastIn, lastOut }, false);
      // Other processes see it there: a row that changes so often is not read anew by all of them.
      if (node !== null) sessions.publish(life);
    }
    active.clear();
  }
  const activity = store.time.every(ACTIVITY_FLUSH_MS, flushActivity);

  async function end(deviceIds: readonly number[]): Promise<void> {
    const ending: Promise<void>[] = [];
    for (const id of deviceIds) {
      const life = lives.get(id);
      logins.remove(id);
      if (life === undefined) continue;
      lives.delete(id);
      active.delete(id);
      ended.add(life);
      ending.push(life.stop().catch((err: unknown) => log.warn({ err, device: id }, "closing failed")));
      // What only its connection knew.
      delete life.device.reachout;
      delete life.device.newChats;
      delete life.device.waiting;
    }
    await Promise.all(ending);
  }

  return {
    get: (deviceId) => lives.get(deviceId) ?? null,
    of(deviceId) {
      const life = lives.get(deviceId);
      if (life !== undefined) return life;
      if (node === null || records.get(deviceId) === null)
        throw new GatewayError("NOT_FOUND", "The number has been removed.");
      throw new GatewayError("UNAVAILABLE", "The number is moving to another node. Try again in a moment.", {
        retryAfter: 1,
      });
    },
    all: () => lives.values(),
    add,
    begin(deviceIds) {
      const coming: number[] = [];
      for (const id of deviceIds) {
        const life = lives.get(id);
        if (life?.comesBack() === true) coming.push(id);
        else if (life !== undefined && life.device.state !== "unlinked") life.rest();
      }
      logins.add(coming);
    },
    drop(deviceId) {
      lives.delete(deviceId);
      active.delete(deviceId);
      logins.remove(deviceId);
    },
    putBack: (life) => void lives.set(life.device.id, life),
    end,
    async stop() {
      logins.stop();
      activity();
      await Promise.all(Array.from(lives.values(), (life) => life.stop()));
      flushActivity();
      await store.writer.drain();
    },
  };
}
