import { createAudit } from "../audit/audit.ts";
import type { Config } from "../config.ts";
import { createChannels } from "../directory/channels.ts";
import { createGroups } from "../directory/groups.ts";
import { createLids } from "../directory/lids.ts";
import { createInboxReader } from "../inbox/reader.ts";
import type { Logger } from "../log.ts";
import { createReceivedMedia } from "../media/incoming.ts";
import { createMedia } from "../media/media.ts";
import { createSafeFetch } from "../net/safe-fetch.ts";
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
    witness: audit.witness,
    sentMessage: sent.sentMessage,
    receivedContent: received.find,
    files: outgoingFiles.files,
    onUndecryptable: observers.undecryptable,
  });
  const receivedFiles = createReceivedMedia({
    store,
    config,
    log,
    whatsapp,
    connection,
    load: received.load,
    stopping: stopping.signal,
  });
  const groups = createGroups({ store, log, connection, identity });
  const channels = createChannels({ store, connection });
  const lids = createLids({
    store,
    identity,
    // Group lists name both the number and the LID of their members.
    learn: async (deviceId) => void (await groups.list(deviceId, { refresh: false }).catch(() => undefined)),
  });
  return { sent, http, outgoingFiles, receivedFiles, audit, whatsapp, groups, channels, lids };
}
