import { GatewayError } from "../model/errors/errors.ts";
import { PASSKEY_WANTED } from "../model/passkey.ts";
import { MINUTE_MS } from "../model/time.ts";
import { NoPasskeyRequest, PasskeyRefused, type WhatsAppConnection } from "../whatsapp/port.ts";
import { createChanges, type Changes } from "./changes.ts";
import type { DeviceRecord } from "./device-record.ts";
import { comesBack, isLinked, nextRetryAt } from "./life.ts";
import { isRefusedClient } from "./link.ts";
import { createLinkSession } from "./link-session.ts";
import { linkAnswer, showSoon, type ShowDeps } from "./linking.ts";
import type { NumberDeps, NumberLife } from "./number-life.ts";
import { createLifeRunner, type LifeRunner } from "./runner.ts";

const LOGOUT_WAITS_MS = 5_000;
/** Who keeps asking for a QR is told for so long that WhatsApp wants a passkey; then linking begins anew. */
const PASSKEY_TOLD_MS = 10 * MINUTE_MS;
/** The same of a version that WhatsApp refuses; another one may be known by then. */
const VERSION_TOLD_MS = MINUTE_MS;

/** Begins the life of a number that is registered; `connect` or `link` bring it online. */
export function createNumber(deps: NumberDeps): NumberLife {
  const { device, log } = deps;
  const { time } = deps.store;
  const session = createLinkSession();
  const changes = createChanges(time);
  const runner = createLifeRunner(deps, session, changes);
  const shown: ShowDeps = {
    session,
    changes,
    time,
    log,
    deviceId: device.id,
    number: device.number,
    linkedAnswer() {
      if (!isLinked(runner.life)) return null;
      return { state: runner.life.phase === "open" ? "connected" : "connecting" };
    },
    current: runner.slot.current,
    blockedBy: () => blockedBy(deps, runner),
    isRefused: () => device.wrongNumber !== null,
    changed: runner.changed,
  };
  return {
    device,
    get nextRetryAt() {
      return nextRetryAt(runner.life);
    },
    get waiting() {
      return runner.waiting;
    },
    shown: () => session,
    isLinked: () => isLinked(runner.life),
    comesBack: () => comesBack(runner.life),
    identity: () => runner.identity,
    connection: () => runner.usable,
    connect: () => runner.send({ type: "connect" }),
    rest: () => runner.save({}),
    async link({ force, method }) {
      throwIfWrongNumber(device, runner);
      session.asked(time.now());
      if (!force && shown.blockedBy() !== null) return linkAnswer(shown, method);
      runner.send({ type: "asked", force });
      return isLinked(runner.life) ? linkAnswer(shown, method) : showSoon(shown, method);
    },
    answerPasskey: (assertion) => askWhatsApp(runner, (connection) => connection.answerPasskey(assertion)),
    confirmPasskey: () =>
      askWhatsApp(runner, async (connection) => {
        await connection.confirmPasskey();
        return { state: "linking" };
      }),
    async logout() {
      if (isLinked(runner.life)) await waitUntilOpen(runner, changes, () => time.monotonic());
      runner.send({ type: "logout" });
      await runner.loggedOut();
    },
    reroute() {
      // It says nothing of the way that it goes now.
      if (device.lastClose?.complaint === "proxy") runner.save({ lastClose: null });
      runner.send({ type: "rerouted" });
    },
    stop: runner.stop,
  };
}

/** A number that rests because WhatsApp wants a passkey that nobody may give, or another client version. */
function blockedBy(
  { device, passkeys, store }: NumberDeps,
  { life }: LifeRunner,
): "passkey" | "version" | null {
  const { lastClose } = device;
  if (lastClose === null || life.phase !== "resting" || life.shown !== "action_required") return null;
  const since = store.time.now() - lastClose.at;
  if (isRefusedClient(lastClose)) return since < VERSION_TOLD_MS ? "version" : null;
  if (passkeys || lastClose.reason !== PASSKEY_WANTED) return null;
  return since < PASSKEY_TOLD_MS ? "passkey" : null;
}

async function askWhatsApp<T>(
  { slot }: LifeRunner,
  ask: (connection: WhatsAppConnection) => Promise<T>,
): Promise<T> {
  const connection = slot.current();
  try {
    if (connection === null) throw new NoPasskeyRequest();
    return await ask(connection);
  } catch (error) {
    if (error instanceof NoPasskeyRequest)
      throw new GatewayError(
        "NO_PASSKEY_REQUEST",
        "WhatsApp is not waiting for this number's passkey now. Start with POST /generate-qr.",
      );
    if (!(error instanceof PasskeyRefused)) throw error;
    throw new GatewayError("WHATSAPP_REFUSED", `WhatsApp refused the passkey: ${error.message}.`, {
      extra: { whatsapp_code: error.code },
    });
  }
}

/** Told once. */
function throwIfWrongNumber(device: DeviceRecord, runner: LifeRunner): void {
  const scanned = device.wrongNumber;
  if (scanned === null) return;
  runner.save({ wrongNumber: null });
  throw new GatewayError(
    "WRONG_NUMBER",
    `The number ${scanned} scanned the QR code of ${device.number}. It was logged out; scan with the phone of ${device.number}.`,
    { extra: { scanned } },
  );
}

/** WhatsApp can be told of a logout by an open connection alone; one that is on its way is waited for. */
async function waitUntilOpen(runner: LifeRunner, changes: Changes, monotonic: () => number): Promise<void> {
  const deadline = monotonic() + LOGOUT_WAITS_MS;
  for (;;) {
    const left = deadline - monotonic();
    const { life } = runner;
    const onItsWay = life.phase === "connecting" || life.phase === "waiting";
    if (!onItsWay || left <= 0) return;
    await changes.next(left);
  }
}
