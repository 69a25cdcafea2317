import type { FoundMessage } from "../../conversations/lookup.ts";
import { editedAs } from "../../model/content/edited.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { ENDED_STATES, type SentState } from "../../model/messages.ts";
import { HOUR_MS, MINUTE_MS, systemTime } from "../../model/time.ts";
import { JsonResult } from "../answers/envelope.ts";
import type { App } from "../services.ts";
import { findAnyMessage, recordOf, sendAction, targetOf, type ActionCall } from "./message-actions.ts";

/** For so long WhatsApp's own apps let a message be changed. */
const EDITABLE_MS = 15 * MINUTE_MS;
const REVOCABLE_MS = 48 * HOUR_MS;
/** What people see as a message. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  "reaction",
  "edit",
  "revoke",
  "poll_vote",
  "call",
  "unknown",
]);

/**
 * Gives a message another text. One that waits is changed where it is; an edit of any other is a message of its own, which leaves
 * behind it.
 *
 * @throws NOT_EDITABLE, TOO_LATE, and what `findAnyMessage` and `send` throw
 */
export async function edit(call: ActionCall<{ message: string }>): Promise<JsonResult> {
  const { app, caller, input, params } = call;
  const target = await findAnyMessage(app, caller, input.sender, params["id"]);
  const { deviceId, id, by } = target;
  const of = editedAs(target.type);
  if (by === "contact") throw notEditable("Only the number's own messages can be edited.");
  if (of === null || isPost(target)) throw notEditable("Only texts and captions can be edited.");
  if (target.revoked) throw notEditable("The message was taken back.");
  if (by === "gateway" && (await app.outbox.rewrite(deviceId, id, input.message)))
    return unsent(target, { ...(await recordOf(app, caller, target)), edited: true });
  const data = await recordOf(app, caller, target);
  if (isEnded(data.state)) throw notEditable("The message was never sent.");
  requireYoung(target, EDITABLE_MS, "Messages can be edited for 15 minutes.");
  const draft = {
    kind: "edit" as const,
    text: input.message,
    of,
    target: targetOf(target),
    at: systemTime.now(),
  };
  return sendAction(call, target, { draft, data: { ...data, edited: true } });
}

/**
 * Takes a message back for everyone. One that waits never leaves; what is on phones is taken away there, behind whatever was sent
 * before. What is gone already stays so.
 *
 * @throws TOO_LATE, CANNOT_SEND, NOT_EDITABLE for what is no message, and what `findAnyMessage` and `send` throw
 */
export async function takeBack(call: ActionCall): Promise<JsonResult> {
  const { app, caller, input, params } = call;
  const target = await findAnyMessage(app, caller, input.sender, params["id"]);
  if (NOT_SHOWN.has(target.type) || isPost(target)) throw notEditable("This cannot be taken back.");
  if (!target.revoked && target.by === "gateway") await app.outbox.cancel(target.deviceId, target.id);
  const data = await recordOf(app, caller, target);
  if (target.revoked || isEnded(data.state)) return unsent(target, data);
  await requireOwnOrAdmin(app, target);
  requireYoung(target, REVOCABLE_MS, "Messages can be deleted for everyone for 48 hours.");
  const draft = { kind: "revoke" as const, target: targetOf(target), at: systemTime.now() };
  return sendAction(call, target, { draft, data: { ...data, revoked: true } });
}

/** Posts of channels are changed by other means, which the gateway does not have. */
const isPost = ({ jid }: FoundMessage): boolean => jid.endsWith("@newsletter");

const isEnded = (state: SentState | null): boolean =>
  state !== null && (ENDED_STATES as readonly SentState[]).includes(state);

/** Nothing had to be sent for it. */
function unsent({ id }: FoundMessage, data: Awaited<ReturnType<typeof recordOf>>): JsonResult {
  const state = stateOf(data.state);
  const result = { number: data.number, status: true, state, id };
  return new JsonResult({ results: [result], id, state, data });
}

/** As the results of sends call it. */
function stateOf(state: SentState | null): "sent" | "queued" | "scheduled" | "cancelled" | "failed" {
  if (state === "queued" || state === "scheduled" || state === "cancelled") return state;
  return state === "failed" || state === "expired" ? "failed" : "sent";
}

/** @throws CANNOT_SEND for what somebody else wrote, unless the number is an admin of the group */
async function requireOwnOrAdmin(app: App, { by, jid, deviceId }: FoundMessage): Promise<void> {
  if (by !== "contact") return;
  const isOfGroup = jid.endsWith("@g.us");
  if (isOfGroup) {
    const { groups } = await app.groups.list(deviceId, { refresh: false });
    if (groups.some(({ id, isAdmin }) => id === jid && isAdmin)) return;
  }
  throw new GatewayError("CANNOT_SEND", "The number did not write this message.", {
    extra: { reason: isOfGroup ? "only_admins" : "not_own" },
  });
}

/** @throws TOO_LATE */
function requireYoung({ at }: FoundMessage, ageMs: number, rule: string): void {
  if (at !== null && systemTime.now() - at > ageMs) throw new GatewayError("TOO_LATE", rule);
}

const notEditable = (why: string): GatewayError => new GatewayError("NOT_EDITABLE", why);
