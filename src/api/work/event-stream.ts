import { allows, authorize, mayUseNumber } from "../../accounts/authorize.ts";
import type { Caller, Permission } from "../../accounts/caller.ts";
import type { AccountEvent, EventName, EventReader } from "../../events/event.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { Incoming } from "../../model/messages.ts";
import { systemTime } from "../../model/time.ts";
import type { DeviceRecord } from "../../numbers/numbers.ts";
import type { DeliveryRecord, WebhookRecord } from "../../webhooks/index.ts";
import { happenedView, writerOf, type Happening } from "../../webhooks/events/happening-events.ts";
import { publicAddress, toEvent } from "../../webhooks/events/payload.ts";
import type { SentMessage } from "../../path/sent-message.ts";
import {
  decisionView,
  deliveryView,
  deviceView,
  iso,
  messageView,
  webhookView,
  type ToldDecision,
} from "../views/views.ts";

const HEARTBEAT_MS = 15_000;
const MOST_AT_ONCE = 100;

const PERMISSION_FOR: Record<EventName, Permission> = {
  device: "devices",
  "message.in": "messages",
  "message.out": "messages",
  read: "messages",
  decision: "bots",
  delivery: "webhooks",
  webhook: "webhooks",
  group: "groups",
  presence: "messages",
  contact: "messages",
};

interface EventStreamOptions {
  reader: EventReader;
  /** Who listens, asked anew before anything is written: a key that is deleted hears nothing more. */
  caller(): Promise<Caller | null>;
  /** Whether the caller may read of this chat, address on the wire or destination, of its number (digits). */
  mayReach(caller: Caller, number: string, chat: string): Promise<boolean>;
  /** Ends the stream cleanly. */
  ending: AbortSignal;
  /** Between comments while nothing happens; default 15,000 ms. */
  heartbeatMs?: number;
}

/**
 * The events of an account as Server-Sent Events. Nothing is kept per listener: it takes from the account's last events
 * when the socket has room, and one that falls behind them is cut off, to come back with `Last-Event-ID`.
 */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const { reader, ending, heartbeatMs = HEARTBEAT_MS } = options;
  const closed = new AbortController();
  let reading = false;
  const end = (): void => {
    closed.abort();
    reader.close();
  };
  ending.addEventListener("abort", end, { once: true });

  async function nextText(): Promise<string | null> {
    // oxlint-disable-next-line no-unmodified-loop-condition -- `end` changes it while this waits
    while (!closed.signal.aborted) {
      const events = reader.take(MOST_AT_ONCE);
      const caller = await options.caller();
      if (events === null || caller === null || !caller.account.enabled) return null;
      let text = "";
      for (const event of events) if (await mayHear(options, caller, event)) text += asText(event);
      if (text !== "") return text;
      if (events.length > 0) continue;
      const since = systemTime.monotonic();
      await reader.wait(heartbeatMs);
      if (!closed.signal.aborted && systemTime.monotonic() - since >= heartbeatMs - 1) return ":\n\n";
    }
    return null;
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encode(": connected\n\n"));
        // A socket that takes nothing asks for nothing, and would be held for ever.
        const endWatch = systemTime.every(heartbeatMs, () => {
          if (closed.signal.aborted) endWatch();
          else if (!reading && reader.isBehind()) {
            end();
            controller.error(new Error("The listener is too slow."));
          }
        });
      },
      async pull(controller) {
        reading = true;
        const text = await nextText();
        reading = false;
        if (text !== null) return controller.enqueue(encode(text));
        end();
        ending.removeEventListener("abort", end);
        controller.close();
      },
      cancel() {
        end();
        ending.removeEventListener("abort", end);
      },
    },
    { highWaterMark: 1 },
  );
}

/**
 * Whether there is any event that this caller may hear of.
 *
 * @throws PERMISSION_DENIED with one of the permissions that would do
 */
export function requireHearing(caller: Caller): void {
  const enough = [...new Set(Object.values(PERMISSION_FOR))];
  if (caller.byLink || enough.some((one) => allows(caller, one))) return;
  throw new GatewayError(
    "PERMISSION_DENIED",
    `This API key may not see any events: it needs one of the permissions ${enough.join(", ")}.`,
    { extra: { permission: PERMISSION_FOR["message.in"] } },
  );
}

/** `Last-Event-ID`, which browsers send by themselves; whatever is no id of ours is "from now on". */
export function lastEventId(header: string | null): number | null {
  return header !== null && /^\d{1,15}$|^\d{16}$/.test(header) ? Number(header) : null;
}

async function mayHear(
  { mayReach }: Pick<EventStreamOptions, "mayReach">,
  caller: Caller,
  { name, number, record }: AccountEvent,
): Promise<boolean> {
  if (!mayUseNumber(caller, number)) return false;
  try {
    // Whoever links a number by a link sees how it is.
    if (name === "device" && caller.byLink) return true;
    authorize(caller, PERMISSION_FOR[name]);
    if (name === "message.in") return await mayReach(caller, number, (record as Incoming).chatKey);
    if (name === "read") return await mayReach(caller, number, (record as ReadRecord).chat);
    if (name === "group" || name === "presence" || name === "contact")
      return await mayReach(caller, number, (record as Happening).chat);
    if (name === "message.out") return await mayReach(caller, number, (record as SentMessage).number);
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

/** JSON has no line ends, so one `data:` line is enough. */
function asText(event: AccountEvent): string {
  return `id: ${event.id}\nevent: ${event.name}\ndata: ${JSON.stringify(viewOf(event))}\n\n`;
}

function viewOf({ name, number, record }: AccountEvent): object {
  switch (name) {
    case "device":
      return deviceView(record as DeviceRecord);
    case "message.in":
      return incomingView(record as Incoming, number);
    case "message.out":
      return messageView(record as SentMessage);
    case "read":
      return readView(record as ReadRecord, number);
    case "decision":
      return decisionView(record as ToldDecision);
    case "delivery":
      return deliveryView(record as DeliveryRecord);
    case "webhook":
      return { device: number, ...webhookView(record as WebhookRecord) };
    case "group":
    case "presence":
    case "contact":
      return happeningView(record as Happening, number);
  }
}

/** In the words of the webhook, without what only the webhook carries. */
function incomingView(message: Incoming, number: string): object {
  const { bufferImage: _, handled_by: __, ...event } = toEvent(message, number, null);
  return event;
}

/** What the owner has read elsewhere, as the publisher tells it. */
interface ReadRecord {
  waId: string;
  chat: string;
  at: number;
}

function readView({ waId, chat, at }: ReadRecord, number: string): object {
  return { id: waId, device: number, chat: publicAddress(chat), at: iso(at) };
}

function happeningView(happening: Happening, number: string): object {
  const { chat, at } = happening;
  const [said] = Object.values(happenedView(happening));
  const about = { device: number, chat: publicAddress(chat), from: writerOf(happening), at: iso(at) };
  return happening.type === "group" ? { ...about, ...said, text: happening.text } : { ...about, ...said };
}

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
