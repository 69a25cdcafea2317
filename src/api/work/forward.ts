import { authorize } from "../../accounts/authorize.ts";
import type { Destination } from "../../model/address.ts";
import type { MannerInput } from "../../model/content/manner.ts";
import type { Draft } from "../../model/content/drafts.ts";
import { handedOn } from "../../model/content/handed-on.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { JsonResult } from "../answers/envelope.ts";
import { findAnyMessage, recordOf, withRecord, type ActionCall } from "./message-actions.ts";
import { send } from "./send.ts";

/** How phones count what is handed on for the first time. */
const ONCE = 1;
/** What is sent needs the permission of its kind. */
const PERMISSIONS: Record<string, string> = {
  text: "messages",
  location: "messages",
  contact: "messages",
  poll: "polls",
};

/**
 * Hands a message on to others, marked as forwarded. A file is uploaded again only when WhatsApp no longer has it.
 *
 * @throws PERMISSION_DENIED without the permission for what it is; NOT_EDITABLE for what cannot be handed on; and what
 *   `findAnyMessage` and `send` throw
 */
export async function forward(
  call: ActionCall<{ number: Destination[] } & Omit<MannerInput, "view_once">>,
): Promise<JsonResult> {
  const { params, input, ...asked } = call;
  const { app, caller } = call;
  const target = await findAnyMessage(app, caller, input.sender, params["id"]);
  authorize(caller, PERMISSIONS[target.type] ?? "media");
  const { deviceId, id } = target;
  const content = handedOn(target.content, await app.outbox.sentContent(deviceId, id));
  if (content === null || target.revoked)
    throw new GatewayError("NOT_EDITABLE", "This message cannot be forwarded.");
  const data = await recordOf(app, caller, target);
  const draft: Draft = { ...content, forwarded: ONCE };
  const result = await send({ ...asked, input: { ...input, sender: target.sender } }, draft);
  return withRecord(result, data);
}
