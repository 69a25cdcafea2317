import { joinIntakes, NO_INTAKE } from "../store/write/intake.ts";
import type { Closed, LinkedIdentity, WhatsAppConnection, WhatsAppEvents } from "../whatsapp/port.ts";
import type { Life, LifeEvent } from "./life.ts";
import type { LinkSession } from "./link-session.ts";
import type { NumberDeps } from "./number-life.ts";
import { isSameNumber } from "./same-number.ts";

/** What a connection tells, and whom. */
interface EventsDeps {
  deps: NumberDeps;
  session: LinkSession;
  life(): Life;
  send(event: LifeEvent): void;
  changed(): void;
  /** The number itself is online. */
  online(who: LinkedIdentity): void;
  closed(how: Closed): void;
  waiting(count: number | null): void;
}

/** Turns what a connection tells into events of the number's life. @param isStale true once it is not the newest any more */
export function connectionEvents(isStale: () => boolean, parts: EventsDeps): WhatsAppEvents {
  const { deps, session, life, send } = parts;
  const { device, log } = deps;
  const { time } = deps.store;
  const unlessStale =
    <A extends unknown[]>(handle: (...args: A) => void) =>
    (...args: A): void => {
      if (!isStale()) handle(...args);
    };
  return {
    qr: unlessStale((text, expiresInMs) => {
      session.showQr(text, expiresInMs, time.now());
      parts.changed();
    }),
    passkey: unlessStale((request, withinMs) => {
      session.showPasskey(request, withinMs, time.now());
      // Whoever answers may take his time.
      session.asked(time.now() + withinMs);
      parts.changed();
    }),
    linked: unlessStale((who) => {
      if (isSameNumber(who.number, device.number)) log.info({ device: device.id }, "number linked");
      else
        log.warn(
          { device: device.id, scanned: who.number },
          "another number scanned the QR code; logging it out",
        );
      send({ type: "accepted", own: device.number, who, at: time.now() });
    }),
    open: unlessStale((who) => {
      if (life().phase === "connecting" && isSameNumber(who.number, device.number)) parts.online(who);
      send({ type: "opened", own: device.number, who });
    }),
    closed: unlessStale(parts.closed),
    waiting: unlessStale(parts.waiting),
    reachout: unlessStale((lock) => deps.onReachout?.(lock)),
    newChats: unlessStale((quota) => {
      device.newChats = quota;
      parts.changed();
    }),
    // Never stale: what was decrypted must be stored, whichever connection brought it.
    messages(messages) {
      if (life().phase === "refusing") return NO_INTAKE;
      const seen = { ...NO_INTAKE, committed: () => void (device.lastIn = time.now()) };
      return joinIntakes(deps.onMessages(messages), seen);
    },
    receipts: deps.onReceipts,
    rejectsCalls: () => device.calls === "reject",
    groupsChanged: deps.onGroupsChanged,
    channelsChanged: deps.onChannelsChanged,
    read: deps.onRead,
  };
}

/** A connection as others may use it: what it sends is seen here. */
export function usableConnection(
  opened: WhatsAppConnection,
  { device, store, onSent }: Pick<NumberDeps, "device" | "store" | "onSent">,
): WhatsAppConnection {
  return {
    ...opened,
    async send(message) {
      const outcome = await opened.send(message);
      if (outcome.kind === "sent") {
        device.lastOut = store.time.now();
        onSent();
      }
      return outcome;
    },
  };
}
