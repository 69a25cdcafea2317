import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import type { Actor, AuditEntry } from "../../accounts/audit-log.ts";
import { mayGrant, requireMayGrant } from "../../accounts/authorize.ts";
import type { Caller, Grants } from "../../accounts/caller.ts";
import type { Asker } from "../access/authenticate.ts";
import type { Endpoint } from "../endpoint.ts";
import { nameOf } from "../endpoints/index.ts";
import { JsonResult, RawResult, type Result } from "../answers/envelope.ts";
import { loggedFields } from "./logged-fields.ts";
import { requestId } from "../answers/respond.ts";
import { iso } from "../views/views.ts";
import { callerAddress } from "../access/wrong-keys.ts";

/** Whether what an endpoint does is a change: everything is, but for reading, sends, and what says why it is none. */
export const isLogged = ({ method, sends, changesNothing }: Endpoint): boolean =>
  method !== "GET" && sends !== true && changesNothing === undefined;

/** Whether this request has changed anything, for all that its endpoint says. */
export const isChange = (event: H3Event, endpoint: Endpoint): boolean =>
  isLogged(endpoint) || event.context.hasChanged === true;

/** A request that was done. */
interface Done {
  event: H3Event;
  endpoint: Endpoint;
  asker: Asker;
  params: Record<string, string>;
  /** Fields as they came, and what they mean. */
  given: Record<string, unknown>;
  input: Record<string, unknown>;
  result: Result | undefined;
}

/**
 * Writes into the log what a request has changed, before it is answered: whoever was told that it is done finds it there. It is
 * done whether it can be written or not.
 */
export async function logChange(done: Done): Promise<void> {
  const { event, endpoint } = done;
  if (!isChange(event, endpoint)) return;
  const { app } = event.context;
  const { params, given, input } = done;
  const asker = event.context.signedIn ?? done.asker;
  const fields = fieldsOf(done.result);
  const ofAccount = endpoint.path.startsWith("/admin/accounts/") ? params["id"] : undefined;
  try {
    await app.auditLog.write({
      actor: actorOf(asker, endpoint),
      accountId: asker.caller?.accountId ?? ofAccount ?? idOf(fields["account"]),
      action: nameOf(endpoint),
      target: Object.values(params).at(-1) ?? idOf(fields["data"]) ?? idOf(fields["account"]),
      changes: loggedFields(given, input),
      requestId: requestId(event),
      address: callerAddress(event.runtime?.node?.req as IncomingMessage | undefined, app.config.trustProxy),
    });
  } catch (error) {
    app.log.error(
      { err: error, requestId: requestId(event) },
      "a change could not be written to the audit log",
    );
  }
}

function actorOf({ caller, session }: Asker, { access }: Endpoint): Actor {
  const by = caller ?? session?.caller ?? null;
  if (session?.kind === "operator") return { kind: "operator", id: null, name: null };
  if (by !== null) return actorBy(by);
  return { kind: access.by === "everybody" ? "nobody" : "operator", id: null, name: null };
}

const actorBy = ({ keyId, keyName, byLink }: Caller): Actor => ({
  kind: byLink ? "link" : "key",
  id: keyId,
  name: keyName ?? null,
});

const fieldsOf = (result: Result | undefined): Record<string, unknown> => {
  if (result === undefined || result instanceof RawResult) return {};
  return result instanceof JsonResult ? result.fields : result;
};

/** What a record is known by; null for what is none. */
function idOf(record: unknown): string | null {
  const { id = null, device = null } = (record ?? {}) as { id?: unknown; device?: unknown };
  const known = id ?? device;
  return typeof known === "string" ? known : null;
}

/** A change as the log tells it. */
export const auditEntryView = (entry: AuditEntry) => ({
  id: String(entry.id),
  at: iso(entry.at),
  who: entry.actor,
  account: entry.accountId,
  what: entry.action,
  target: entry.target,
  changes: entry.changes,
  request_id: entry.requestId,
  address: entry.address,
});

const EVERYTHING: Grants = { permissions: ["*"], devices: null, recipients: null };

/**
 * The log is of the account as a whole: its lines name numbers and chats.
 *
 * @throws PERMISSION_DENIED for a key of some numbers or recipients
 */
export const requireWholeAccount = (caller: Grants): void =>
  requireMayGrant(caller, { permissions: [], devices: null, recipients: null });

/** The same for a key: what was asked for may be what a stronger one may do, and is told to those who may do everything. */
export const auditEntryViewFor = (caller: Grants) => {
  const isWhole = mayGrant(caller, EVERYTHING);
  return (entry: AuditEntry) => ({ ...auditEntryView(entry), ...(!isWhole && { changes: null }) });
};
