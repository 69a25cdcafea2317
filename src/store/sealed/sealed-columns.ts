/** One column that holds what `SecretBox.seal` made, and what its values are bound to. */
export interface SealedColumn {
  table: string;
  column: string;
  /** Columns that `context` is made of. */
  keys: string[];
  /** The context under which the owner of the table seals, from the values of `keys` in their order. */
  context(...keys: (string | number)[]): string;
}

/** The context of a row's value, from what the row has in the columns of `keys`. */
export const contextOf = ({ keys, context }: SealedColumn, row: object): string =>
  context(...keys.map((key) => (row as Record<string, string | number>)[key]!));

const of = (
  table: string,
  column: string,
  keys: string[],
  context: (...values: (string | number)[]) => string,
): SealedColumn => ({ table, column, keys, context });

/**
 * Every sealed column there is: a change of the master key seals all of them anew. The contexts are those of the folders
 * that own the tables. A column that is missing here fails a test; a context that is wrong stops the rotation before
 * anything has changed.
 */
export const SEALED_COLUMNS: SealedColumn[] = [
  of("devices", "proxy", ["id"], (device) => `device-proxy:${device}`),
  of("wa_creds", "value", ["device_id"], (device) => `wa_creds:${device}`),
  of(
    "wa_keys",
    "value",
    ["device_id", "type", "id"],
    (device, type, id) => `wa_keys:${device}:${type}:${id}`,
  ),
  of("journal", "content", ["device_id", "hash"], (device, hash) => `journal:${device}:${hash}`),
  of("inbox", "body", ["device_id", "wa_id"], (device, id) => `inbox:${device}:${id}`),
  of("outbox", "body", ["device_id", "wa_id"], (device, id) => `outbox:${device}:${id}`),
  of("webhooks", "url", ["device_id"], (device) => `webhook-url:${device}`),
  of("webhooks", "headers", ["device_id"], (device) => `webhook-headers:${device}`),
  of("webhooks", "secret", ["device_id"], (device) => `webhook-secret:${device}`),
  of("webhooks", "old_secret", ["device_id"], (device) => `webhook-secret:${device}`),
  of("listeners", "url", ["device_id", "id"], (device, id) => `listener-url:${device}:${id}`),
  of("listeners", "chats", ["device_id", "id"], (device, id) => `listener-chats:${device}:${id}`),
  of("listeners", "headers", ["device_id", "id"], (device, id) => `listener-headers:${device}:${id}`),
  of("listeners", "secret", ["device_id", "id"], (device, id) => `listener-secret:${device}:${id}`),
  of("listeners", "old_secret", ["device_id", "id"], (device, id) => `listener-secret:${device}:${id}`),
  of("deliveries", "url", ["id"], (id) => `delivery-url:${id}`),
  of("deliveries", "body", ["id"], (id) => `delivery:${id}`),
  of(
    "delivery_attempts",
    "answer",
    ["delivery_id", "attempt"],
    (id, attempt) => `delivery-answer:${id}:${attempt}`,
  ),
  of("bot_bindings", "config", ["device_id", "bot_id"], (device, bot) => `bot-config:${device}:${bot}`),
  of("group_lists", "value", ["device_id"], (device) => `group_lists:${device}`),
  of("contacts", "names", ["device_id", "person"], (device, person) => `contact:${device}:${person}`),
  of("contacts", "details", ["device_id", "person"], (device, person) => `contact:${device}:${person}`),
  of("media_files", "meta", ["id"], (id) => `media:${id}:meta`),
  of("media_files", "upload", ["id"], (id) => `media:${id}:upload`),
  of(
    "poll_votes",
    "selected",
    ["device_id", "poll_id", "voter"],
    (device, poll, voter) => `poll_vote:${device}:${poll}:${voter}`,
  ),
  of(
    "idempotency",
    "answer",
    ["key_id", "route", "idem_key"],
    (key, route, idem) => `idempotency:${key}:${route}:${idem}`,
  ),
  of("audit_log", "changes", ["created_at", "request_id"], (at, request) => `audit_log:${at}:${request}`),
  of(
    "bot_sessions",
    "value",
    ["device_id", "bot_id", "scope"],
    (device, bot, scope) => `bot_session:${device}:${bot}:${scope}`,
  ),
  of("bot_dialogues", "state", ["device_id", "scope"], (device, scope) => `bot_dialogue:${device}:${scope}`),
  of(
    "bot_timers",
    "body",
    ["device_id", "bot_id", "scope", "key"],
    (device, bot, scope, key) => `bot_timer:${device}:${bot}:${scope}:${key}`,
  ),
  of(
    "bot_steps",
    "value",
    ["inbox_id", "bot_id", "key"],
    (inbox, bot, key) => `bot_step:${inbox}:${bot}:${key}`,
  ),
  of(
    "bot_store",
    "value",
    ["device_id", "bot_id", "key"],
    (device, bot, key) => `bot_store:${device}:${bot}:${key}`,
  ),
];
