import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import type { z } from "zod";
import { operatorIn } from "../../accounts/operator-caller.ts";
import type { SessionRecord } from "../../accounts/session-rows.ts";
import type { Opening, Session } from "../../accounts/sessions.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { invalidKey, invalidToken, requireEnabled } from "./authenticate.ts";
import { requireOwnOrigin } from "./csrf.ts";
import { JsonResult } from "../answers/envelope.ts";
import type { newSession } from "../schemas/sessions.ts";
import type { App } from "../services.ts";
import { sessionCookie, sessionToken } from "./session-cookie.ts";
import { requireAccount } from "./operator.ts";
import { iso } from "../views/views.ts";
import { callerAddress } from "./wrong-keys.ts";

type Account = { id: string; name: string } | null;

/**
 * Signs somebody in. The token is a new one each time, whatever cookie the browser had; the session of that one ends.
 *
 * @throws INVALID_PARAMETERS unless it is one of the three; INVALID_API_KEY, INVALID_ADMIN_TOKEN, LINK_EXPIRED; RATE_LIMITED
 *   after too many wrong ones from one address; ACCOUNT_DISABLED; CSRF_TOKEN_INVALID when another site asks
 */
export async function signIn(
  app: App,
  event: H3Event,
  input: z.output<typeof newSession>,
): Promise<JsonResult> {
  requireOwnOrigin(app, event);
  const [what, given] = whatIsGiven(input);
  const request = event.runtime?.node?.req as IncomingMessage | undefined;
  const address = callerAddress(request, app.config.trustProxy);
  // Each is a commit, also by a right key.
  await event.context.rateLimit.take(`sign-in:${address}`);
  const opened = await app.sessions.open({
    with: given,
    address,
    userAgent: event.req.headers.get("user-agent") ?? "",
  });
  if (opened === null) {
    await event.context.wrongKeys.count(event);
    throw REFUSALS[what]();
  }
  const { session, token } = opened;
  if (session.caller !== null && !session.caller.account.enabled) {
    await app.sessions.end(session.credential, session.id);
    requireEnabled(session.caller);
  }
  event.context.signedIn = {
    caller: session.caller,
    session,
    countedAs: null,
    credential: () => session.credential,
  };
  await endFormer(app, event);
  return new JsonResult(sessionAnswer(app, session), {
    headers: { "set-cookie": sessionCookie(app, token) },
  });
}

const REFUSALS = {
  key: invalidKey,
  token: invalidToken,
  link: () => new GatewayError("LINK_EXPIRED", "This link has expired or was withdrawn. Ask for a new one."),
};

function whatIsGiven(input: z.output<typeof newSession>): [keyof typeof REFUSALS, Opening["with"]] {
  const { key: apiKey, token: adminToken, link } = input;
  const given = Object.values(input).filter((value) => value !== undefined);
  if (given.length === 1 && apiKey !== undefined) return ["key", { apiKey }];
  if (given.length === 1 && adminToken !== undefined) return ["token", { adminToken }];
  if (given.length === 1 && link !== undefined) return ["link", { link }];
  const problem = "Give exactly one of key, token and link.";
  throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { key: [problem] } });
}

/** One browser has one session: of the other one nobody would ever sign out. */
async function endFormer(app: App, event: H3Event): Promise<void> {
  const token = sessionToken(app, event);
  const former = token === null ? null : await app.sessions.authenticate(token, false);
  if (former !== null) await app.sessions.end(former.credential, former.id);
}

/** A session for whoever is signed in by it. A link's is for one number, of which its owner scans the code. */
const sessionView = ({ config }: Pick<App, "config">, session: Session) => ({
  id: session.id,
  kind: session.kind,
  account: accountOf(session.caller?.account ?? null),
  permissions: session.kind === "operator" ? ["*"] : session.caller!.permissions,
  devices: session.caller?.devices ?? null,
  recipients: session.caller?.recipients ?? null,
  csrf: session.csrfToken,
  ...(config.playgroundUrl !== null && session.kind !== "link" && { playground: config.playgroundUrl }),
  ...timesOf(session),
});

/** The same as an answer, in which the parts that every page needs stand at the top as well. */
export function sessionAnswer(app: Pick<App, "config">, session: Session) {
  const data = sessionView(app, session);
  const { csrf, expires_at, permissions, account } = data;
  return { data, csrf, expires_at, permissions, account };
}

/**
 * A session in a list.
 *
 * @param account of its `accountId`
 * @param current id of the one that asks; null: none does
 */
export const listedSessionView = (session: SessionRecord, account: Account, current: string | null) => ({
  id: session.id,
  kind: session.kind,
  account: accountOf(account),
  ...timesOf(session),
  last_used_at: iso(session.lastUsedAt),
  address: session.address,
  user_agent: session.userAgent,
  current: session.id === current,
});

const accountOf = (account: Account): Account => account && { id: account.id, name: account.name };
const timesOf = ({ createdAt, idleEndsAt, endsAt }: SessionRecord) => ({
  created_at: iso(createdAt),
  idle_ends_at: iso(idleEndsAt),
  expires_at: iso(endsAt),
});

/**
 * From now on endpoints of keys are those of this account, for this session of the operator.
 *
 * @param accountId null: of none
 * @throws PERMISSION_DENIED when it is no operator's; NOT_FOUND
 */
export async function chooseAccountOf(
  app: App,
  session: Session,
  accountId: string | null,
): Promise<Session> {
  if (session.kind !== "operator")
    throw new GatewayError("PERMISSION_DENIED", "Only the operator chooses an account.", {
      extra: { permission: "*" },
    });
  const account = accountId === null ? null : await requireAccount(app, accountId);
  await app.sessions.choose(session.id, accountId);
  return { ...session, accountId, caller: account && operatorIn(account) };
}
