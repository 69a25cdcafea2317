import type { Caller } from "../../accounts/caller.ts";
import type { Session } from "../../accounts/sessions.ts";
import type { SendShare } from "../../accounts/quotas.ts";
import type { Destination } from "../../model/address.ts";
import { withSentence } from "../../model/errors/error-sentences.ts";
import { ERROR_STATUS, GatewayError } from "../../model/errors/errors.ts";
import type { Draft } from "../../model/messages.ts";
import type { DeviceRecord } from "../../numbers/numbers.ts";
import type { Claim } from "../../outbox/submitting/idempotency.ts";
import type { SendResult } from "../../outbox/submitting/submit.ts";
import { JsonResult } from "../answers/envelope.ts";
import { mayReach } from "../access/recipients.ts";
import { findSender, requireLinked } from "../access/senders.ts";
import type { App } from "../services.ts";

/** What every send names, whatever it sends. */
export interface SendInput {
  sender: string;
  number: Destination[];
  msgid?: string | undefined;
}

/** A checked request for a send, as routes get it. */
export interface SendCall {
  app: App;
  caller: Caller;
  session: Session | null;
  input: SendInput;
  claim: Claim | null;
}

/**
 * The last checks of a send, then the send itself: sender → recipients → plan → outbox.
 *
 * @param content what is sent; a function is asked once nothing but its own failure can refuse the send any more
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, RECIPIENT_NOT_ALLOWED, QUOTA_EXCEEDED, and what `content` throws:
 *   nothing was stored
 */
export async function send(
  { app, caller, session, input, claim }: SendCall,
  content: Draft | ((device: DeviceRecord) => Promise<Draft>),
): Promise<JsonResult> {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  await requireRecipients(app, caller, device, input.number);
  const share = await app.accounts.takeSends(caller.accountId, input.number.length);
  const results = await taking(share, input.number.length, () =>
    app.outbox.submit({
      deviceId: device.id,
      destinations: input.number,
      draft: typeof content === "function" ? () => content(device) : content,
      via: session === null ? `api:${caller.keyName ?? ""}` : "console",
      quoteId: input.msgid,
      beside: (planned) => [
        ...(share?.storing(planned.filter(isStored).length) ?? []),
        ...(claim?.statements(planned) ?? []),
      ],
      undo: () => [...(share?.takingBack() ?? []), ...(claim?.undo() ?? [])],
    }),
  );
  share?.giveBack(input.number.length - results.filter(isStored).length);
  return outcomesResult(results, await quotaHeaders(share));
}

/** Sends text; see {@link send}. */
export const sendText = (call: SendCall & { input: { message: string } }): Promise<JsonResult> =>
  send(call, { kind: "text", text: call.input.message });

/** Where nothing is stored, nothing is taken out of the plan. */
async function taking<T>(share: SendShare | null, count: number, submit: () => Promise<T>): Promise<T> {
  try {
    return await submit();
  } catch (error) {
    if (share === null) throw error;
    share.giveBack(count);
    throw await share.explain(error);
  }
}

const isStored = ({ id }: { id: string | null }): boolean => id !== null;

/** The messages are stored: what cannot be counted now is not told. */
async function quotaHeaders(share: SendShare | null): Promise<Record<string, string>> {
  const left = share === null || share.limit === null ? null : await asking(share).catch(() => null);
  return left === null ? {} : { "x-quota-limit": String(share!.limit), "x-quota-remaining": String(left) };
}

const asking = async (share: SendShare): Promise<number> => share.remaining();

/** One destination that the key may not write to refuses the whole request. */
async function requireRecipients(
  app: App,
  caller: Caller,
  device: DeviceRecord,
  destinations: Destination[],
): Promise<void> {
  for (const { number } of destinations)
    if (!(await mayReach(app, caller, device.id, number)))
      throw new GatewayError("RECIPIENT_NOT_ALLOWED", `This API key may not write to ${number}.`);
}

/** Any sent: 200; else any queued: 202; none: the first result's own error. */
export function outcomesResult(results: SendResult[], headers: Record<string, string> = {}): JsonResult {
  const told = results.map(({ number, state, id, error }) => ({
    number,
    status: state !== "failed",
    state,
    id,
    ...(error ? { error: withSentence(error) } : {}),
  }));
  const [first] = told;
  const fields = {
    results: told,
    ...(results.length === 1 ? { id: first!.id, state: first!.state } : {}),
    ...(results.length === 1 && first!.error ? { errors: first!.error } : {}),
  };
  const sent = results.filter(({ state }) => state === "sent").length;
  if (sent === results.length) return new JsonResult(fields, { headers });
  if (sent > 0)
    return new JsonResult(fields, { headers, message: `${sent} of ${results.length} messages sent` });
  if (results.some(({ state }) => state === "queued"))
    return new JsonResult(fields, { headers, httpStatus: 202, message: "Message queued!" });
  const errors = first?.error ?? withSentence({ code: "INTERNAL_ERROR" });
  return new JsonResult(
    { ...fields, errors },
    { headers, httpStatus: ERROR_STATUS[errors.code], status: false, message: "Failed to send message!" },
  );
}
