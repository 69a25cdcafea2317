import { authorize } from "../../accounts/authorize.ts";
import type { FoundMessage } from "../../conversations/lookup.ts";
import type { Destination } from "../../model/address.ts";
import type { MannerInput } from "../../model/content/manner.ts";
import { isAction, type ContentDraft, type Draft } from "../../model/content/drafts.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { Incoming } from "../../model/messages.ts";
import { JsonResult } from "../answers/envelope.ts";
import type { App } from "../services.ts";
import { findAnyMessage, recordOf, type ActionCall } from "./message-actions.ts";
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
 * Hands a message on to others, marked as forwarded. A file that came is not stored at WhatsApp again.
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
  const content = await handedOn(app, target);
  if (content === null || target.revoked)
    throw new GatewayError("NOT_EDITABLE", "This message cannot be forwarded.");
  const data = await recordOf(app, caller, target);
  const draft: Draft = { ...content, forwarded: ONCE };
  const result = await send({ ...asked, input: { ...input, sender: target.sender } }, draft);
  return new JsonResult({ ...result.fields, data }, result.options);
}

/** Null: nothing that can be handed on. */
async function handedOn(app: App, { deviceId, id, content }: FoundMessage): Promise<ContentDraft | null> {
  if (content !== null) return ofIncoming(content);
  const sent = await app.outbox.sentContent(deviceId, id);
  if (sent === null || isAction(sent) || sent.viewOnce) return null;
  return bare(sent);
}

/** Without what it quoted, whom it mentioned, and how it was sent. */
function bare(draft: ContentDraft): ContentDraft {
  switch (draft.kind) {
    case "text":
      return { kind: "text", text: draft.text };
    case "poll": {
      const { kind, name, options, selectable } = draft;
      return { kind, name, options, selectable };
    }
    case "location": {
      const { kind, latitude, longitude, name, address } = draft;
      return { kind, latitude, longitude, ...(name && { name }), ...(address && { address }) };
    }
    case "contact":
      return { kind: "contact", contacts: draft.contacts };
    default: {
      const { caption, fileName } = draft;
      const words = { ...(caption && { caption }), ...(fileName && { fileName }) };
      if (draft.kind === "forward") return { kind: "forward", of: draft.of, raw: draft.raw, ...words };
      return { kind: draft.kind, file: draft.file, ...words };
    }
  }
}

function ofIncoming({ type, text, location, contacts, poll, media, raw }: Incoming): ContentDraft | null {
  if (media) {
    const { kind: of, fileName } = media;
    return { kind: "forward", of, raw, ...(text && { caption: text }), ...(fileName && { fileName }) };
  }
  if (type === "text") return { kind: "text", text };
  if (type === "location" && location !== null) {
    const { name, address, ...place } = location;
    return { kind: "location", ...place, ...(name && { name }), ...(address && { address }) };
  }
  if (type === "contact" && contacts !== null) return { kind: "contact", contacts };
  if (type !== "poll" || poll?.name == null) return null;
  // How many may be chosen is not kept of polls that came.
  return { kind: "poll", name: poll.name, options: poll.options, selectable: 0 };
}
