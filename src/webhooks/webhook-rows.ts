import { webhooks } from "../../drizzle/schema.ts";
import { openOnceClear } from "../store/sealed/once-clear.ts";
import { defineQuery, type Query } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { encoded, openedSecrets, sealedSecrets } from "./receiver-columns.ts";
import { webhookOf } from "./receiver.ts";
import type { ReceiverTable } from "./receivers.ts";
import { SETTING_NAMES, type Webhook, type WebhookSettings } from "./settings.ts";

/** Each setting has the column of its name. */
const SETTINGS = Object.fromEntries(SETTING_NAMES.map((name) => [name, webhooks[name]])) as Pick<
  typeof webhooks,
  keyof WebhookSettings
>;
const COLUMNS = {
  deviceId: webhooks.deviceId,
  ...SETTINGS,
  disabledReason: webhooks.disabledReason,
  secret: webhooks.secret,
  oldSecret: webhooks.oldSecret,
  oldSecretUntil: webhooks.oldSecretUntil,
};
const WRITTEN = { ...COLUMNS, updatedAt: webhooks.updatedAt };
const NAMES = Object.values(WRITTEN).map(({ name }) => name);
const UPSERT = `insert into webhooks (${NAMES.join(", ")}) values (${NAMES.map(() => "?").join(", ")})
  on conflict (device_id) do update set ${NAMES.slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

const secretContext = (deviceId: number): string => `webhook-secret:${deviceId}`;
const urlContext = (deviceId: number): string => `webhook-url:${deviceId}`;

/** Replaces everything but how it has been doing. */
function upsert(webhook: Webhook, { box, now }: Store): Statement {
  const { deviceId } = webhook;
  const row: { [Key in keyof typeof WRITTEN]: (typeof WRITTEN)[Key]["_"]["data"] | null } = {
    ...webhook,
    url: box.seal(webhook.url, urlContext(deviceId)),
    headers: box.sealJson(webhook.headers, `webhook-headers:${deviceId}`),
    ...sealedSecrets(box, webhook, secretContext(deviceId)),
    updatedAt: now(),
  };
  const keys = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];
  return { sql: UPSERT, args: keys.map((key) => encoded(WRITTEN[key], row[key])) };
}

const SELECT = `select ${Object.values(COLUMNS)
  .map(({ name }) => name)
  .join(", ")} from webhooks`;
/** Every webhook, for the start. */
const WEBHOOKS = defineQuery(SELECT, COLUMNS);
/** That of a number. */
const WEBHOOK = defineQuery(`${SELECT} where device_id = ?`, COLUMNS);

type WebhookRow = typeof WEBHOOKS extends Query<infer Row> ? Row : never;

/** @throws when what is sealed does not open */
function fromRow(
  { url, headers, secret, oldSecret, ...row }: WebhookRow,
  { box }: Pick<Store, "box">,
): Webhook {
  const { deviceId } = row;
  return {
    ...row,
    ...webhookOf(deviceId),
    url: openOnceClear(box, url, urlContext(deviceId)),
    headers: box.openJson(headers, `webhook-headers:${deviceId}`),
    ...openedSecrets(box, { secret, oldSecret }, secretContext(deviceId)),
  };
}

/** Webhooks as they lie in their table: one row for each number that has one. */
export const webhookTable = (store: Store): ReceiverTable<Webhook> => ({
  all: async () => (await store.read(WEBHOOKS)).map((row) => fromRow(row, store)),
  async one({ deviceId }) {
    const row = await store.readOne(WEBHOOK, [deviceId]);
    return row && fromRow(row, store);
  },
  write: (webhook) => upsert(webhook, store),
  change: ({ deviceId }, set, args) => ({
    sql: `update webhooks set ${set} where device_id = ?`,
    args: [...args, deviceId],
  }),
  remove: ({ deviceId }) => ({ sql: "delete from webhooks where device_id = ?", args: [deviceId] }),
});
