import { MINUTE_MS, type Cancel } from "../model/time.ts";
import { ProxyFailed } from "../net/proxy.ts";
import type { Closed, LinkedIdentity, WhatsAppConnection } from "../whatsapp/port.ts";
import type { Changes } from "./changes.ts";
import { listenTo, usableConnection } from "./connection-events.ts";
import { createConnectionSlot, type ConnectionSlot } from "./connection-slot.ts";
import type { DeviceChange } from "./device-record.ts";
import {
  lifeAtStart,
  nextRetryAt,
  shownState,
  step,
  type Effect,
  type Life,
  type LifeEvent,
} from "./life.ts";
import type { LinkSession } from "./link-session.ts";
import type { NumberDeps } from "./number-life.ts";

const STEADY_MS = MINUTE_MS;

/** Runs the life of one number: hands what happens to `step`, and performs what follows. */
export interface LifeRunner {
  readonly life: Life;
  readonly slot: ConnectionSlot;
  /** Null unless it is open. */
  readonly usable: WhatsAppConnection | null;
  /** Known while the number has been online in this process. */
  readonly identity: LinkedIdentity | null;
  /** How many stanzas WhatsApp still has for it; null when it has none, or nothing is known of it. */
  readonly waiting: number | null;
  send(event: LifeEvent): void;
  /** Stores a change of the record, and the state when it is another. */
  save(change: DeviceChange): void;
  /** State or QR changed. */
  changed(): void;
  /** Resolves when a logout that was begun has ended. @throws what closing the connection throws */
  loggedOut(): Promise<void>;
  /** Ends without a further event: nothing is planned any more, and the connection is closed. */
  stop(): Promise<void>;
}

/** What effects work on. */
interface Running {
  deps: NumberDeps;
  session: LinkSession;
  slot: ConnectionSlot;
  runner: LifeRunner;
  life: Life;
  usable: WhatsAppConnection | null;
  identity: LinkedIdentity | null;
  waiting: number | null;
  planned: Cancel | null;
  loggingOut: Promise<void>;
}

/** @param session QR and code of the linking, which some effects hide */
export function createLifeRunner(deps: NumberDeps, session: LinkSession, changes: Changes): LifeRunner {
  const { device, log } = deps;
  const slot = createConnectionSlot(
    deps.whatsapp,
    device.id,
    async () => deps.beforeReading?.(),
    (error) =>
      log.error({ err: error, device: device.id }, "could not connect, or could not erase credentials"),
  );
  const runner: LifeRunner = {
    slot,
    get life() {
      return running.life;
    },
    get usable() {
      return running.usable;
    },
    get identity() {
      return running.identity;
    },
    get waiting() {
      return running.waiting;
    },
    send(event) {
      const { state, effects } = step(running.life, event);
      if (state === running.life && effects.length === 0) return;
      running.life = state;
      runner.save(Object.assign({}, ...effects.map((effect) => effect.do === "record" && effect.change)));
      for (const effect of effects) perform(effect, running);
    },
    save(change) {
      const state = shownState(running.life);
      const moved = device.state === state ? {} : { state, since: deps.store.time.now() };
      const all: DeviceChange = { ...change, ...moved };
      Object.assign(device, all);
      if (Object.keys(all).length > 0) deps.save(all);
      runner.changed();
    },
    changed() {
      changes.tell();
      deps.changed();
    },
    loggedOut: () => running.loggingOut,
    stop: () => stop(running),
  };
  const running: Running = {
    deps,
    session,
    slot,
    runner,
    life: lifeAtStart(device.state, deps.linked, device.lastClose?.until),
    usable: null,
    identity: null,
    waiting: null,
    planned: null,
    loggingOut: Promise.resolve(),
  };
  const until = nextRetryAt(running.life);
  if (until !== null) plan(running, Math.max(0, until - deps.store.time.now()), "due");
  return runner;
}

function perform(effect: Effect, running: Running): void {
  const { deps, session, slot } = running;
  switch (effect.do) {
    case "open":
      return open(running);
    case "leave":
      idle(running);
      return void slot.leave();
    case "retry":
      return plan(running, effect.ms, "due");
    case "watch":
      return plan(running, STEADY_MS, "steady");
    case "hide":
      return session.hide();
    case "erase":
      return void erase(running);
    case "refuse":
      idle(running);
      return void refuse(running);
    case "logout":
      idle(running);
      running.loggingOut = logOut(running, effect.open, effect.erase);
      // Whoever asked for it hears of it.
      return void running.loggingOut.catch(() => undefined);
    case "tellOpen":
      return deps.tell({ type: "online" });
    case "record":
    // Stored before any of these is performed.
  }
}

/** How much WhatsApp still holds back; the record shows it. */
function stillWaiting(running: Running, count: number | null): void {
  running.waiting = running.deps.device.waiting = count;
}

function idle(running: Running): void {
  running.planned?.();
  running.planned = null;
  running.usable = null;
  stillWaiting(running, null);
}

function plan(running: Running, ms: number, type: "due" | "steady"): void {
  running.planned?.();
  running.planned = running.deps.store.time.after(ms, () => running.runner.send({ type }));
}

function open(running: Running): void {
  const { deps, session, slot, runner } = running;
  if (!deps.isOurs()) return giveUp(running);
  const closed = (how: Closed): void => tellClosed(running, how);
  idle(running);
  slot.open(
    (isStale) =>
      listenTo(isStale, {
        deps,
        session,
        life: () => running.life,
        send: runner.send,
        changed: runner.changed,
        closed,
        waiting: (count) => stillWaiting(running, count),
        online(who) {
          const opened = slot.current();
          running.identity = who;
          running.usable = opened && usableConnection(opened, deps);
        },
      }),
    (error) =>
      closed({
        code: 0,
        reason: (error as Error).message,
        ...(error instanceof ProxyFailed && { complaint: "proxy" }),
      }),
  );
}

/** It goes on in another process; what its connections here have met with counts for nothing. */
function giveUp(running: Running): void {
  idle(running);
  void running.slot.leave()?.close();
  running.deps.onTaken();
}

function tellClosed(running: Running, how: Closed): void {
  const { deps, session, runner } = running;
  if (how.taken || !deps.isOurs()) return giveUp(running);
  const at = deps.store.time.now();
  const contested = deps.isContested();
  runner.send({
    type: "closed",
    how,
    at,
    random: deps.random(),
    abandoned: session.isAbandoned(at),
    contested,
  });
  const retryAt = nextRetryAt(runner.life);
  const retryInMs = retryAt === null ? null : retryAt - at;
  deps.log.info({ device: deps.device.id, code: how.code, reason: how.reason, retryInMs }, "closed");
}

async function erase(running: Running): Promise<void> {
  const { deps, slot } = running;
  running.identity = null;
  await slot.afterwards(() => deps.whatsapp.erase(deps.device.id));
}

async function refuse(running: Running): Promise<void> {
  const left = running.slot.leave();
  await left?.logout().catch(() => left.close());
  await erase(running);
  running.runner.send({ type: "refused" });
}

async function logOut(running: Running, wasOpen: boolean, mustErase: boolean): Promise<void> {
  const { slot, runner } = running;
  const left = slot.leave();
  try {
    if (wasOpen) await left?.logout().catch(() => left.close());
    else await left?.close();
    await slot.settled();
    if (mustErase) await erase(running);
  } finally {
    runner.send({ type: "loggedOut" });
  }
}

async function stop(running: Running): Promise<void> {
  idle(running);
  await running.slot.leave()?.close();
  await running.slot.settled();
}
