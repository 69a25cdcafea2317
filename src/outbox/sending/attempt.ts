import type { Logger } from "../../log.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import type { OutgoingMessage, SendOutcome, WhatsAppConnection } from "../../whatsapp/port.ts";
import type { QueuedMessage } from "./chats.ts";

/** What a finished attempt means for the message. */
export type NextStep = "done" | "again" | "later";

/** What an attempt takes. */
export interface AttemptDeps {
  log: Logger;
  /** The message as it goes over the wire; null when there is nothing to send any more. */
  compose: (message: QueuedMessage) => Promise<OutgoingMessage | null>;
  /** Writes down what came of an attempt. Never throws. */
  handleOutcome: (message: QueuedMessage, outcome: SendOutcome) => Promise<NextStep>;
}

/** Sends a message once. Never rejects. */
export async function tryOnce(
  { log, compose, handleOutcome }: AttemptDeps,
  message: QueuedMessage,
  connection: WhatsAppConnection,
): Promise<NextStep> {
  try {
    const outgoing = await compose(message);
    if (outgoing === null) return "done";
    return await handleOutcome(message, await connection.send(outgoing));
  } catch (err) {
    // The database could not be read, or a connection broke its word. The message stays; so does its id.
    const { deviceId: device, waId } = message;
    log.error({ err, device, message: waId }, "an attempt to send failed with an error");
    const reason = err instanceof Error ? err.name : "unknown";
    const blame = err instanceof StorageUnavailable ? ("line" as const) : ("gateway" as const);
    return handleOutcome(message, { kind: "unknown", reason, blame });
  }
}
