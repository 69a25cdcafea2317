import type { Config } from "../config.ts";
import { HOUR_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { adminTokenHash, isAdminToken } from "./admin-token.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import type { Links } from "./links.ts";
import { operatorIn } from "./operator-caller.ts";
import type { OperatorLink } from "./operator-link.ts";
import type { SessionRow } from "./session-rows.ts";

/** What somebody signs in with, exactly one of the three. */
export type Credential = { apiKey: string } | { adminToken: string } | { link: string };

/** What the credentials of sessions are looked up in. */
export interface CredentialsDeps {
  store: Pick<Store, "box" | "adminToken" | "now">;
  config: Pick<Config, "sessionHours">;
  keys: Pick<ApiKeys, "authenticate" | "withHash" | "hashOf">;
  links: Pick<Links, "open" | "callerOf">;
  operatorLink: Pick<OperatorLink, "spend">;
  accounts: { get(id: string): Promise<Caller["account"] | null> };
}

/** Whom a credential lets in, and until when. */
export interface LetIn extends Pick<SessionRow, "kind" | "credential" | "endsAt"> {
  caller: Caller | null;
}

/** Looks up what somebody signs in with; null when it is wrong. A one-time link is spent by it. */
export async function letIn(deps: CredentialsDeps, given: Credential): Promise<LetIn | null> {
  const { store, config, keys, links, operatorLink } = deps;
  const endsAt = store.now() + config.sessionHours * HOUR_MS;
  const operator: LetIn = { kind: "operator", credential: adminTokenHash(store), endsAt, caller: null };
  if ("adminToken" in given) return isAdminToken(store, given.adminToken) ? operator : null;
  if ("link" in given) {
    if (operatorLink.spend(given.link)) return operator;
    const link = await links.open(given.link);
    return link && { kind: "link", credential: link.hash, endsAt: link.expiresAt, caller: link.caller };
  }
  const caller = await keys.authenticate(given.apiKey);
  return caller && { kind: "key", credential: keys.hashOf(given.apiKey), endsAt, caller };
}

/** Whose rights a session has at this moment. Undefined: what it was opened with is none any more. */
export async function callerOf(
  { store, keys, links, accounts }: CredentialsDeps,
  { kind, credential, accountId }: SessionRow,
): Promise<Caller | null | undefined> {
  if (kind === "key") return (await keys.withHash(credential)) ?? undefined;
  if (kind === "link") return (await links.callerOf(credential)) ?? undefined;
  if (credential !== adminTokenHash(store)) return undefined;
  const account = accountId === null ? null : await accounts.get(accountId);
  return account && operatorIn(account);
}
