import { GatewayError } from "../model/errors.ts";
import type { Closed, LinkedIdentity, WhatsAppConnection, WhatsAppEvents } from "../whatsapp/port.ts";
import { joinIntakes, NO_INTAKE } from "../store/intake.ts";
import { createChanges } from "./changes.ts";
import type { DeviceChange, DeviceRecord } from "./device-record.ts";
import { afterClose, type LinkState } from "./link.ts";
import { createLinkSession } from "./link-session.ts";
import type { LinkAnswer, NumberDeps, NumberLife } from "./number-life.ts";
import { isSameNumber } from "./same-number.ts";

const STABLE_MS = 60_000;
const SHOW_WITHIN_MS = 1_800;
const LOGOUT_WAITS_MS = 5_000;
const LOGGED_OUT = 401;
const REFUSAL_ATTEMPTS = 5;

/** Begins the life of a number that is registered; `connect` or `link` bring it online. */
export function createNumber(deps: NumberDeps): NumberLife {
  const { device, whatsapp, store, log } = deps;
  const session = createLinkSession();
  const changes = createChanges();
  let linked = deps.linked;
  let current: WhatsAppConnection | null = null;
  let usable: WhatsAppConnection | null = null;
  let identity: LinkedIdentity | null = null;
  // Events of a connection that is not the newest are stale.
  let generation = 0;
  let attempt = 0;
  let retry: { timer: NodeJS.Timeout; at: number } | null = null;
  let stable: NodeJS.Timeout | undefined;
  // Digits of a foreign number that is being logged out again.
  let refusing: { number: string; attempts: number } | null = null;
  let ending: Promise<unknown> = Promise.resolve();

  function tellAll(): void {
    changes.tell();
    deps.changed();
  }

  function setState(state: LinkState, change: DeviceChange = {}): void {
    const moved = device.state === state ? {} : { state, since: store.now() };
    const all: DeviceChange = { ...change, ...moved };
    Object.assign(device, all);
    if (Object.keys(all).length > 0) deps.save(all);
    tellAll();
  }

  function leaveConnection(): WhatsAppConnection | null {
    const left = current;
    generation++;
    current = null;
    usable = null;
    clearTimeout(retry?.timer);
    retry = null;
    clearTimeout(stable);
    return left;
  }

  function connect(): void {
    const left = leaveConnection();
    const mine = generation;
    const isStale = (): boolean => mine !== generation;
    ending = ending
      .then(() => left?.close())
      .then(async () => {
        if (isStale()) return;
        const opened = await whatsapp.connect(device.id, eventsFor(isStale));
        if (isStale()) return opened.close();
        current = opened;
      })
      .catch((error: unknown) => {
        log.error({ err: error, number: device.number }, "connecting failed");
        if (!isStale()) closed({ code: 0, reason: (error as Error).message });
      });
  }

  function eventsFor(isStale: () => boolean): WhatsAppEvents {
    const unlessStale =
      <A extends unknown[]>(handle: (...args: A) => void) =>
      (...args: A): void => {
        if (!isStale()) handle(...args);
      };
    return {
      qr: unlessStale((text, expiresInMs) => {
        session.showQr(text, expiresInMs, store.now());
        tellAll();
      }),
      linked: unlessStale(accepted),
      open: unlessStale(opened),
      closed: unlessStale(closed),
      // Never stale: what was decrypted must be stored, whichever connection brought it.
      messages(messages) {
        if (refusing !== null) return NO_INTAKE;
        const seen = { ...NO_INTAKE, committed: () => void (device.lastIn = store.now()) };
        return joinIntakes(deps.onMessages(messages), seen);
      },
      receipts: deps.onReceipts,
      groupsChanged: (ids, left = []) => deps.onGroupsChanged(ids, left),
    };
  }

  /** A phone has used the QR or the code; a restart of the connection follows. */
  function accepted(who: LinkedIdentity): void {
    session.hide();
    attempt = 0;
    if (isSameNumber(who.number, device.number)) {
      linked = true;
      log.info({ number: device.number }, "number linked");
      setState("connecting", { lid: who.lid, name: who.name, platform: who.platform });
    } else {
      refusing = { number: who.number, attempts: 0 };
      log.warn({ number: device.number, scanned: who.number }, "another number scanned; logging it out");
      setState("unlinked", { wrongNumber: who.number });
    }
  }

  function opened(who: LinkedIdentity): void {
    // A restart may have come between the scan by a foreign number and its logout.
    if (refusing !== null || !isSameNumber(who.number, device.number)) {
      refusing ??= { number: who.number, attempts: 0 };
      return void refuse();
    }
    identity = who;
    const opened = current;
    usable = opened && {
      ...opened,
      async send(message) {
        const outcome = await opened.send(message);
        if (outcome.kind === "sent") {
          device.lastOut = store.now();
          deps.onSent();
        }
        return outcome;
      },
    };
    clearTimeout(stable);
    stable = setTimeout(() => (attempt = 0), STABLE_MS);
    setState("connected", { lid: who.lid, name: who.name, platform: who.platform });
    deps.onOpen();
  }

  /** The foreign number is online: it is logged out, and nothing of it is kept. */
  async function refuse(): Promise<void> {
    const left = leaveConnection();
    await left?.logout().catch(() => left.close());
    await forget();
    refusing = null;
    setState("unlinked");
  }

  function closed(how: Closed): void {
    // It has nothing to say any more.
    leaveConnection();
    session.hide();
    const lastClose = { ...how, at: store.now() };
    if (refusing !== null) return closedWhileRefusing(how, lastClose);
    const next = afterClose(how, { linked, attempt, random: deps.random() });
    if (how.code !== 515) attempt++;
    const abandoned = next.state === "linking" && session.isAbandoned(store.now());
    log.info(
      { number: device.number, code: how.code, reason: how.reason, retryInMs: next.retryInMs },
      "closed",
    );
    if (next.erase) void forget();
    if (next.erase) linked = false;
    setState(abandoned ? "unlinked" : next.state, { lastClose });
    if (next.retryInMs !== null && !abandoned) retryIn(next.retryInMs);
  }

  function closedWhileRefusing(how: Closed, lastClose: DeviceRecord["lastClose"]): void {
    const { attempts } = refusing!;
    setState("unlinked", { lastClose });
    if (how.code === LOGGED_OUT || attempts >= REFUSAL_ATTEMPTS) return void refuse();
    refusing!.attempts++;
    retryIn(how.code === 515 ? 0 : 1_000 * 2 ** attempts);
  }

  function retryIn(ms: number): void {
    if (ms === 0) return connect();
    retry = { timer: setTimeout(connect, ms), at: store.now() + ms };
  }

  async function forget(): Promise<void> {
    linked = false;
    identity = null;
    ending = ending
      .then(() => whatsapp.erase(device.id))
      .catch((error: unknown) =>
        log.error({ err: error, number: device.number }, "erasing credentials failed"),
      );
    await ending;
  }

  function answer(method: "qr" | "code"): LinkAnswer {
    if (linked) return { state: device.state === "connected" ? "connected" : "connecting" };
    const shown = method === "code" ? session.code : session.qr;
    const expiresInMs = (shown?.expiresAt ?? 0) - store.now();
    if (shown === null || expiresInMs <= 0) return { state: "processing" };
    return method === "code"
      ? { state: "code", code: shown.text, expiresInMs }
      : { state: "qr", qr: shown.text, expiresInMs };
  }

  function throwIfWrongNumber(): void {
    const scanned = device.wrongNumber;
    if (scanned === null) return;
    setState(device.state, { wrongNumber: null });
    throw new GatewayError(
      "WRONG_NUMBER",
      `The number ${scanned} scanned the QR code of ${device.number}. It was logged out; scan with ${device.number}.`,
      { extra: { scanned } },
    );
  }

  async function showFor(method: "qr" | "code"): Promise<LinkAnswer> {
    const deadline = performance.now() + SHOW_WITHIN_MS;
    for (;;) {
      const shown = answer(method);
      const left = deadline - performance.now();
      if (shown.state !== "processing" || left <= 0 || device.wrongNumber !== null) return shown;
      const connection = current;
      if (method === "code" && session.qr !== null && connection !== null)
        // A failure closes the connection or leaves the code to the next call.
        void session
          .requestCode(
            () => connection.requestPairingCode(device.number),
            () => store.now(),
          )
          .then(tellAll)
          .catch((error: unknown) => log.warn({ err: error, number: device.number }, "no pairing code"));
      await changes.next(left);
    }
  }

  async function waitUntilOpen(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    for (;;) {
      const left = deadline - performance.now();
      if (usable !== null || device.state !== "connecting" || left <= 0) return;
      await changes.next(left);
    }
  }

  return {
    device,
    get nextRetryAt() {
      return retry?.at ?? null;
    },
    shown: () => session,
    isLinked: () => linked,
    identity: () => identity,
    connection: () => usable,
    connect() {
      setState("connecting");
      connect();
    },
    rest() {
      if (device.state === "linking" || device.state === "connecting" || device.state === "connected")
        setState("unlinked");
    },
    async link({ force, method }) {
      throwIfWrongNumber();
      session.asked(store.now());
      if (linked) {
        // A stopped one goes on when its owner asks for it; one that waits or works is left alone.
        if (current === null && retry === null && device.state !== "connecting") {
          setState("connecting");
          connect();
        }
        return answer(method);
      }
      if (refusing === null && (device.state !== "linking" || force)) {
        session.hide();
        attempt = 0;
        setState("linking");
        connect();
      }
      return showFor(method);
    },
    async logout() {
      if (linked) await waitUntilOpen(LOGOUT_WAITS_MS);
      const wasOpen = usable !== null;
      const left = leaveConnection();
      if (wasOpen) await left?.logout().catch(() => left.close());
      else await left?.close();
      await ending;
      session.hide();
      // Those of a foreign number that was still to be logged out are none to keep either.
      if (linked || refusing !== null) await forget();
      refusing = null;
      setState("unlinked");
    },
    async stop() {
      const left = leaveConnection();
      await left?.close();
      await ending;
    },
  };
}
