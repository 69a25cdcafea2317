import { createAudit } from "../audit/audit.ts";
import type { Config } from "../config.ts";
import { createConversations, type Conversations } from "../conversations/index.ts";
import { createChannels } from "../directory/channels.ts";
import { createGroups } from "../directory/groups.ts";
import { createStoredLists } from "../directory/stored-groups.ts";
import { createLids } from "../directory/lids.ts";
import { contentOpener, createInboxReader } from "../inbox/reader.ts";
import type { Logger } from "../log.ts";
import { createReceivedMedia } from "../media/incoming.ts";
import { factsOf } from "../media/files.ts";
import { createMedia } from "../media/media.ts";
import { createSentMedia } from "../media/sent.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { createSafeFetch } from "../net/safe-fetch.ts";
import { draftOpener } from "../outbox/rows.ts";
import { createSentReader } from "../outbox/sent-reader.ts";
import type { ConnectionPort } from "../path/connections.ts";
import type { Observers } from "../path/observers.ts";
import type { Store } from "../store/store.ts";
import { createWhatsApp } from "../whatsapp/whatsapp.ts";

/** What every part of the app stands on. */
export interface Base {
  config: Config;
  log: Logger;
  store: Store;
  /** Where connections of numbers are looked up. */
  connections: ConnectionPort;
  /** Those who are told of what happens. */
  observers: Observers;
  /** Aborts when the gateway waits no longer for what is under way. */
  stopping: AbortController;
}

/** What was received and sent, files, and who is who. */
export type Data = ReturnType<typeof openData>;

/** Joins the list of messages and chats with those who know what is in the rows. */
export function openConversations(
  { store }: Base,
  { receivedFiles, sentFiles, channels }: Data,
): Conversations {
  const groups = createStoredLists(store, MINUTE_MS / SECOND_MS);
  return createConversations(store, {
    openIncoming: contentOpener(store.box),
    openDraft: draftOpener(store.box),
    link: receivedFiles.link,
    sentLink: sentFiles.link,
    fileFacts: (ids) => factsOf(store, ids),
    async names(deviceId) {
      const { items: followed } = await channels.list(deviceId, {});
      const known = [...((await groups.read(deviceId))?.groups ?? []), ...followed];
      return new Map(known.map(({ id, name }) => [id, name]));
    },
  });
}

/** Joins everything that messages are looked up in, and WhatsApp itself. Nothing is read or connected yet. */
export function openData({ config, log, store, connections, observers, stopping }: Base) {
  const { connection, identity } = connections;
  const received = createInboxReader(store);
  const sent = createSentReader(store);
  const http = createSafeFetch(config, undefined, observers.addressBlocked);
  const outgoingFiles = createMedia({ store, config, log, http, accountOf: connections.accountOf });
  const audit = createAudit({ store, config, log });
  const whatsapp = createWhatsApp({
    store,
    config,
    log,
    http,
    witness: audit.witness,
    sentMessage: sent.sentMessage,
    receivedContent: received.find,
    receivedChanges: received.changesOf,
    files: outgoingFiles.files,
    onUndecryptable: observers.undecryptable,
    onWay: observers.way,
  });
  const sentFiles = createSentMedia({ store, config, load: sent.sentContent });
  const receivedFiles = createReceivedMedia({
    store,
    config,
    log,
    whatsapp,
    connection,
    load: received.load,
    openSent: sentFiles.open,
    stopping: stopping.signal,
  });
  const groups = createGroups({ store, log, connection, identity });
  const channels = createChannels({ store, log, connection });
  const lids = createLids({
    store,
    identity,
    // Group lists name both the number and the LID of their members.
    learn: async (deviceId) => void (await groups.list(deviceId, { refresh: false }).catch(() => undefined)),
  });
  return { sent, http, outgoingFiles, sentFiles, receivedFiles, audit, whatsapp, groups, channels, lids };
}
