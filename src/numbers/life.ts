import type { Closed, LinkedIdentity } from "../whatsapp/port.ts";
import type { DeviceChange } from "./device-record.ts";
import { afterClose, type LastClose, type LinkState } from "./link.ts";
import { isSameNumber } from "./same-number.ts";

/** What is shown while something goes on. */
type Underway = "linking" | "connecting" | "action_required" | "blocked";

/** Where one number is in its life. There is a connection in `connecting`, `open`, and while a foreign one is refused. */
export type Life =
  /** Nothing goes on, and nothing will before somebody asks for it. */
  | { phase: "resting"; linked: boolean; shown: LinkState }
  /** The next connection is planned for `until` (Unix milliseconds); null: for this number's turn after a start. */
  | { phase: "waiting"; linked: boolean; shown: Underway; attempt: number; until: number | null }
  /** A connection is being made; not linked, it waits for a QR or a code to be used. */
  | { phase: "connecting"; linked: boolean; shown: Underway; attempt: number }
  | { phase: "open"; attempt: number }
  /** A foreign number used the QR: it is let in only to be logged out again. */
  | { phase: "refusing"; attempts: number; line: "connecting" | "waiting" | "leaving"; until: number | null }
  /** Its owner logs it out. */
  | { phase: "leaving" };

/** What happens to a number. `at` is Unix milliseconds. */
export type LifeEvent =
  /** Its turn after a start. */
  | { type: "connect" }
  /** Somebody asks for a QR, a code, or for a stopped number to go on. */
  | { type: "asked"; force: boolean }
  /** A phone has used the QR or the code; a restart of the connection follows. */
  | { type: "accepted"; own: string; who: LinkedIdentity; at: number }
  | { type: "opened"; own: string; who: LinkedIdentity }
  /** @see afterClose for `random` and `contested`; `abandoned`: nobody has asked for its QR for a while */
  | { type: "closed"; how: Closed; at: number; random: number; abandoned: boolean; contested?: boolean }
  /** The time that it waited for has come. */
  | { type: "due" }
  /** It has been open for a minute. */
  | { type: "steady" }
  /** The foreign number is logged out, or cannot be. */
  | { type: "refused" }
  | { type: "logout" }
  | { type: "loggedOut" }
  /** It goes another way to WhatsApp from now on. */
  | { type: "rerouted" };

/** What is to be done about it, in order. */
export type Effect =
  /** Store what the record says beside the state, which is stored by itself. */
  | { do: "record"; change: DeviceChange }
  /** Let go of the connection, which has ended. */
  | { do: "leave" }
  /** Close what there is, then make a connection. */
  | { do: "open" }
  | { do: "retry"; ms: number }
  /** Say when it has been open for a minute. */
  | { do: "watch" }
  /** No QR and no code is good any more. */
  | { do: "hide" }
  /** Delete the credentials. */
  | { do: "erase" }
  /** Log the foreign number out and delete its credentials; `refused` follows. */
  | { do: "refuse" }
  /** Log out, as far as WhatsApp can be reached, and delete the credentials; `loggedOut` follows. */
  | { do: "logout"; open: boolean; erase: boolean }
  | { do: "tellOpen" };

/** What follows from an event. */
export interface Step {
  state: Life;
  effects: Effect[];
}

/** The phone or WhatsApp has logged this companion out. */
const LOGGED_OUT = new Set([401, 516]);
const RESTART = 515;
/** The next wait of a line that does not open again begins behind these. */
const MOST_BEFORE_OPEN = 1;
const REFUSAL_ATTEMPTS = 5;
const FIRST_REFUSAL_WAIT_MS = 1_000;
/** Linked numbers that were shown as one of these do not connect by themselves, also not after a restart. */
const RESTS_IN = new Set<LinkState>(["blocked", "replaced", "logged_out"]);
const UNDERWAY = new Set<LinkState>(["linking", "connecting", "connected"]);
const UNLINKED: Life = { phase: "resting", linked: false, shown: "unlinked" };

/**
 * A number as the last run of the gateway has left it: what was being linked then is not any more.
 *
 * @param bannedUntil Unix milliseconds; null when there is no ban, or its end is not known
 */
export function lifeAtStart(shown: LinkState, linked: boolean, bannedUntil: number | null = null): Life {
  if (shown === "blocked" && linked && bannedUntil !== null)
    return { phase: "waiting", linked, shown, attempt: 0, until: bannedUntil };
  if (!UNDERWAY.has(shown)) return { phase: "resting", linked, shown };
  return linked ? { phase: "waiting", linked, shown: "connecting", attempt: 0, until: null } : UNLINKED;
}

/** The state that `GET /devices` shows. */
export function shownState(life: Life): LinkState {
  if (life.phase === "open") return "connected";
  return life.phase === "refusing" || life.phase === "leaving" ? "unlinked" : life.shown;
}

/** Whether a phone has accepted the credentials that are stored. */
export function isLinked(life: Life): boolean {
  if (life.phase === "open") return true;
  return "linked" in life && life.linked;
}

/** Whether the gateway connects this number by itself. */
export const comesBack = (life: Life): boolean => isLinked(life) && !RESTS_IN.has(shownState(life));

/** When it will be connected next, Unix milliseconds; null when nothing is planned. */
export const nextRetryAt = (life: Life): number | null => ("until" in life ? life.until : null);

/**
 * The whole life of a number. Does nothing by itself and knows no time: the runner (`number.ts`) performs the effects in
 * order. An event that means nothing in this phase changes nothing.
 */
export function step(life: Life, event: LifeEvent): Step {
  switch (event.type) {
    case "connect":
      return (life.phase === "resting" || life.phase === "waiting") && life.linked
        ? connecting(true)
        : same(life);
    case "asked":
      return asked(life, event.force);
    case "accepted":
      return life.phase === "connecting" ? accepted(event) : same(life);
    case "opened":
      return opened(life, event);
    case "closed":
      return closed(life, event);
    case "due":
      return due(life);
    case "steady":
      return same(life.phase === "open" ? { ...life, attempt: 0 } : life);
    case "refused":
      return same(life.phase === "refusing" && life.line === "leaving" ? UNLINKED : life);
    case "logout":
      return loggingOut(life);
    case "loggedOut":
      return same(life.phase === "leaving" ? UNLINKED : life);
    case "rerouted":
      return rerouted(life);
  }
}

const same = (state: Life): Step => ({ state, effects: [] });

function connecting(linked: boolean, before: Effect[] = []): Step {
  const shown = linked ? "connecting" : "linking";
  return {
    state: { phase: "connecting", linked, shown, attempt: 0 },
    effects: [...before, { do: "open" }],
  };
}

/** A stopped one goes on when its owner asks for it; one that waits or works is left alone, unless it is forced. */
function asked(life: Life, force: boolean): Step {
  if (life.phase === "resting") return connecting(life.linked, life.linked ? [] : [{ do: "hide" }]);
  const isLinking = (life.phase === "waiting" || life.phase === "connecting") && !life.linked;
  return isLinking && force ? connecting(false, [{ do: "hide" }]) : same(life);
}

function accepted({ own, who, at }: { own: string; who: LinkedIdentity; at: number }): Step {
  if (!isSameNumber(who.number, own))
    return {
      state: { phase: "refusing", attempts: 0, line: "connecting", until: null },
      effects: [{ do: "hide" }, { do: "record", change: { wrongNumber: who.number } }],
    };
  return {
    state: { phase: "connecting", linked: true, shown: "connecting", attempt: 0 },
    effects: [{ do: "hide" }, { do: "record", change: { ...namesOf(who), linkedAt: at } }],
  };
}

function opened(life: Life, { own, who }: { own: string; who: LinkedIdentity }): Step {
  if (life.phase !== "connecting" && life.phase !== "refusing") return same(life);
  // A restart may have come between the scan by a foreign number and its logout.
  if (life.phase === "refusing" || !isSameNumber(who.number, own))
    return refuse(life.phase === "refusing" ? life.attempts : 0);
  return {
    state: { phase: "open", attempt: life.attempt },
    effects: [{ do: "watch" }, { do: "record", change: namesOf(who) }, { do: "tellOpen" }],
  };
}

function closed(life: Life, event: LifeEvent & { type: "closed" }): Step {
  const { how, at, random, abandoned, contested = false } = event;
  const ended: Effect[] = [
    { do: "leave" },
    { do: "hide" },
    { do: "record", change: { lastClose: closedAt(how, at) } },
  ];
  if (life.phase === "refusing")
    return life.line === "connecting" ? closedRefusing(life.attempts, how, at, ended) : same(life);
  if (life.phase !== "connecting" && life.phase !== "open") return same(life);
  const wasLinked = isLinked(life);
  const wasOpen = life.phase === "open" && how.byUs !== true;
  const next = afterClose(how, { linked: wasLinked, attempt: life.attempt, random, wasOpen, contested });
  const linked = wasLinked && !next.erase;
  if (next.erase) ended.push({ do: "erase" });
  if (next.retryInMs === null)
    return { state: { phase: "resting", linked, shown: next.state }, effects: ended };
  if (next.state === "linking" && abandoned) return { state: UNLINKED, effects: ended };
  // Whoever has let it in does so again: what came before that counts for little.
  const attempts = wasOpen ? Math.min(life.attempt, MOST_BEFORE_OPEN) : life.attempt;
  const attempt = attempts + (how.code === RESTART ? 0 : 1);
  const shown = next.state as Underway;
  if (next.retryInMs === 0)
    return { state: { phase: "connecting", linked, shown, attempt }, effects: [...ended, { do: "open" }] };
  return {
    state: { phase: "waiting", linked, shown, attempt, until: at + next.retryInMs },
    effects: [...ended, { do: "retry", ms: next.retryInMs }],
  };
}

function closedAt({ code, reason, bannedForMs, complaint }: Closed, at: number): LastClose {
  return {
    code,
    reason,
    at,
    ...(bannedForMs !== undefined && { until: at + bannedForMs }),
    ...(complaint !== undefined && { complaint }),
  };
}

function closedRefusing(attempts: number, { code }: Closed, at: number, ended: Effect[]): Step {
  if (LOGGED_OUT.has(code) || attempts >= REFUSAL_ATTEMPTS) {
    const { state, effects } = refuse(attempts);
    return { state, effects: [...ended, ...effects] };
  }
  const next = { phase: "refusing", attempts: attempts + 1 } as const;
  if (code === RESTART)
    return { state: { ...next, line: "connecting", until: null }, effects: [...ended, { do: "open" }] };
  const ms = FIRST_REFUSAL_WAIT_MS * 2 ** attempts;
  return {
    state: { ...next, line: "waiting", until: at + ms },
    effects: [...ended, { do: "retry", ms }],
  };
}

/** The foreign number is logged out, and nothing of it is kept. */
function refuse(attempts: number): Step {
  return {
    state: { phase: "refusing", attempts, line: "leaving", until: null },
    effects: [{ do: "refuse" }],
  };
}

function due(life: Life): Step {
  if (life.phase === "refusing" && life.line === "waiting")
    return { state: { ...life, line: "connecting", until: null }, effects: [{ do: "open" }] };
  if (life.phase !== "waiting") return same(life);
  const { linked, shown, attempt } = life;
  return { state: { phase: "connecting", linked, shown, attempt }, effects: [{ do: "open" }] };
}

/** What goes the old way ends; who rests, or waits for its turn after a start, begins on the new one. */
function rerouted(life: Life): Step {
  const isUnderWay = life.phase === "open" || life.phase === "connecting";
  if (!isUnderWay && (life.phase !== "waiting" || life.until === null || life.shown === "blocked"))
    return same(life);
  return connecting(isLinked(life), [{ do: "hide" }]);
}

function loggingOut(life: Life): Step {
  if (life.phase === "leaving") return same(life);
  // Credentials of a foreign number that was still to be logged out are none to keep either.
  const erase = isLinked(life) || life.phase === "refusing";
  return {
    state: { phase: "leaving" },
    effects: [{ do: "logout", open: life.phase === "open", erase }, { do: "hide" }],
  };
}

const namesOf = ({ lid, name, platform }: LinkedIdentity): DeviceChange => ({ lid, name, platform });
