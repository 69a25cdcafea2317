import type { Endpoint } from "../endpoint.ts";
import * as accounts from "./operator/accounts.ts";
import * as alerts from "./operator/alerts.ts";
import * as audit from "./audit.ts";
import * as auditLog from "./operator/audit-log.ts";
import * as backup from "./operator/backup.ts";
import * as bots from "./bots.ts";
import * as conversations from "./conversations.ts";
import * as decisions from "./decisions.ts";
import * as contactData from "./operator/contact-data.ts";
import * as channels from "./channels.ts";
import * as contacts from "./contacts.ts";
import * as documentation from "./documentation.ts";
import * as events from "./events.ts";
import * as groupsAdmin from "./groups-admin.ts";
import * as health from "./health.ts";
import * as links from "./links.ts";
import * as mcp from "./mcp.ts";
import * as listeners from "./listeners.ts";
import * as media from "./media.ts";
import * as messages from "./messages.ts";
import * as metrics from "./operator/metrics.ts";
import * as nodes from "./operator/nodes.ts";
import * as numbers from "./numbers.ts";
import * as gatewayHealth from "./operator/gateway-health.ts";
import * as profiles from "./profiles.ts";
import * as polls from "./polls.ts";
import * as sharedContent from "./shared-content.ts";
import * as sessions from "./sessions.ts";
import * as sendMedia from "./send-media.ts";
import * as stats from "./stats.ts";
import * as uploads from "./uploads.ts";
import * as webhooks from "./webhooks.ts";

const NAMED = [
  messages,
  conversations,
  sendMedia,
  uploads,
  polls,
  sharedContent,
  contacts,
  groupsAdmin,
  channels,
  numbers,
  profiles,
  audit,
  webhooks,
  listeners,
  bots,
  decisions,
  events,
  mcp,
  accounts,
  contactData,
  sessions,
  links,
  auditLog,
  backup,
  alerts,
  nodes,
  gatewayHealth,
  stats,
  media,
  health,
  metrics,
  documentation,
].flatMap((group) => Object.entries(group) as [string, Endpoint][]);

/** Every endpoint that exists, in the order in which the documentation shows them. */
export const endpoints: Endpoint[] = NAMED.map(([, endpoint]) => endpoint);

const NAMES = new Map(NAMED.map(([name, endpoint]) => [endpoint, name]));

/** What an endpoint is called here, and in clients that are generated. */
export const nameOf = (endpoint: Endpoint): string => NAMES.get(endpoint)!;
