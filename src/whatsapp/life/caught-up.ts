import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Cancel, type Time } from "../../model/time.ts";
import type { Closed } from "../port.ts";
import { countIn } from "../stanza-numbers.ts";

/** A server that announces nothing, and does not say that this was all, is not waited for any longer. */
const UNANNOUNCED_MS = 10 * SECOND_MS;
/** The announcement comes with the login's last answer, or not at all. */
const ANNOUNCED_WITHIN_MS = SECOND_MS;
/** So many stanzas are asked for at once, as Baileys does by itself for the first time. */
const WINDOW = 100;
/** Asked for before the last window has come whole, and not more often than that. */
const ASK_AT = WINDOW / 2;
const ASK_PAUSE_MS = 100;
/** WhatsApp has given less than it was asked for: it is asked again. */
const ASK_AGAIN_MS = 2 * SECOND_MS;
const LOOK_MS = SECOND_MS;
/** Nothing has come for so long, and there is more. */
const STUCK_MS = 20 * SECOND_MS;
const TIMED_OUT = 408;
const KINDS = ["message", "receipt", "notification", "call"];

/** Tells when everything that waited at WhatsApp has been handed over, receipts among it. */
export interface CaughtUp {
  /** Never rejects. */
  done: Promise<void>;
  /** As `done`; but a server that has announced nothing within a second has nothing that would have to be waited for. */
  usable: Promise<void>;
  /** The connection is open: from now on the time counts. */
  opened(): void;
  /** Whoever waits goes on. */
  end(): void;
}

/** What catching up needs of its connection. */
interface CaughtUpDeps {
  time: Pick<Time, "after" | "every" | "monotonic">;
  /** Messages that have come and wait to be looked at. */
  unread(): number;
  /** How many stanzas WhatsApp still has; null once it has none. */
  tell(waiting: number | null): void;
  end(closed: Closed): void;
}

interface State {
  /** Null: nothing was announced. */
  announced: number | null;
  arrived: number;
  /** Of `arrived`, how many were asked for. */
  asked: number;
  askedAt: number;
  movedAt: number;
  over: boolean;
}

/**
 * Listens before Baileys does, behind the receipts that came on the same connection.
 *
 * What waited comes in windows that the client asks for (`<ib><offline_batch count>`): a few come by themselves, and until the
 * rest is asked for nothing else comes, live messages included. Baileys asks once. A server that hands over everything
 * unasked takes no harm from being asked. Source: whatsapp-rust `src/client/offline_resume.rs`.
 */
export function watchCaughtUp(socket: Pick<WASocket, "ws" | "sendNode">, deps: CaughtUpDeps): CaughtUp {
  const { time } = deps;
  const state: State = { announced: null, arrived: 0, asked: 0, askedAt: 0, movedAt: 0, over: false };
  const done = signal();
  const usable = signal();
  const cancels: Cancel[] = [];
  const windows = createWindows(socket, state, deps);

  function end(): void {
    if (state.over) return;
    state.over = true;
    for (const cancel of cancels) cancel();
    windows.cancel();
    if (state.announced !== null) deps.tell(null);
    done.give();
    usable.give();
  }

  function look(): void {
    if (state.announced === null || state.over) return;
    const now = time.monotonic();
    if (deps.unread() > 0) state.movedAt = now;
    const still = now - state.movedAt;
    const waiting = state.announced - state.arrived;
    if (still >= STUCK_MS && waiting > 0)
      return deps.end({ code: TIMED_OUT, reason: `WhatsApp still holds back ${waiting} of the backlog` });
    if (still >= UNANNOUNCED_MS && waiting <= 0) return end();
    if (still >= ASK_AGAIN_MS && now - state.askedAt >= ASK_AGAIN_MS) windows.ask();
  }

  function arrived({ attrs }: BinaryNode): void {
    if (attrs.offline === undefined || state.over) return;
    state.arrived++;
    state.movedAt = time.monotonic();
    if (state.announced === null) return;
    if (state.arrived % WINDOW === 0) deps.tell(Math.max(0, state.announced - state.arrived));
    if (state.arrived >= state.asked - ASK_AT && state.arrived < state.announced) windows.askSoon();
  }

  socket.ws.prependListener("CB:ib,,offline_preview", ({ content }: BinaryNode) => {
    const [preview] = Array.isArray(content) ? content : [];
    const count = countIn(preview?.attrs.count);
    if (count === 0 || state.over) return;
    // Baileys asks for the first window.
    Object.assign(state, {
      announced: count,
      asked: WINDOW,
      askedAt: time.monotonic(),
      movedAt: time.monotonic(),
    });
    deps.tell(count);
  });
  socket.ws.prependListener("CB:ib,,offline", end);
  for (const kind of KINDS) socket.ws.prependListener(`CB:${kind}`, arrived);

  return {
    done: done.given,
    usable: usable.given,
    opened() {
      if (cancels.length > 0 || state.over) return;
      cancels.push(
        time.every(LOOK_MS, look),
        time.after(UNANNOUNCED_MS, () => state.announced === null && end()),
        time.after(ANNOUNCED_WITHIN_MS, () => state.announced === null && usable.give()),
      );
    },
    end,
  };
}

/** Asks for the next window of what waits. */
function createWindows(
  socket: Pick<WASocket, "sendNode">,
  state: State,
  { time, unread }: Pick<CaughtUpDeps, "time" | "unread">,
) {
  let asking: Cancel | null = null;

  function ask(): void {
    asking = null;
    if (state.over) return;
    // Faster than they are handled they would only pile up here.
    if (unread() > WINDOW) return askSoon();
    state.asked = Math.max(state.asked, state.arrived) + WINDOW;
    state.askedAt = time.monotonic();
    void socket.sendNode(request()).catch(() => undefined);
  }

  function askSoon(): void {
    asking ??= time.after(ASK_PAUSE_MS, ask);
  }

  return { ask, askSoon, cancel: () => asking?.() };
}

const request = (): BinaryNode => ({
  tag: "ib",
  attrs: {},
  content: [{ tag: "offline_batch", attrs: { count: String(WINDOW) } }],
});

function signal(): { given: Promise<void>; give(): void } {
  let give!: () => void;
  const given = new Promise<void>((settle) => (give = settle));
  return { given, give: () => give() };
}
