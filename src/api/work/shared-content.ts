import { contactDraft, locationDraft } from "../../model/content/shared.ts";
import type { JsonResult } from "../answers/envelope.ts";
import { send, type SendCall } from "./send.ts";

/** Sends a checked place. */
export const sendPlace = (
  call: SendCall & { input: Parameters<typeof locationDraft>[0] },
): Promise<JsonResult> => send(call, locationDraft(call.input));

/** Sends checked cards. */
export const sendCards = (
  call: SendCall & { input: Parameters<typeof contactDraft>[0] },
): Promise<JsonResult> => send(call, contactDraft(call.input));
