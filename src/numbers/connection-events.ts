import { joinIntakes, NO_INTAKE } from "../store/write/intake.ts";
import type {
  ChatEvent,
  Closed,
  ConnectionEvent,
  ConnectionListener,
  LinkedIdentity,
  WhatsAppConnection,
} from "../whatsapp/port.ts";
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

const SAME: ReadonlySet<ConnectionEvent["type"]> = new Set([
  "groups",
  "channels",
  "book",
  "chatSettings",
  "groupHappenings",
  "moved",
]);

/** Turns what a connection tells into events of the number's life. @param isStale true once it is not the newest any more */
export function listenTo(isStale: () => boolean, parts: EventsDeps): ConnectionListener {
  const { deps, life } = parts;
  const { device } = deps;
  const { time } = deps.store;
  return {
    tell(event) {
      // Groups, channels and chats are the same whichever connection tells of them.
      if (SAME.has(event.type)) deps.tell(event as ChatEvent);
      else if (!isStale()) hear(event, parts);
    },
    // Never stale: what was decrypted must be stored, whichever connection brought it.
    messages(messages) {
      if (life().phase === "refusing") return NO_INTAKE;
      const seen = { ...NO_INTAKE, committed: () => void (device.lastIn = time.now()) };
      return joinIntakes(deps.onMessages(messages), seen);
    },
    async imported(messages) {
      if (life().phase !== "refusing") await deps.onImported(messages);
    },
    store: deps.onAcknowledged,
    rejectsCalls: () => device.calls === "reject",
  };
}

function hear(event: ConnectionEvent, parts: EventsDeps): void {
  const { deps, session, life, send } = parts;
  const { device } = deps;
  const { time } = deps.store;
  switch (event.type) {
    case "qr":
      session.showQr(event.text, event.expiresInMs, time.now());
      return parts.changed();
    case "passkey":
      session.showPasskey(event.request, event.withinMs, time.now());
      // Whoever answers may take his time.
      session.asked(time.now() + event.withinMs);
      return parts.changed();
    case "linked":
      return linked(event.identity, parts);
    case "open": {
      const who = event.identity;
      if (life().phase === "connecting" && isSameNumber(who.number, device.number)) parts.online(who);
      return send({ type: "opened", own: device.number, who });
    }
    case "closed":
      return parts.closed(event.closed);
    case "waiting":
      return parts.waiting(event.count);
    case "newChats":
      device.newChats = event.quota;
      return parts.changed();
    default:
      return deps.tell(event);
  }
}

function linked(who: LinkedIdentity, { deps: { device, log, store }, send }: EventsDeps): void {
  if (isSameNumber(who.number, device.number)) log.info({ device: device.id }, "number linked");
  else
    log.warn(
      { device: device.id, scanned: who.number },
      "another number scanned the QR code; logging it out",
    );
  send({ type: "accepted", own: device.number, who, at: store.time.now() });
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
