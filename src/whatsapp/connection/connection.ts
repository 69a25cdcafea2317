import type { ConnectionState, UserFacingSocketConfig, WASocket } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import { failpoint } from "../../model/failpoint.ts";
import { commitIntake } from "../../store/intake.ts";
import type { OutgoingFiles } from "../../model/media.ts";
import type { Incoming } from "../../model/messages.ts";
import { MINUTE_MS, SECOND_MS } from "../../model/time.ts";
import type { Store } from "../../store/store.ts";
import { createAcks } from "./acks.ts";
import type { AuthState } from "../signal/auth-state.ts";
import { baileys } from "../baileys.ts";
import { watchCaughtUp, type CaughtUp } from "./caught-up.ts";
import { watchClock, type WhatsAppClock } from "./clock.ts";
import { watchForStalls } from "./stall-watchdog.ts";
import type { DeviceMemory } from "./device-memory.ts";
import { emitWhatIsListenedFor } from "./frame-events.ts";
import { writeTogether } from "./frame-writes.ts";
import { identityOf, ownIdsOf } from "../identity.ts";
import { createComposer } from "../content/compose.ts";
import { createMediaHosts, type MediaHostsSource } from "../media/hosts.ts";
import { isPn } from "../jids.ts";
import { createReceiving } from "./receiving.ts";
import { takeTurnsByChat, type ChatTurns } from "./chat-turns.ts";
import { createChannels, type Channels } from "./socket-channels.ts";
import type { Closed, SentMessage, WhatsAppConnection, WhatsAppEvents, Witness } from "../port.ts";
import { createPrivacyTokens } from "./privacy-tokens.ts";
import { requestReupload } from "../media/reupload.ts";
import { quietLogger } from "./quiet-logger.ts";
import { startRecovery, type Recovery } from "./recovery.ts";
import { makeSafeRepository } from "../signal/repository.ts";
import { createDirectory } from "./recipients.ts";
import { createSessions } from "./sessions.ts";
import { createResends, rememberNothingSent } from "./resend.ts";
import { sendMessage, type SendDeps } from "./send.ts";
import { createRetryRequests } from "../signal/session-keeping.ts";
import { closedBy, closeQuickly, watchConnecting } from "./socket-end.ts";
import { createGroups } from "./socket-groups.ts";
import { createStanzas } from "./stanzas.ts";
import { watchTally, type Tally } from "./tally.ts";
import type { Uploads } from "../media/upload.ts";
import { listenToStanzas } from "./wire.ts";

const FIRST_QR_MS = MINUTE_MS;
const NEXT_QR_MS = 20 * SECOND_MS;
const STORAGE_FAILED: Closed = { code: 503, reason: "what was received could not be stored" };
const SETTLE_MS = 5 * SECOND_MS;

export interface ConnectionDeps {
  store: Store;
  deviceId: number;
  /** Options that all numbers share. */
  options: Partial<UserFacingSocketConfig>;
  log: Logger;
  memory: DeviceMemory;
  events: WhatsAppEvents;
  openAuth(onWriteFailed: (error: unknown) => void): Promise<AuthState>;
  /** What was sent under an id, for a phone that could not read it; null when it is not known. */
  sentMessage(deviceId: number, waId: string): Promise<SentMessage | null>;
  /** What arrived in a chat under an id, for votes on it; null when it is not known. */
  receivedContent(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null>;
  /** Files of messages to be sent, and where they are put. */
  files: OutgoingFiles;
  uploads: Uploads;
  witness: Witness;
  onUndecryptable?(reason: string): void;
}

/** What the parts of one connection share. */
interface Context extends ConnectionDeps {
  socket: WASocket;
  auth: AuthState;
  turns: ChatTurns;
  /** Ends the connection for a reason of our own. */
  end(closed: Closed): void;
  /** The reason given to `end`. */
  endedBy(): Closed | null;
  caughtUp: CaughtUp;
  recovery: Recovery;
  tally: Tally;
}

/** Opens a connection with the number's credentials, or with new ones that wait to be linked. */
export async function openConnection(deps: ConnectionDeps): Promise<WhatsAppConnection> {
  let socket: WASocket | undefined;
  let clock: WhatsAppClock | undefined;
  let reason: Closed | null = null;
  const end = (closed: Closed): void => {
    reason ??= closed;
    void socket?.end(new Error(closed.reason));
  };
  const storageFailed = (error: unknown): void => {
    deps.log.error({ err: error, deviceId: deps.deviceId }, "closing the connection: storing failed");
    end(STORAGE_FAILED);
  };
  const auth = await deps.openAuth(storageFailed);
  const { deviceId, witness } = deps;
  const { time } = deps.store;
  const { journal, missing, own, numbersOfLids, read } = createReceiving({
    ...deps,
    auth,
    polls: {
      sent: async (waId) => (await deps.sentMessage(deviceId, waId))?.draft ?? null,
      received: (chatKey, waId) => deps.receivedContent(deviceId, chatKey, waId),
    },
    clockAhead: () => clock?.ahead() ?? 0,
    onFailed: storageFailed,
  });
  await journal.replay();

  const stanzas = createStanzas(time);
  const acks = createAcks(time);
  const retries = createRetryRequests(async (jid) =>
    isPn(jid) ? socket!.signalRepository.lidMapping.getLIDForPN(jid) : null,
  );
  const ownUsers = (): { pn: string; lid: string | null } => {
    const { pn, lid } = ownIdsOf(auth.creds);
    return { pn: pn.split("@")[0] ?? "", lid: lid?.split("@")[0] ?? null };
  };
  const groups = createGroups(() => socket!);
  const directory = createDirectory(() => socket!, time, deps.memory);
  const hosts = createMediaHosts(() => socket!, time);
  const { files, uploads } = deps;
  const composer = createComposer({ files, uploads, hosts, groups, box: deps.store.box });
  socket = baileys.makeWASocket({
    ...deps.options,
    logger: quietLogger(deps.log),
    auth: { creds: auth.creds, keys: auth.keys },
    makeSignalRepository: makeSafeRepository({
      keys: auth.keys,
      journal,
      stanzas,
      retries,
      ownUsers,
      onUndecryptable: async (attributes, kind) => {
        await missing.undecryptable(attributes);
        deps.onUndecryptable?.(kind);
      },
      onUnavailable: missing.unavailable,
      isClosing: () => reason !== null,
    }),
    userDevicesCache: deps.memory.userDevices,
    msgRetryCounterCache: deps.memory.retryCounters,
    callOfferCache: deps.memory.callOffers,
    placeholderResendCache: deps.memory.placeholders,
    cachedGroupMetadata: groups.cached,
    getMessage: createResends({
      composer,
      sentMessage: (waId) => deps.sentMessage(deviceId, waId),
      own,
      numbersOfLids,
      formThatCounts: directory.formThatCounts,
    }),
  });
  const turns = takeTurnsByChat(socket, {
    own,
    async onHandled({ attrs }) {
      if (reason !== null || !stanzas.isUnread(attrs)) return;
      // A failure has closed the connection.
      await missing.refused(attrs).catch(() => undefined);
    },
  });
  clock = watchClock(socket, deps.store);
  closeQuickly(socket, time);
  rememberNothingSent(socket);
  emitWhatIsListenedFor(socket);
  writeTogether(socket);
  listenToStanzas(socket, {
    stanzas,
    acks,
    retries,
    groups,
    events: deps.events,
    own,
    now: deps.store.now,
    onRetryRequest: (waId, jid) => witness.sentElsewhere(deviceId, { waId, jid }),
  });
  socket.ev.on("creds.update", () => auth.saveCreds());
  socket.ev.on("messages.upsert", () => failpoint("after-receipt"));
  const caughtUp = watchCaughtUp(socket, time);
  const recovery = startRecovery(socket, {
    deviceId,
    log: deps.log,
    now: deps.store.now,
    witness,
    memory: deps.memory,
    settled: turns.idle,
    read,
    store: (messages) => commitIntake(deps.store.writer, deps.events.messages(messages)),
  });
  const stopWatching = watchForStalls(socket, { time, waiting: stanzas.waiting, end });
  const tally = watchTally(socket, deps.store.now, (facts) => witness.connection(deviceId, facts));
  const context = { ...deps, socket, auth, turns, end, endedBy: () => reason, caughtUp, recovery, tally };
  const life = live(context, () => {
    acks.fail();
    stopWatching();
  });
  const sending: SendDeps = {
    socket,
    encryption: auth,
    time,
    acks,
    composer,
    memory: deps.memory,
    directory,
    sessions: createSessions(socket, time),
    groups,
    tokens: createPrivacyTokens(socket, time),
    lockedUntil: life.lockedUntil,
  };
  return surface(sending, { caughtUp, groups, channels: createChannels(socket), hosts, life });
}

interface Life {
  isOpen(): boolean;
  lockedUntil(): number | null;
  close(): Promise<void>;
}

/** Follows the connection from its first byte to its end and tells the owner. */
function live(context: Context, onClosed: () => void): Life {
  const { socket, auth, turns, events } = context;
  let qrs = 0;
  let open = false;
  let closing = false;
  let lockedUntil: number | null = null;
  // One after another, so that "linked" is told before the restart that follows it.
  let told: Promise<void> = Promise.resolve();
  const tell = (step: () => Promise<void> | void): void => {
    told = told
      .then(step)
      .catch((error: unknown) => context.log.error({ err: error }, "an event handler failed"));
  };
  const stopWatching = watchConnecting(socket, context.store.time, context.end);

  async function settled(): Promise<void> {
    await context.store.time.within(
      SETTLE_MS,
      Promise.all([turns.idle(), auth.flushed().catch(() => undefined)]),
    );
  }

  function ended(error: unknown): void {
    // Baileys throws away what it still buffers once this handler returns.
    socket.ev.flush();
    stopWatching();
    open = false;
    context.caughtUp.end();
    onClosed();
    const closed = context.endedBy() ?? closedBy(error);
    context.tally.closed(closed.code);
    tell(async () => {
      await settled();
      if (!closing) events.closed(closed);
    });
  }

  socket.ev.on("connection.update", (update: Partial<ConnectionState>) => {
    if (update.qr) {
      stopWatching();
      events.qr(update.qr, qrs++ === 0 ? FIRST_QR_MS : NEXT_QR_MS);
    }
    if (update.reachoutTimeLock) {
      const { isActive, timeEnforcementEnds } = update.reachoutTimeLock;
      lockedUntil = isActive ? (timeEnforcementEnds?.getTime() ?? null) : null;
    }
    if (update.isNewLogin)
      tell(async () => {
        auth.saveCreds();
        await auth.flushed();
        const identity = identityOf(auth.creds);
        if (identity) events.linked(identity);
      });
    if (update.connection === "open") {
      stopWatching();
      open = true;
      context.caughtUp.opened();
      context.tally.opened();
      void context.caughtUp.done.then(() => (open ? context.recovery.caughtUp() : undefined));
      const identity = identityOf(auth.creds);
      if (identity) tell(() => events.open(identity));
    }
    if (update.connection === "close") ended(update.lastDisconnect?.error);
  });

  return {
    isOpen: () => open,
    lockedUntil: () => lockedUntil,
    async close() {
      closing = true;
      socket.ev.flush();
      await socket.end(undefined);
      await told;
      await settled();
    },
  };
}

function surface(
  sending: SendDeps,
  parts: {
    caughtUp: CaughtUp;
    groups: ReturnType<typeof createGroups>;
    channels: Channels;
    hosts: MediaHostsSource;
    life: Life;
  },
): WhatsAppConnection {
  const { groups, channels, hosts, life } = parts;
  const { socket, time } = sending;
  return {
    async send(message) {
      if (!life.isOpen()) return { kind: "unknown", reason: "The number is not connected." };
      return sendMessage(sending, message);
    },
    caughtUp: () => parts.caughtUp.done,
    groups: groups.all,
    channel: channels.find,
    followChannel: channels.follow,
    unfollowChannel: channels.unfollow,
    requestPairingCode: (number) => socket.requestPairingCode(number),
    markRead: (chat, id, participant) =>
      socket.readMessages([{ remoteJid: chat, id, participant: participant ?? undefined, fromMe: false }]),
    typing: (chat, on) => socket.sendPresenceUpdate(on ? "composing" : "paused", chat),
    mediaHosts: async () => (await hosts.get()).hosts,
    reuploadMedia: (message, timeoutMs) => requestReupload(socket, message, timeoutMs, time),
    async logout() {
      await socket.logout();
      await life.close();
    },
    close: life.close,
  };
}
