import type { Caller } from "../../accounts/caller.ts";
import type { FoundMessage } from "../../conversations/lookup.ts";
import { shownAddress } from "../../conversations/shown.ts";
import { parseDestination } from "../../model/address.ts";
import type { ActionDraft, MessageTarget } from "../../model/content/drafts.ts";
import { systemTime } from "../../model/time.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { mayReach } from "../access/recipients.ts";
import { listedDevices } from "../access/senders.ts";
import { JsonResult } from "../answers/envelope.ts";
import { notFound } from "../answers/unmatched.ts";
import type { App } from "../services.ts";
import { anyMessageView } from "../views/views.ts";
import { send, type SendCall } from "./send.ts";

/**
 * A message that somebody wrote or received, whoever it was.
 *
 * @param sender digits of the number; needed where several have a message of this id
 * @throws SENDER_NOT_FOUND; INVALID_PARAMETERS when `sender` has to choose; NOT_FOUND when there is none, or it is in a chat
 *   outside the key's `recipients`
 */
export async function findAnyMessage(
  app: App,
  caller: Caller,
  sender: string | undefined,
  id: string | undefined,
): Promise<FoundMessage> {
  const devices = listedDevices(app, caller, sender);
  const all = id === undefined ? [] : await app.conversations.lookUp(devices, id);
  const reached: FoundMessage[] = [];
  for (const message of all)
    if (await mayReach(app, caller, message.deviceId, shownAddress(message.chat))) reached.push(message);
  if (reached.length === 0) throw notFound();
  if (reached.length > 1)
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
      fields: { sender: ["Several numbers of the account have a message of this id: name one of them."] },
    });
  return reached[0]!;
}

/** A checked request for what is done to a message. */
export type ActionCall<Input = object> = Omit<SendCall, "input"> & {
  input: Input & { sender?: string | undefined };
  params: Record<string, string>;
};

/** Reacts to a message, or takes the reaction back. The answer is that of a send, with the message's record. */
export async function react(call: ActionCall<{ emoji: string }>): Promise<JsonResult> {
  const { app, caller, input, params } = call;
  const target = await findAnyMessage(app, caller, input.sender, params["id"]);
  const about = { target: targetOf(target), at: systemTime.now() };
  // Before it is sent: a send whose answer is lost would be sent again.
  const data = await recordOf(app, caller, target);
  return sendAction(call, target, { draft: { kind: "reaction", emoji: input.emoji, ...about }, data });
}

/** The message as what is done to it names it. */
export const targetOf = ({ id, jid, by, participant }: FoundMessage): MessageTarget => ({
  id,
  chat: jid,
  fromMe: by !== "contact",
  participant,
});

/**
 * Sends what is done to a message, into the chat where it is, by the address that it has there.
 *
 * @param done.data what the answer says of the message
 */
export async function sendAction(
  { params: _params, ...call }: ActionCall,
  { sender, chat, jid }: FoundMessage,
  { draft, data }: { draft: ActionDraft; data: object },
): Promise<JsonResult> {
  const number = { ...parseDestination(shownAddress(chat))!, jid };
  const result = await send({ ...call, input: { sender, number: [number] } }, draft);
  return withRecord(result, data);
}

/** The answer of a send, with the record of the message that it is about. A failure answers as that of any send. */
export const withRecord = ({ fields, options }: JsonResult, data: object): JsonResult =>
  new JsonResult(options.status === false ? fields : { ...fields, data }, options);

/** Of what the gateway sent: with all its states. */
export async function recordOf(app: App, caller: Caller, message: FoundMessage) {
  const sent = message.by === "gateway" ? await app.outbox.find(caller.accountId, message.id) : null;
  return anyMessageView(message, sent);
}
