import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { SECOND_MS } from "../../model/time.ts";
import { commitIntake, joinIntakes } from "../../store/write/intake.ts";
import { NotOwner } from "../../store/errors.ts";
import { createAhead } from "../send/ahead.ts";
import { syncAppStateApart } from "../life/app-state.ts";
import { watchCaughtUp, type CaughtUp } from "../life/caught-up.ts";
import { listenForContacts } from "../receive/address-book.ts";
import { takeCalls } from "../receive/calls.ts";
import { changeChat, listenForChatSettings } from "../life/chat-settings.ts";
import { watchClock } from "../life/clock.ts";
import { watchForStalls } from "../life/stall-watchdog.ts";
import { makeFirstPreKeys, uploadFirstPreKeys } from "../life/first-pre-keys.ts";
import { emitWhatIsListenedFor } from "../receive/frame-events.ts";
import { writeTogether } from "../send/frame-writes.ts";
import { type MediaHostsSource } from "../media/hosts.ts";
import { requestLinkingCode } from "../life/linking-code.ts";
import { createHistoryImport, type HistoryImport } from "../history/importer.ts";
import { listenForLids } from "../receive/lid-changes.ts";
import { live, type ConnectionLife } from "../life/life.ts";
import { linkedAt } from "../life/linked-at.ts";
import { acknowledgeReceipts } from "../everyday/receipts.ts";
import { createEverydayReceiving } from "../everyday/receive.ts";
import { takeTurnsByChat, type ChatTurns } from "../receive/chat-turns.ts";
import { createChannels, type Channels } from "../groups/socket-channels.ts";
import type { SendOutcome, WhatsAppConnection } from "../port.ts";
import { noteNewIdentity } from "../receive/new-identities.ts";
import { listenForMoves, listenForPresence, watchPresence } from "../receive/presence.ts";
import { acknowledgeWhenStored } from "../receive/receipt-acks.ts";
import { askForDetails, setBlocked } from "../devices/contact-details.ts";
import { checkNumbers } from "../devices/number-checks.ts";
import { forgetDevices } from "../devices/participants.ts";
import { createPrivacyTokens } from "../send/privacy-tokens.ts";
import { requestReupload } from "../media/reupload.ts";
import { createPasskeyLinking, type PasskeyLinking } from "../passkey/linking.ts";
import { addWaitingRefs } from "../passkey/waiting-refs.ts";
import { startRecovery } from "../receive/recovery.ts";
import { createSessions } from "../send/sessions.ts";
import { rememberNothingSent } from "../send/resend.ts";
import { sendMessage, type SendDeps } from "../send/send.ts";
import { noteGroupTimers, setTimer } from "../send/timer-setting.ts";
import type { ChatTimers } from "../send/chat-timers.ts";
import type { Store } from "../../store/store.ts";
import { closeQuickly, isRefusedClient } from "../life/socket-end.ts";
import { createProfile } from "../life/profile.ts";
import { createGroupAdmin } from "../groups/group-admin.ts";
import { type Groups } from "../groups/socket-groups.ts";
import { rotateSignedPreKey } from "../life/signed-pre-key.ts";
import { createStanding, type Standing } from "../life/standing.ts";
import { watchTally } from "../life/tally.ts";
import { dateUndated } from "../stanza-numbers.ts";
import { listenToStanzas } from "./wire.ts";
import {
  makeSocket,
  prepare,
  STORAGE_FAILED,
  TAKEN,
  type ConnectionDeps,
  type ConnectionParts,
} from "./parts.ts";

const NOT_CONNECTED: SendOutcome = {
  kind: "unknown",
  reason: "The number is not connected.",
  blame: "line",
};

/** Opens a connection with the number's credentials, or with new ones that wait to be linked. */
export async function openConnection(deps: ConnectionDeps): Promise<WhatsAppConnection> {
  const parts = await prepare(deps);
  await parts.receiving.journal.replay();
  await makeFirstPreKeys(parts.auth);
  const socket = makeSocket(deps, parts);
  parts.late.socket = socket;
  const turns = takeTurns(socket, deps, parts);
  attach(socket, deps, parts);
  const { time } = deps.store;
  const { onWay } = deps;
  const caughtUp = watchCaughtUp(socket, {
    time,
    unread: () => parts.stanzas.waiting().messages,
    tell: (count) => deps.listener.tell({ type: "waiting", count }),
    end: parts.end,
  });
  const passkey = createPasskeyLinking({
    ...deps,
    socket,
    time,
    enabled: deps.passkeys,
    auth: parts.auth,
    end: parts.end,
  });
  const standing = createStanding(socket, { ...deps, time });
  const life = follow(socket, deps, parts, { turns, caughtUp, passkey, standing });
  const sending: SendDeps = {
    socket,
    encryption: { creds: parts.auth.creds, keys: parts.auth.keys, onWay },
    ahead: createAhead({ ...parts, socket, box: deps.store.box, onWay }),
    time,
    acks: parts.acks,
    composer: parts.composer,
    memory: deps.memory,
    directory: parts.directory,
    sessions: createSessions(socket, time, deps.memory),
    groups: parts.groups,
    tokens: createPrivacyTokens(socket, time),
    standing,
  };
  const { groups, hosts, timers } = parts;
  const { store } = deps;
  const channels = createChannels(socket);
  return surface(sending, { caughtUp, groups, channels, hosts, life, passkey, timers, store });
}

function takeTurns(
  socket: WASocket,
  { store, onWay }: ConnectionDeps,
  { auth, receiving, stanzas, late }: ConnectionParts,
): ChatTurns {
  const { journal, own } = receiving;
  const { now } = store;
  if (onWay !== null) acknowledgeReceipts(socket, onWay);
  return takeTurnsByChat(socket, {
    own,
    everyday:
      onWay === null
        ? undefined
        : createEverydayReceiving({ socket, auth, journal, stanzas, own, now, onWay }),
    async onHandled({ attrs }) {
      if (late.closed !== null || !stanzas.isUnread(attrs)) return;
      // A failure has closed the connection.
      await receiving.missing.refused(attrs).catch(() => undefined);
    },
  });
}

/** Everything that listens to the socket from its first byte on, and what Baileys would do otherwise. */
function attach(socket: WASocket, deps: ConnectionDeps, parts: ConnectionParts): void {
  const { store, listener, deviceId, witness, memory } = deps;
  const { auth, receiving, stanzas, acks, retries, groups, late } = parts;
  const clock = (late.clock = watchClock(socket, store));
  const whatsAppNow = (): number => store.now() + clock.ahead() * SECOND_MS;
  closeQuickly(socket, store.time);
  syncAppStateApart(socket);
  rememberNothingSent(socket);
  addWaitingRefs(socket);
  emitWhatIsListenedFor(socket);
  writeTogether(socket);
  acknowledgeWhenStored(socket, { own: receiving.own, now: store.now, listener });
  listenToStanzas(socket, {
    stanzas,
    acks,
    retries,
    groups,
    listener,
    own: receiving.own,
    now: store.now,
    whatsAppNow,
    onDevicesChanged(jids) {
      const { pn, lid } = receiving.own();
      forgetDevices(memory, jids.length > 0 ? jids : [pn, lid]);
    },
    onNewIdentity: (jids) => noteNewIdentity({ auth, memory, own: receiving.own }, jids),
    onAskedTooOften: (ms) => void (memory.asking.pausedUntil = store.now() + ms),
    onGroupTimers: (changes, since) => void noteGroupTimers(store, parts.timers, changes, since),
    onRetryRequest: (waId, jid) => witness.sentElsewhere(deviceId, { waId, jid }),
  });
  uploadFirstPreKeys(socket, auth);
  rotateSignedPreKey(socket, auth, store.time);
  listenForLids(socket, parts.lidChanges);
  listenForContacts(socket, listener);
  listenForChatSettings(socket, listener);
  listenForPresence(socket, listener);
  listenForMoves(socket, listener);
  takeCalls(socket, {
    ...receiving,
    rejects: () => listener.rejectsCalls?.() ?? false,
    store: (messages) => commitIntake(store.writer, listener.messages(messages)),
    onFailed(error, mayComeAgain) {
      if (error instanceof NotOwner) return parts.end(TAKEN);
      deps.log.error({ err: error, device: deviceId }, "could not store a call");
      if (mayComeAgain) parts.end(STORAGE_FAILED);
    },
  });
  socket.ws.prependListener("CB:call", (node: BinaryNode) => dateUndated(node, whatsAppNow()));
  socket.ev.on("creds.update", () => auth.saveCreds());
  socket.ev.on("messages.upsert", () => failpoint("after-receipt"));
}

function follow(
  socket: WASocket,
  deps: ConnectionDeps,
  parts: ConnectionParts,
  watching: { turns: ChatTurns; caughtUp: CaughtUp; passkey: PasskeyLinking; standing: Standing },
): ConnectionLife {
  const { deviceId, witness, store, listener, log, memory } = deps;
  const { auth, receiving, stanzas, acks, end, late, version, timers } = parts;
  const recovery = startRecovery(socket, {
    deviceId,
    log,
    now: store.now,
    witness,
    memory,
    acks,
    settled: watching.turns.idle,
    read: receiving.read,
    store: (messages) => commitIntake(store.writer, listener.messages(messages)),
    storeTimers: (named) =>
      commitIntake(store.writer, joinIntakes(...named.map((one) => timers.learned(one.names, one.timer)))),
  });
  const stopWatching = watchForStalls(socket, { time: store.time, waiting: stanzas.waiting, end });
  return live({
    socket,
    auth,
    listener,
    log,
    time: store.time,
    end,
    endedBy: () => late.closed,
    ...watching,
    async onCaughtUp() {
      late.history = importHistory(socket, deps, parts);
      await recovery.caughtUp();
    },
    tally: watchTally(socket, store.now, (facts) => witness.connection(deviceId, facts)),
    version,
    onClosed(code) {
      if (isRefusedClient(code)) deps.versions.refused(version);
      acks.fail();
      late.history?.stop();
      watching.passkey.end();
      stopWatching();
    },
  });
}

/** Once what waited has come: live messages go first. Null: history is not imported. */
function importHistory(
  socket: WASocket,
  { deviceId, log, store, history: source, listener }: ConnectionDeps,
  { auth, receiving, hosts }: ConnectionParts,
): HistoryImport | null {
  if (source === null) return null;
  const imports = createHistoryImport({
    deviceId,
    log,
    time: store.time,
    source,
    journal: receiving.journal,
    receiving,
    hosts: async () => (await hosts.get()).hosts,
    linkedAt: () => linkedAt(auth.creds),
    storePairs: (pairs) => socket.signalRepository.lidMapping.storeLIDPNMappings(pairs),
    store: async (messages) => listener.imported?.(messages),
  });
  imports.wake();
  return imports;
}

function surface(
  sending: SendDeps,
  parts: {
    caughtUp: CaughtUp;
    groups: Groups;
    channels: Channels;
    hosts: MediaHostsSource;
    life: ConnectionLife;
    passkey: PasskeyLinking;
    timers: ChatTimers;
    store: Pick<Store, "writer" | "now">;
  },
): WhatsAppConnection {
  const { groups, channels, hosts, life, passkey } = parts;
  const { socket, time } = sending;
  return {
    async send(message) {
      if (!life.isOpen()) return NOT_CONNECTED;
      const outcome = await sendMessage(sending, message);
      // Whatever failed on a connection that is closed by now failed because of that.
      const isClosed = !life.isOpen() || !socket.ws.isOpen;
      return outcome.kind === "unknown" && isClosed ? { ...outcome, blame: "line" } : outcome;
    },
    encryptAhead(message) {
      if (life.isOpen()) return sending.ahead.encrypt(message);
      sending.encryption.onWay?.("ahead", "offline");
      return null;
    },
    caughtUp: () => parts.caughtUp.done,
    groups: groups.all,
    groupAdmin: createGroupAdmin(() => socket),
    profile: createProfile(socket),
    group: groups.one,
    checkNumbers: (numbers) => checkNumbers(socket, numbers),
    contactDetails: (jid) => askForDetails(socket, jid),
    setBlocked: (jid, blocked) => setBlocked(socket, jid, blocked),
    channel: channels.find,
    followChannel: channels.follow,
    unfollowChannel: channels.unfollow,
    requestPairingCode: (number) => requestLinkingCode(socket, time, number),
    answerPasskey: passkey.answer,
    confirmPasskey: passkey.confirm,
    markRead: (messages) =>
      socket.readMessages(
        messages.map(({ chat, id, participant }) => ({
          remoteJid: chat,
          id,
          ...(participant !== null && { participant }),
          fromMe: false,
        })),
      ),
    watchPresence: (chat) => watchPresence(socket, chat),
    goOffline: () => socket.sendPresenceUpdate("unavailable"),
    changeChat: (chat, settings, last) => changeChat(socket, chat, settings, last),
    setTimer: (chat, names, seconds) => setTimer(sending, parts, { chat, names, seconds }),
    showState: (chat, state) => socket.sendPresenceUpdate(state === "typing" ? "composing" : state, chat),
    mediaHosts: async () => (await hosts.get()).hosts,
    reuploadMedia: (message, timeoutMs) => requestReupload(socket, message, timeoutMs, time),
    async logout() {
      await socket.logout();
      await life.close();
    },
    close: life.close,
  };
}
