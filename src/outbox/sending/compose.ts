import type { Logger } from "../../log.ts";
import { outbox } from "../../../drizzle/schema.ts";
import type { Draft } from "../../model/content/drafts.ts";
import { DAY_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { OutgoingMessage } from "../../whatsapp/port.ts";
import type { QueuedMessage } from "./chats.ts";
import { EXPIRED, type Endings } from "./endings.ts";
import type { Reachout } from "./holdups/reachout.ts";
import type { Rows, SendError } from "../rows.ts";

/** What the last look at a message before it leaves needs. */
export interface ComposerDeps {
  store: Store;
  rows: Rows;
  reachout: Reachout;
  endings: Endings;
  retentionDays: number;
  log: Logger;
  /** Why nothing may be sent to this address, or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
}

/** Asks, when a message's turn has come, whether it may still leave, and makes of it what goes over the wire. */
export interface Composer {
  /**
   * @returns null when there is nothing to send: it has ended, and that is written down
   * @throws what reading the database throws
   */
  compose(message: QueuedMessage): Promise<OutgoingMessage | null>;
  /** It has waited for longer than RETENTION_DAYS: nobody would expect it any more. */
  isExpired(message: Pick<QueuedMessage, "createdAt">): boolean;
}

/** Groups and channels, where somebody else decides who may write. */
const OF_MANY = /@(g\.us|newsletter)$/;
const UNREADABLE: SendError = { code: "INTERNAL_ERROR" };
const SELECT_BODY = defineQuery("SELECT body FROM outbox WHERE id = ? AND state = 'queued'", {
  body: outbox.body,
});

/** Looks at a message when its turn has come, because it may have waited for days. */
export function createComposer(deps: ComposerDeps): Composer {
  const { store, rows, reachout, endings } = deps;

  const isExpired = ({ createdAt }: Pick<QueuedMessage, "createdAt">): boolean =>
    store.clock.isTrusted() && createdAt < store.now() - deps.retentionDays * DAY_MS;

  /** Sends by REST were asked about when they came; replies of bots and webhooks, and what waited, are asked about here. */
  async function whyNot(message: QueuedMessage): Promise<SendError | null> {
    if (isExpired(message)) return EXPIRED;
    if (await reachout.holdsBack(message)) return reachout.error();
    if (message.allowed || !OF_MANY.test(message.jid)) return null;
    const refused = (await deps.refusal?.(message.deviceId, message.jid)) ?? null;
    message.allowed = refused === null;
    return refused;
  }

  function openDraft({ deviceId, waId }: QueuedMessage, sealed: Uint8Array): Draft | null {
    try {
      return rows.openDraft(deviceId, waId, sealed);
    } catch (error) {
      // It never will: its chat goes on without it.
      deps.log.error({ err: error, device: deviceId, message: waId }, "cannot read a queued message");
      return null;
    }
  }

  return {
    async compose(message) {
      await message.changing?.catch(() => undefined);
      const refused = await whyNot(message);
      // A receipt may have come while that was asked.
      if (message.confirmed) await endings.sent(message);
      else if (refused === EXPIRED) await endings.expired(message);
      else if (refused !== null) await endings.failed(message, refused);
      if (message.confirmed || refused !== null) return null;
      if (message.draft === null) {
        const row = await store.readOne(SELECT_BODY, [message.id]);
        if (row === null) return null;
        const draft = openDraft(message, row.body);
        if (draft === null) await endings.failed(message, UNREADABLE);
        if (draft === null) return null;
        message.draft = draft;
      }
      const { notAfter } = message.draft;
      if (notAfter !== undefined && notAfter < store.now()) return (await endings.expired(message), null);
      return { waId: message.waId, jid: message.jid, draft: message.draft };
    },
    isExpired,
  };
}
