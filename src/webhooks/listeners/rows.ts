import { listeners } from "../../../drizzle/schema.ts";
import { defineQuery, type Query } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { Target } from "../receiver.ts";
import { encoded, openedSecrets, sealedSecrets } from "../receiver-columns.ts";
import type { ReceiverTable } from "../receivers.ts";
import { MOST_LISTENERS, type Listener } from "./settings.ts";

const SETTINGS = {
  url: listeners.url,
  events: listeners.events,
  chats: listeners.chats,
  bots: listeners.bots,
  headers: listeners.headers,
  timeoutMs: listeners.timeoutMs,
  enabled: listeners.enabled,
  disabledReason: listeners.disabledReason,
  secret: listeners.secret,
  oldSecret: listeners.oldSecret,
  oldSecretUntil: listeners.oldSecretUntil,
};
const COLUMNS = {
  id: listeners.id,
  deviceId: listeners.deviceId,
  ...SETTINGS,
  createdAt: listeners.createdAt,
};
const WRITTEN = { ...SETTINGS, updatedAt: listeners.updatedAt };
const namesOf = (columns: Record<string, { name: string }>): string[] =>
  Object.values(columns).map(({ name }) => name);

const UPDATE = `update listeners set ${namesOf(WRITTEN)
  .map((name) => `${name} = ?`)
  .join(", ")} where device_id = ? and id = ?`;
// In the statement that inserts it: two nodes may be asked at once.
const INSERT = `insert into listeners (device_id, id, created_at, ${namesOf(WRITTEN).join(", ")})
  select ?1, ?2, ?3, ${namesOf(WRITTEN)
    .map((_, index) => `?${index + 4}`)
    .join(", ")} where (select count(*) from listeners where device_id = ?1) < ${MOST_LISTENERS}
  on conflict (id) do nothing`;
const SELECT = `select ${namesOf(COLUMNS).join(", ")} from listeners`;
const LISTENERS = defineQuery(`${SELECT} order by created_at, id`, COLUMNS);
const LISTENER = defineQuery(`${SELECT} where device_id = ? and id = ?`, COLUMNS);

type Row = typeof LISTENERS extends Query<infer Found> ? Found : never;

const contextOf =
  ({ deviceId, listener }: Target) =>
  (what: string): string =>
    `listener-${what}:${deviceId}:${listener}`;

function written(listener: Listener, { box, now }: Pick<Store, "box" | "now">): Statement["args"] {
  const context = contextOf(listener);
  const row = {
    ...listener,
    url: box.seal(listener.url, context("url")),
    chats: listener.chats && box.sealJson(listener.chats, context("chats")),
    headers: box.sealJson(listener.headers, context("headers")),
    ...sealedSecrets(box, listener, context("secret")),
    updatedAt: now(),
  };
  return (Object.keys(WRITTEN) as (keyof typeof WRITTEN)[]).map((key) => encoded(WRITTEN[key], row[key]));
}

/** @throws when what is sealed does not open */
function fromRow({ id, ...row }: Row, { box }: Pick<Store, "box">): Listener {
  const { url, chats, headers, secret, oldSecret, ...plain } = row;
  const target = { deviceId: row.deviceId, listener: id };
  const context = contextOf(target);
  return {
    ...plain,
    ...target,
    url: box.open(url, context("url")).toString("utf8"),
    chats: chats && box.openJson(chats, context("chats")),
    headers: box.openJson(headers, context("headers")),
    ...openedSecrets(box, { secret, oldSecret }, context("secret")),
  };
}

/** Adds a row, unless the number has as many as it may. */
export const insertListener = (listener: Listener, store: Pick<Store, "box" | "now">): Statement => ({
  sql: INSERT,
  args: [listener.deviceId, listener.listener, listener.createdAt, ...written(listener, store)],
});

/** Listeners as they lie in their table. */
export const listenerTable = (store: Store): ReceiverTable<Listener> => ({
  all: async () => (await store.read(LISTENERS)).map((row) => fromRow(row, store)),
  async one({ deviceId, listener }) {
    const row = await store.readOne(LISTENER, [deviceId, listener]);
    return row && fromRow(row, store);
  },
  write: (listener) => ({
    sql: UPDATE,
    args: [...written(listener, store), listener.deviceId, listener.listener],
  }),
  change: ({ deviceId, listener }, set, args) => ({
    sql: `update listeners set ${set} where device_id = ? and id = ?`,
    args: [...args, deviceId, listener],
  }),
  remove: ({ deviceId, listener }) => ({
    sql: "delete from listeners where device_id = ? and id = ?",
    args: [deviceId, listener],
  }),
});
