import { createAudit } from "../audit/audit.ts";
import type { SharedRedis } from "../cluster/redis.ts";
import type { Config } from "../config.ts";
import { createConversations, type Conversations } from "../conversations/index.ts";
import { createChannels } from "../directory/channels.ts";
import { createChatSettings } from "../directory/chat-settings.ts";
import { createChatPresences } from "../directory/chat-presence.ts";
import { createContactQuestions } from "../directory/contacts/details.ts";
import { createContactList } from "../directory/contacts/list.ts";
import { createContactNotes } from "../directory/contacts/notes.ts";
import { createReadReceipts } from "../directory/read-receipts.ts";
import { createPresenceWatch } from "../directory/presence-watch.ts";
import { createGroupAdministration } from "../directory/group-admin.ts";
import { createOwnProfiles } from "../directory/profiles.ts";
import { createGroups } from "../directory/groups.ts";
import { createStoredLists } from "../directory/stored-groups.ts";
import { createLids } from "../directory/lids.ts";
import { createNumberChecks } from "../directory/number-checks.ts";
import { createPaces } from "../directory/paces.ts";
import { channelsOfOwner, checksOfOwner, groupsOfOwner, lidsOfOwner } from "../directory/of-owner.ts";
import { contentOpener, createInboxReader } from "../inbox/reader.ts";
import { openFilePlaces } from "./files.ts";
import type { Logger } from "../log.ts";
import { createReceivedMedia } from "../media/incoming.ts";
import { factsOf } from "../media/files.ts";
import { createMedia } from "../media/media.ts";
import { createOwnFiles } from "../media/forwarded/own-files.ts";
import { createSentMedia } from "../media/sent.ts";
import type { OwnFiles } from "../model/media/media.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { createSafeFetch } from "../net/safe-fetch.ts";
import { draftOpener, replyId } from "../outbox/rows.ts";
import { createSentReader } from "../outbox/sent-reader.ts";
import type { ConnectionPort } from "../path/connections.ts";
import type { Observers } from "../path/observers.ts";
import { createMarkRead, type MarkRead } from "../pipeline/read-marks.ts";
import { createAllowances } from "../store/allowances.ts";
import type { NewsDesk } from "../store/news.ts";
import type { Store } from "../store/store.ts";
import { deliveryId } from "../webhooks/rows.ts";
import { createWhatsApp } from "../whatsapp/whatsapp.ts";

/** What every part of the app stands on. */
export interface Base {
  config: Config;
  log: Logger;
  store: Store;
  /** The other processes that share the database; alone: none. */
  cluster: Cluster;
  /** What nodes share besides the database; null: this process is alone. */
  redis: SharedRedis | null;
  /** What they have changed of what is remembered here. */
  news: NewsDesk;
  /** Where connections of numbers are looked up. */
  connections: ConnectionPort;
  /** Those who are told of what happens. */
  observers: Observers;
  /** Aborts when the gateway waits no longer for what is under way. */
  stopping: AbortController;
}

/** What was received and sent, files, and who is who. */
export type Data = ReturnType<typeof openData>;

/** Joins the list of messages and chats with those who know what is in the rows, and with what notes that they were read. */
export function openConversations(
  { store }: Base,
  { receivedFiles, sentFiles, channels, whatsapp }: Data,
): Conversations & { markRead: MarkRead } {
  const groups = createStoredLists(store, MINUTE_MS / SECOND_MS);
  const contents = {
    openIncoming: contentOpener(store.box),
    openDraft: draftOpener(store.box),
    readAgain: whatsapp.readAgain,
    link: receivedFiles.link,
    sentLink: sentFiles.link,
    replyId: (deviceId: number, inboxId: number) => replyId(store.box, deviceId, inboxId, 0),
    fileFacts: (ids: string[]) => factsOf(store, ids),
    async names(deviceId: number) {
      const { items: followed } = await channels.list(deviceId, {});
      const known = [...((await groups.read(deviceId))?.groups ?? []), ...followed];
      return new Map(known.map(({ id, name }) => [id, name]));
    },
  };
  const conversations = createConversations(store, contents, {
    replyId: (...reply) => replyId(store.box, ...reply),
    deliveryId: (...event) => deliveryId(store.box, ...event),
  });
  return { ...conversations, markRead: createMarkRead(store) };
}

/** Groups, channels and LIDs: their number's connection is asked for what is not in store, wherever it is. */
function openDirectory({
  store,
  log,
  cluster,
  connections,
  observers,
}: Pick<Base, "store" | "log" | "cluster" | "connections" | "observers">) {
  const { connection, identity } = connections;
  const paces = createPaces(createAllowances(store), store);
  const ownGroups = createGroups({ store, log, connection, identity });
  const ownChannels = createChannels({ store, log, connection });
  const contactList = createContactList(store);
  const contactNotes = createContactNotes({ store, log, observe: observers.tell });
  const contacts = { store, log, cluster, connection, list: contactList, notes: contactNotes };
  const ownLids = createLids({
    store,
    identity,
    // Group lists name both the number and the LID of their members.
    learn: async (deviceId) =>
      void (await ownGroups.list(deviceId, { refresh: false }).catch(() => undefined)),
  });
  return {
    groups: groupsOfOwner(cluster, ownGroups, createStoredLists(store, MINUTE_MS / SECOND_MS)),
    groupAdmin: createGroupAdministration({ cluster, connection, identity, paces }),
    ownProfiles: createOwnProfiles({ cluster, paces, connection }),
    channels: channelsOfOwner(cluster, ownChannels),
    lids: lidsOfOwner(cluster, ownLids),
    contactNotes,
    contacts: { ...contactList, ...createContactQuestions(contacts) },
    receipts: createReadReceipts({ cluster, connection }),
    chatSettings: createChatSettings({
      store,
      log,
      cluster,
      connection,
      canonicalChat: ownLids.canonicalChat,
    }),
    presenceWatch: createPresenceWatch({
      time: store.time,
      cluster,
      connection,
      canonicalChat: ownLids.canonicalChat,
      observe: observers.tell,
    }),
    presences: createChatPresences({ time: store.time, cluster, connection }),
    numberChecks: checksOfOwner(cluster, createNumberChecks({ store, log, paces, connection })),
  };
}

/** Joins everything that messages are looked up in, and WhatsApp itself. Nothing is read or connected yet. */
export function openData({ config, log, store, cluster, connections, observers, stopping }: Base) {
  const { connection } = connections;
  const received = createInboxReader(store);
  const sent = createSentReader(store);
  const http = createSafeFetch(config, undefined, observers.tell);
  const { accountOf } = connections;
  const files = openFilePlaces({ store, config, log });
  const { elsewhere } = files;
  const outgoingFiles = createMedia({ store, config, log, http, accountOf, elsewhere });
  const audit = createAudit({ store, config, log });
  const whatsapp = createWhatsApp({
    store,
    config,
    log,
    http,
    isLeader: () => cluster.ownership.owns(0),
    witness: audit.witness,
    sentMessage: sent.sentMessage,
    receivedContent: received.find,
    receivedChanges: received.changesOf,
    files: outgoingFiles.files,
    // Looked up when a message is sent: what came is loaded by way of WhatsApp.
    ownFiles: { idOf: (...of) => ownFiles.idOf(...of), make: (...of) => ownFiles.make(...of) },
    observe: observers.tell,
  });
  const sentFiles = createSentMedia({ store, config, elsewhere, load: sent.sentContent });
  const receivedFiles = createReceivedMedia({
    store,
    config,
    log,
    whatsapp,
    connection,
    elsewhere,
    cluster,
    load: received.load,
    openSent: sentFiles.open,
    openUploaded: outgoingFiles.uploads.open,
    stopping: stopping.signal,
  });
  const ownFiles: OwnFiles = createOwnFiles({
    store,
    files: outgoingFiles.files,
    kept: receivedFiles.kept,
    stopping: stopping.signal,
  });
  const directory = openDirectory({ store, log, cluster, connections, observers });
  return {
    sent,
    http,
    files,
    outgoingFiles,
    sentFiles,
    receivedFiles,
    audit,
    whatsapp,
    directory,
    ...directory,
  };
}
