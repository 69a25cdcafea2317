import type { Accounts } from "../accounts/accounts.ts";
import type { ApiKeys } from "../accounts/api-keys.ts";
import { createAuditLog, type AuditLog } from "../accounts/audit-log.ts";
import { createLinks, type Links } from "../accounts/links.ts";
import { createMcpSessions, type McpSessions } from "../accounts/mcp-sessions.ts";
import { createOperatorLink, type OperatorLink } from "../accounts/operator-link.ts";
import { createSessions, type Sessions } from "../accounts/sessions.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { Base } from "./data.ts";

interface SignedIn {
  auditLog: AuditLog;
  links: Links;
  operatorLink: OperatorLink;
  sessions: Sessions;
  mcpSessions: McpSessions;
}

/** Who is signed in at a browser, by a key, the operator's token or a link, and what was changed by whom. */
export function openSessions(
  { store, config, cluster }: Base,
  keys: ApiKeys,
  accounts: Accounts,
  numbers: Pick<Numbers, "find">,
): SignedIn {
  const operatorLink = createOperatorLink(store);
  const links = createLinks({
    store,
    keys,
    accounts,
    isNumber: ({ id, accountId, number }) => numbers.find(accountId, number)?.id === id,
  });
  const sessions = createSessions({ store, config, keys, links, operatorLink, accounts, cluster });
  const mcpSessions = createMcpSessions(store);
  return { auditLog: createAuditLog(store), links, operatorLink, sessions, mcpSessions };
}
