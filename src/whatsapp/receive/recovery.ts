import type { Chat, WAMessage, WASocket } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import type { Incoming } from "../../model/messages.ts";
import { baileys } from "../baileys.ts";
import { timerSetAt, type ChatTimer } from "../content/chat-timer.ts";
import { isGroup, isLid, isPn, withoutDevice } from "../jids.ts";
import { linkedAt } from "../life/linked-at.ts";
import { SECOND_MS } from "../../model/time.ts";
import type { Acks } from "../send/acks.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import type { MissingMessage, Witness } from "../port.ts";

/** More than that waits for the next connection: each is a message to the phone. */
const ASKED_AT_ONCE = 50;
/** WhatsApp has a question that it has not acknowledged by then, or it has not. */
const ACK_MS = 15 * SECOND_MS;
/** In one commit. */
const TIMERS_AT_ONCE = 100;

/** The setting of a chat, which goes by these names. */
interface NamedTimer {
  names: string[];
  timer: ChatTimer;
}

const { PLACEHOLDER_MESSAGE_RESEND } = baileys.proto.Message.PeerDataOperationRequestType;

/** What getting missing messages from the phone needs. */
interface RecoveryDeps {
  deviceId: number;
  log: Logger;
  now(): number;
  witness: Pick<Witness, "askable" | "unknownOf">;
  memory: Pick<DeviceMemory, "askedPhone">;
  acks: Pick<Acks, "expect">;
  /** Resolves when everything is stored that has come so far. */
  settled(): Promise<void>;
  read(messages: WAMessage[]): Promise<Incoming[]>;
  /** Stores messages; rejects when that fails. */
  store(messages: Incoming[]): Promise<void>;
  /** Stores after how long messages of chats disappear; rejects when that fails. */
  storeTimers(timers: NamedTimer[]): Promise<void>;
}

/**
 * Gets what is missing from the owner's phone: messages that could not be read on an earlier connection are asked for again,
 * and what the phone's history names is compared with what is here.
 */
export interface Recovery {
  /** The connection is open, and what waited at WhatsApp has come. */
  caughtUp(): Promise<void>;
}

/** Listens from now on; see `Recovery`. */
export function startRecovery(
  socket: Pick<WASocket, "ev" | "sendPeerDataOperationMessage" | "authState">,
  deps: RecoveryDeps,
): Recovery {
  const startedAt = deps.now();
  const unlessItFails = (what: string, work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => {
      deps.log.warn({ err: error, device: deps.deviceId }, what);
    });

  async function ask(message: MissingMessage): Promise<void> {
    const id = await socket.sendPeerDataOperationMessage({
      placeholderMessageResendRequest: [{ messageKey: keyOf(message) }],
      peerDataOperationRequestType: PLACEHOLDER_MESSAGE_RESEND,
    });
    // Written is not asked: a line that ends now takes the question with it, and the next connection asks again.
    const ack = deps.acks.expect(id);
    ack.written(ACK_MS);
    if ((await ack.result).kind === "accepted") deps.memory.askedPhone.set(message.id, true);
  }

  async function compare(messages: WAMessage[]): Promise<void> {
    const linked = linkedAt(socket.authState.creds);
    // Phones begin with the newest.
    const since = messages
      .filter((message) => writtenAt(message) > linked)
      .toReversed()
      .toSorted((one, other) => writtenAt(one) - writtenAt(other));
    if (since.length === 0) return;
    await deps.settled();
    const unknown = await deps.witness.unknownOf(deps.deviceId, await deps.read(since));
    if (unknown.length > 0) await deps.store(unknown);
  }

  async function learnTimers(chats: Chat[]): Promise<void> {
    const timers = chats.flatMap(timerOf);
    for (let from = 0; from < timers.length; from += TIMERS_AT_ONCE)
      await deps.storeTimers(timers.slice(from, from + TIMERS_AT_ONCE));
  }

  socket.ev.on("messaging-history.set", ({ messages, chats }) => {
    void unlessItFails("could not compare the phone's history", () => compare(messages));
    void unlessItFails("could not store which chats have disappearing messages", () => learnTimers(chats));
  });

  return {
    caughtUp: () =>
      unlessItFails("could not ask the phone for missing messages", async () => {
        const missing = await deps.witness.askable(deps.deviceId, startedAt);
        const due = missing.filter(({ id }) => !deps.memory.askedPhone.has(id)).slice(0, ASKED_AT_ONCE);
        await Promise.all(due.map(ask));
      }),
  };
}

/** What the history says of a chat whose messages disappear. A later word of either side is newer than this one. */
function timerOf(chat: Chat): NamedTimer[] {
  const { id, pnJid, lidJid, ephemeralExpiration, ephemeralSettingTimestamp } = chat;
  const seconds = baileys.toNumber(ephemeralExpiration);
  const since = baileys.toNumber(ephemeralSettingTimestamp);
  const names = [id, pnJid, lidJid]
    .map(withoutDevice)
    .filter((name) => isPn(name) || isLid(name) || isGroup(name));
  if (names.length === 0 || !(seconds > 0)) return [];
  const timer = timerSetAt(seconds, since);
  return timer === null ? [] : [{ names: [...new Set(names)], timer }];
}

/** Unix seconds. */
const writtenAt = ({ messageTimestamp }: WAMessage): number => baileys.toNumber(messageTimestamp);

function keyOf({ jid, participant, fromMe, id }: MissingMessage): WAMessage["key"] {
  return { remoteJid: jid, fromMe, id, participant: participant ?? undefined };
}
