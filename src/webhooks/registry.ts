import type { DisabledReason } from "../model/webhook-words.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { defineTopic } from "../model/nodes/cluster.ts";
import { failpoint } from "../model/failpoint.ts";
import type { News } from "../model/nodes/news.ts";
import type { Statement, Store } from "../store/store.ts";
import {
  readWebhookSettings,
  SETTING_NAMES,
  type Webhook,
  type WebhookChange,
  type WebhookSettings,
} from "./settings.ts";
import { fromRow, upsert, WEBHOOK, WEBHOOKS } from "./webhook-rows.ts";
import { createSecret } from "./events/sign.ts";
import { endWaiting, inSteps, WAITING } from "./attempts/waiting.ts";
import { releaseHolds } from "./release-holds.ts";
import { boolean, defineQuery } from "../store/query.ts";

const ANYTHING_WAITS = defineQuery(
  `select 1 as found from deliveries indexed by deliveries_waiting where device_id = ? and ${WAITING} limit 1`,
  { found: boolean() },
);
const BOTH_SECRETS_SIGN_MS = 24 * 3600 * 1000;
/** Each costs a signature per event. */
const MOST_OLD_SECRETS = 3;

interface RegistryDeps {
  store: Store;
  log: Logger;
  config: { webhookTimeoutMs: number };
  /** @throws {GatewayError} URL_NOT_ALLOWED when the address leads into a private network */
  checkUrl(url: string): Promise<void>;
  /** Another node has deleted a number's webhook. */
  onGone(deviceId: number): void;
  /** Another node has set it anew: nothing is held against it. */
  onAnew(deviceId: number): void;
  news: News;
}

/** A number's webhook is set otherwise, or deleted. */
const SET = defineTopic<{ deviceId: number; anew?: boolean }>("webhooks");

/** Webhooks of all numbers, in memory and in the database. */
export interface Registry {
  /** Reads all rows once; afterwards every look-up is one in memory. */
  load(): Promise<void>;
  get(deviceId: number): Webhook | null;
  /** Numbers that have one. */
  ids(): number[];
  /**
   * Replaces everything but the secret.
   *
   * @returns `secret` only when it was made now
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(deviceId: number, input: WebhookChange): Promise<{ secret: string | null }>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number): Promise<boolean>;
  /** A new secret; the old one signs as well for 24 h. Null when there is no webhook. */
  rotate(deviceId: number): Promise<{ secret: string } | null>;
  /** Ends what waits for a further attempt although its webhook is switched off, or gone, a few rows in each commit. */
  endForgotten(deviceId: number): Promise<void>;
  /** Statements that switch a webhook off, and what holds once they are committed. */
  disabling(deviceId: number, reason: DisabledReason): { statements: Statement[]; committed(): void };
  forget(deviceId: number): void;
}

/** The numbers' webhooks: rows in `webhooks`, all of them in memory. */
export function createRegistry(deps: RegistryDeps): Registry {
  const { store, log, config, checkUrl, news } = deps;
  let known = new Map<number, Webhook>();

  /** What waits is being ended: who is set anew meanwhile would lose what came after. */
  const ending = new Map<number, Promise<void>>();

  function endAll(deviceId: number): Promise<void> {
    const until = store.now();
    const ended = inSteps(store, () => endWaiting(deviceId, until)).finally(() => ending.delete(deviceId));
    ending.set(deviceId, ended);
    return ended;
  }

  /** @param anew its owner has set it: nothing is held against it any more */
  async function save(webhook: Webhook, anew: boolean): Promise<void> {
    const { deviceId } = webhook;
    await ending.get(deviceId);
    failpoint("before-secret-commit");
    await store.writer.commit([upsert(webhook, store), ...news.of(SET, { deviceId, anew })]);
    failpoint("after-secret-commit");
    known.set(deviceId, webhook);
    if (!isActive(webhook)) await endAll(deviceId);
  }

  async function load(): Promise<void> {
    const rows = await store.read(WEBHOOKS);
    known = new Map(rows.map((row) => [row.deviceId, fromRow(row, store)]));
  }

  /** As its row has it, which another node may have written in this moment. */
  async function current(deviceId: number): Promise<Webhook | null> {
    const row = await store.readOne(WEBHOOK, [deviceId]);
    return row && fromRow(row, store);
  }

  async function setElsewhere(deviceId: number, anew: boolean): Promise<void> {
    const webhook = await current(deviceId);
    if (webhook !== null) {
      known.set(deviceId, webhook);
      if (anew) deps.onAnew(deviceId);
      return;
    }
    known.delete(deviceId);
    deps.onGone(deviceId);
  }

  news.listen(SET, {
    hear: ({ deviceId, anew = false }) => setElsewhere(deviceId, anew),
    reread: load,
  });

  /** What is known here of a webhook may be older than its row, which another node has just written. */
  async function endForgotten(deviceId: number): Promise<void> {
    if ((await store.readOne(ANYTHING_WAITS, [deviceId])) === null) return;
    const row = await current(deviceId);
    if (row === null || !isActive(row)) await (ending.get(deviceId) ?? endAll(deviceId));
  }

  return {
    load,
    get: (deviceId) => known.get(deviceId) ?? null,
    ids: () => [...known.keys()],
    forget: (deviceId) => void known.delete(deviceId),

    async put(deviceId, input) {
      const checked = readWebhookSettings(input, config.webhookTimeoutMs);
      await checkUrl(checked.url);
      const before = await current(deviceId);
      const secret = before?.secret ?? createSecret();
      const { oldSecrets = [], oldSecretUntil = null } = before ?? {};
      await save({ ...checked, deviceId, disabledReason: null, secret, oldSecrets, oldSecretUntil }, true);
      return { secret: before ? null : secret };
    },

    async remove(deviceId) {
      const existed = (await current(deviceId)) !== null;
      const row = { sql: "delete from webhooks where device_id = ?", args: [deviceId] };
      // A webhook that is made later begins without chats of its own.
      await store.writer.commit([row, releaseHolds(deviceId, store.now()), ...news.of(SET, { deviceId })]);
      known.delete(deviceId);
      await endAll(deviceId);
      return existed;
    },

    endForgotten,

    async rotate(deviceId) {
      const before = await current(deviceId);
      if (before === null) return null;
      const secret = createSecret();
      // Who did not hear the answer rotates again: the receiver still knows only what was before that.
      const oldSecrets = signingSecrets(before, store.now()).slice(0, MOST_OLD_SECRETS);
      const oldSecretUntil = store.now() + BOTH_SECRETS_SIGN_MS;
      await save({ ...before, secret, oldSecrets, oldSecretUntil }, false);
      return { secret };
    },

    disabling(deviceId, reason) {
      const disable = {
        sql: "update webhooks set enabled = 0, disabled_reason = ? where device_id = ?",
        args: [reason, deviceId],
      };
      return {
        statements: [disable, endWaiting(deviceId, store.now()), ...news.of(SET, { deviceId })],
        committed: () => {
          endAll(deviceId).catch((error: unknown) =>
            log.error({ err: error, device: deviceId }, "could not end the deliveries of a disabled webhook"),
          );
          const webhook = known.get(deviceId);
          if (webhook) known.set(deviceId, { ...webhook, enabled: false, disabledReason: reason });
        },
      };
    },
  };
}

/** Whether anything is posted to it at all. */
export function isActive(webhook: WebhookSettings): boolean {
  return webhook.enabled && webhook.mode !== "off";
}

/** Secrets that sign now, the newest first. */
export function signingSecrets(webhook: Webhook, now: number): string[] {
  const { secret, oldSecrets, oldSecretUntil } = webhook;
  return oldSecretUntil !== null && now < oldSecretUntil ? [secret, ...oldSecrets] : [secret];
}

/** Without what only Parley sees. */
export function settingsOf(webhook: Webhook): WebhookSettings {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, webhook[name]])) as unknown as WebhookSettings;
}

/** The refusal of what only a webhook that is switched on can do. */
export function noWebhook(): GatewayError {
  return new GatewayError(
    "NOT_FOUND",
    "This number has no enabled webhook. Set one with PUT /devices/{number}/webhook.",
  );
}
