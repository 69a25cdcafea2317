import type { Caller } from "../../accounts/caller.ts";
import type { Session } from "../../accounts/sessions.ts";
import type { SendShare } from "../../accounts/quotas.ts";
import type { Destination } from "../../model/address.ts";
import { withSentence } from "../../model/errors/error-sentences.ts";
import { ERROR_STATUS, GatewayError } from "../../model/errors/errors.ts";
import { canBeViewedOnce, mannerOf, type MannerInput } from "../../model/content/manner.ts";
import type { Draft } from "../../model/content/drafts.ts";
import { systemTime } from "../../model/time.ts";
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
  quote?: string | undefined;
  /** The same as `quote`. */
  msgid?: string | undefined;
}

/** A checked request for a send, as routes get it. */
export interface SendCall {
  app: App;
  caller: Caller;
  session: Session | null;
  input: SendInput & MannerInput;
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
  const manner = mannerOf(input, systemTime.now());
  if (typeof content !== "function") requireOnce(manner.viewOnce, content.kind);
  const quoteId = quotedBy(input);
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  await requireRecipients(app, caller, device, input.number);
  const share = await app.accounts.takeSends(caller.accountId, input.number.length);
  const results = await taking(share, input.number.length, () =>
    app.outbox.submit({
      deviceId: device.id,
      destinations: input.number,
      draft:
        typeof content === "function"
          ? async () => ({ ...(await content(device)), ...manner })
          : { ...content, ...manner },
      via: session === null ? `api:${caller.keyName ?? ""}` : "console",
      ...(quoteId !== "" && { quoteId }),
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

/** @returns "" for none */
function quotedBy({ quote = "", msgid = "" }: SendInput): string {
  if (quote !== "" && msgid !== "" && quote !== msgid)
    throw wrongField("quote", "Must be the same as msgid, or stand alone.");
  return quote === "" ? msgid : quote;
}

/** @throws INVALID_PARAMETERS for what is to be viewed once and cannot be */
export function requireOnce(viewOnce: boolean | undefined, kind: Draft["kind"]): void {
  if (viewOnce && !canBeViewedOnce(kind))
    throw wrongField("view_once", "Is for images, videos and voice notes.");
}

const wrongField = (field: string, problem: string): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { [field]: [problem] } });

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
export async function requireRecipients(
  app: App,
  caller: Caller,
  device: Pick<DeviceRecord, "id">,
  destinations: Destination[],
): Promise<void> {
  for (const { number } of destinations)
    if (!(await mayReach(app, caller, device.id, number)))
      throw new GatewayError("RECIPIENT_NOT_ALLOWED", `This API key may not write to ${number}.`);
}

/** States of messages that have not left and did not fail; the first that there is names the answer. */
const WAITING = ["queued", "scheduled", "cancelled"] as const;

/** Any sent: 200; else any that waits: 202; none: the first result's own error. */
export function outcomesResult(results: SendResult[], headers: Record<string, string> = {}): JsonResult {
  const told = results.map(({ number, state, id, error, quoted }) => ({
    number,
    status: state !== "failed" && state !== "cancelled",
    state,
    id,
    ...(quoted === undefined ? {} : { quoted }),
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
  const waiting = WAITING.find((one) => results.some(({ state }) => state === one));
  if (waiting !== undefined)
    return new JsonResult(fields, { headers, httpStatus: 202, message: `Message ${waiting}!` });
  const errors = first?.error ?? withSentence({ code: "INTERNAL_ERROR" });
  return new JsonResult(
    { ...fields, errors },
    { headers, httpStatus: ERROR_STATUS[errors.code], status: false, message: "Failed to send message!" },
  );
}
