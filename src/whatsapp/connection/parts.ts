import type { UserFacingSocketConfig, WASocket } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import type { OutgoingFiles, OwnFiles } from "../../model/media/media.ts";
import { NotOwner } from "../../store/errors.ts";
import type { Store } from "../../store/store.ts";
import { createChatTimers, type ChatTimers } from "../send/chat-timers.ts";
import { createAcks, type Acks } from "../send/acks.ts";
import type { ClientVersion } from "../client-version.ts";
import type { ClientVersions } from "../client-versions.ts";
import type { AuthState } from "../signal/auth-state.ts";
import { baileys } from "../baileys.ts";
import { type WhatsAppClock } from "../life/clock.ts";
import type { DeviceMemory } from "./device-memory.ts";
import { createComposer, type Composer } from "../content/compose.ts";
import { sourcesOf, type StoredContents } from "../content/sealed-sources.ts";
import { createForwardedFiles } from "../media/forwarded.ts";
import { createMediaHosts, type MediaHostsSource } from "../media/hosts.ts";
import { isPn, userOf } from "../jids.ts";
import { createLidChanges, type LidChanges } from "../receive/lid-changes.ts";
import { createReceiving, type Receiving } from "../receive/receiving.ts";
import type { OnWay } from "../everyday/classify.ts";
import type { Closed, ConnectionListener, WireEvent, Witness } from "../port.ts";
import { quietLogger } from "../life/quiet-logger.ts";
import { createLidQuestions } from "../signal/lid-questions.ts";
import { makeSafeRepository } from "../signal/repository.ts";
import { createDirectory, type Directory } from "../devices/recipients.ts";
import { askForLids } from "../devices/usync.ts";
import { createResends } from "../send/resend.ts";
import { createRetryRequests, type RetryRequests } from "../signal/session-keeping.ts";
import type { HistoryImport, HistorySource } from "../history/importer.ts";
import { createGroups, type Groups } from "../groups/socket-groups.ts";
import { createStanzas, type Stanzas } from "../receive/stanzas.ts";
import type { Uploads } from "../media/upload.ts";

/** What was received could not be stored: WhatsApp keeps it. */
export const STORAGE_FAILED: Closed = {
  code: 503,
  reason: "could not store a received stanza",
  byUs: true,
};
/** The number is connected elsewhere. */
export const TAKEN: Closed = { code: 503, reason: "another node has this number", taken: true };

/** What a connection needs of the gateway. */
export interface ConnectionDeps extends StoredContents {
  store: Store;
  deviceId: number;
  /** Options that all numbers share. */
  options: Partial<UserFacingSocketConfig>;
  log: Logger;
  memory: DeviceMemory;
  listener: ConnectionListener;
  openAuth(onWriteFailed: (error: unknown) => void): Promise<AuthState>;
  /** Files of messages to be sent, and where they are put. */
  files: OutgoingFiles;
  uploads: Uploads;
  /** Of files that came and are handed on. */
  ownFiles: OwnFiles;
  witness: Witness;
  /** Whether a person may answer when WhatsApp asks for a passkey. */
  passkeys: boolean;
  versions: Pick<ClientVersions, "ready" | "current" | "refused">;
  observe?: ((event: WireEvent) => void) | undefined;
  /** Told which messages go the everyday way; null: none does. */
  onWay: OnWay | null;
  /** Where history is imported from; null: it is not. */
  history: HistorySource | null;
}

/** What a connection consists of beside its socket, which most of it looks up here: it is made last. */
export interface ConnectionParts {
  /** The socket, and why it is being ended; null until there is one. */
  late: {
    socket: WASocket | null;
    clock: WhatsAppClock | null;
    closed: Closed | null;
    history: HistoryImport | null;
  };
  end(closed: Closed): void;
  auth: AuthState;
  receiving: Receiving;
  stanzas: Stanzas;
  acks: Acks;
  retries: RetryRequests;
  groups: Groups;
  directory: Directory;
  lidChanges: LidChanges;
  hosts: MediaHostsSource;
  composer: Composer;
  timers: ChatTimers;
  version: ClientVersion;
}

/** What a connection consists of before it has a socket. */
export async function prepare(deps: ConnectionDeps): Promise<ConnectionParts> {
  await deps.versions.ready();
  const { deviceId, store, memory, files, uploads } = deps;
  const { time } = store;
  const late: ConnectionParts["late"] = { socket: null, clock: null, closed: null, history: null };
  const socket = (): WASocket => late.socket!;
  const end = (closed: Closed): void => {
    late.closed ??= closed;
    void late.socket?.end(new Error(closed.reason));
  };
  const onFailed = (error: unknown): void => {
    if (error instanceof NotOwner) return end(TAKEN);
    deps.log.error({ err: error, device: deviceId }, "closing the connection: could not store data");
    end(STORAGE_FAILED);
  };
  const auth = await deps.openAuth(onFailed);
  const timers = createChatTimers(store, deviceId, memory.timers);
  const receiving = createReceiving({
    ...deps,
    auth,
    timers,
    polls: sourcesOf(deps, deviceId),
    clockAhead: () => late.clock?.ahead() ?? 0,
    onHistory: deps.history && (() => late.history?.wake()),
    onFailed,
  });
  const peekPair = (key: string): string | null =>
    (auth.peek("lid-mapping", key) as string | null | undefined) ?? null;
  const lidChanges = createLidChanges({
    socket,
    memory,
    time,
    peekLid: peekPair,
    peekNumber: (lidUser) => peekPair(`${lidUser}_reverse`),
    onFailed: (error) => deps.log.warn({ err: error, device: deviceId }, "could not store a changed LID"),
  });
  const groups = createGroups(socket);
  const hosts = createMediaHosts(socket, time);
  const forwarded = createForwardedFiles({ ...deps, own: deps.ownFiles, hosts, now: store.now });
  return {
    late,
    end,
    auth,
    receiving,
    stanzas: createStanzas(time),
    acks: createAcks(time),
    retries: createRetryRequests(async (jid) =>
      isPn(jid) ? socket().signalRepository.lidMapping.getLIDForPN(jid) : null,
    ),
    groups,
    lidChanges,
    directory: createDirectory(socket, time, memory, { peekLid: peekPair, underWay: lidChanges.underWay }),
    hosts,
    composer: createComposer({ files, uploads, forwarded, hosts, groups, timers, box: store.box }),
    timers,
    version: deps.versions.current(),
  };
}

/** Baileys' socket, with the options that Parley needs. */
export function makeSocket(deps: ConnectionDeps, parts: ConnectionParts): WASocket {
  const { auth, receiving, stanzas, retries, late } = parts;
  const { missing, own, numbersOfLids } = receiving;
  return baileys.makeWASocket({
    ...deps.options,
    version: parts.version,
    logger: quietLogger(deps.log),
    auth: { creds: auth.creds, keys: auth.keys },
    makeSignalRepository: makeSafeRepository({
      keys: auth.keys,
      journal: receiving.journal,
      stanzas,
      retries,
      lookUpLids: createLidQuestions(deps.store.time, (jids) => askForLids(late.socket!, jids)),
      ownUsers: () => ({ pn: userOf(own().pn), lid: own().lid === null ? null : userOf(own().lid) }),
      onUndecryptable: async (attributes, kind) => {
        await missing.undecryptable(attributes);
        deps.observe?.({ type: "undecryptable", reason: kind });
      },
      onUnavailable: missing.unavailable,
      isClosing: () => late.closed !== null,
    }),
    userDevicesCache: deps.memory.userDevices,
    msgRetryCounterCache: deps.memory.retryCounters,
    callOfferCache: deps.memory.callOffers,
    placeholderResendCache: deps.memory.placeholders,
    cachedGroupMetadata: parts.groups.metadata,
    getMessage: createResends({
      composer: parts.composer,
      sentMessage: (waId) => deps.sentMessage(deps.deviceId, waId),
      own,
      numbersOfLids,
      formThatCounts: parts.directory.formThatCounts,
    }),
  });
}
