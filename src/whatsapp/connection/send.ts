import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { hasFile } from "../../model/messages.ts";
import type { Ack, Acks } from "./acks.ts";
import type { DeviceMemory } from "./device-memory.ts";
import { baileys } from "../baileys.ts";
import type { Composed, Composer } from "../content/compose.ts";
import { isChannel, isGroup, isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import type { OutgoingMessage, SendOutcome } from "../port.ts";
import { POLL_META } from "../content/to-whatsapp-poll.ts";

const ACK_TIMEOUT_MS = 15_000;
const STALE_DEVICES = 479;
const REACHOUT_LOCKED = 463;
const RATE_OVERLIMIT = 429;

const LIMITED: SendOutcome = { kind: "limited", reason: "WhatsApp limits how often it may be asked (429)." };

export interface SendDeps {
  socket: WASocket;
  acks: Acks;
  composer: Pick<Composer, "compose">;
  memory: DeviceMemory;
  /** When WhatsApp's reach-out lock ends, milliseconds; null when it has not said. */
  lockedUntil(): number | null;
}

/** Sends one message and waits for the server's ack. Never throws; see `SendOutcome` for what the outcomes mean. */
export async function sendMessage(deps: SendDeps, wanted: OutgoingMessage): Promise<SendOutcome> {
  const reachable = await findDevices(deps, wanted.jid).catch(describeFailure);
  if (reachable.kind !== "found") return reachable;
  const message = { ...wanted, jid: reachable.jid };
  const { waId, jid } = message;
  const composed = await deps.composer.compose(message).catch(describeFailure);
  if (composed.kind !== "composed") return composed;
  const wait = deps.acks.expect(waId, ACK_TIMEOUT_MS);
  failpoint("before-encrypt");
  try {
    await write(deps.socket, message, composed);
  } catch (error) {
    wait.cancel();
    return describeFailure(error);
  }
  failpoint("before-ack");
  const ack = await wait.result;
  failpoint("after-ack");
  return describeAck(deps, jid, ack);
}

async function write(
  socket: WASocket,
  { waId, jid, draft }: OutgoingMessage,
  composed: Composed,
): Promise<void> {
  const { message } = composed;
  if (hasFile(draft) && isChannel(jid)) return socket.sendNode(channelPost(jid, waId, composed));
  await socket.relayMessage(jid, message, {
    messageId: waId,
    ...(draft.kind === "poll" && { additionalNodes: [POLL_META] }),
  });
}

/** Baileys writes posts without naming what kind of file they hold and how it is stored; WhatsApp refuses them. */
function channelPost(jid: string, id: string, { message, handle }: Composed): BinaryNode {
  const { messageContextInfo: _, ...content } = message;
  const { audioMessage } = content;
  const field = baileys.getContentType(content)?.replace(/Message$/, "") ?? "";
  const mediatype = audioMessage?.ptt ? "ptt" : field;
  return {
    tag: "message",
    attrs: { to: jid, id, type: "media", ...(handle === undefined ? {} : { media_id: handle }) },
    content: [
      { tag: "plaintext", attrs: { mediatype }, content: baileys.proto.Message.encode(content).finish() },
    ],
  };
}

/**
 * Makes sure that there is somebody to write to. Baileys would send a message without any content to a person without
 * devices, and the server would accept it. A number may be known under another form of it (Brazilian ones with or without
 * their ninth digit): WhatsApp then names the form that counts.
 */
async function findDevices(
  deps: SendDeps,
  jid: string,
): Promise<SendOutcome | { kind: "found"; jid: string }> {
  if (!isPn(jid) && !isLid(jid)) return { kind: "found", jid };
  const { socket, memory } = deps;
  const known = memory.otherForms.get(jid) ?? jid;
  if (await hasDevices(socket, known)) return { kind: "found", jid: known };
  if (isLid(jid)) return { kind: "unknown", reason: "WhatsApp did not name the devices of this contact." };
  const [answer] = (await socket.onWhatsApp(jid)) ?? [];
  if (!answer?.exists) return { kind: "refused", code: 404, reason: "not_on_whatsapp" };
  const form = withoutDevice(answer.jid);
  if (form === known || !(await hasDevices(socket, form)))
    return { kind: "unknown", reason: "WhatsApp did not name the devices of this number." };
  memory.otherForms.set(jid, form);
  return { kind: "found", jid: form };
}

/** The same question that the send is about to ask, so that it finds the answer in the cache. */
async function hasDevices(socket: WASocket, jid: string): Promise<boolean> {
  const own = isLid(jid) ? socket.user?.lid : socket.user?.id;
  const devices = await socket.getUSyncDevices([withoutDevice(own), jid], true, false);
  return devices.some(({ user }) => user === userOf(jid));
}

function describeAck({ socket, memory, lockedUntil }: SendDeps, jid: string, ack: Ack): SendOutcome {
  switch (ack.kind) {
    case "accepted":
      noteParticipants(memory, jid, ack.participantHash);
      return { kind: "sent" };
    case "timeout":
      return { kind: "unknown", reason: "WhatsApp has not acknowledged it in time." };
    case "closed":
      return { kind: "unknown", reason: "The connection closed before WhatsApp acknowledged it." };
    case "refused": {
      if (ack.code === STALE_DEVICES) void memory.userDevices.del(userOf(jid));
      if (isGroup(jid)) void forgetWhoHasOurKey(socket, jid);
      if (ack.code === RATE_OVERLIMIT) return LIMITED;
      const until = ack.code === REACHOUT_LOCKED ? lockedUntil() : null;
      return {
        kind: "refused",
        code: ack.code,
        reason: `WhatsApp refused it with error ${ack.code}.`,
        ...(until === null ? {} : { until }),
      };
    }
  }
}

/**
 * Nobody got a refused message, nor our sender key that came with it; Baileys has noted that they have the key, and none of
 * them could read the next message.
 */
async function forgetWhoHasOurKey({ authState }: WASocket, group: string): Promise<void> {
  // What cannot be stored closes the connection by itself.
  await outsideTransactions(async () => authState.keys.set({ "sender-key-memory": { [group]: null } })).catch(
    () => undefined,
  );
}

// Another hash than last time: the server knows other devices of this contact than we have written to.
function noteParticipants(memory: DeviceMemory, jid: string, hash: string | null): void {
  if (hash === null) return;
  const before = memory.participantHashes.get(jid);
  memory.participantHashes.set(jid, hash);
  if (before !== undefined && before !== hash) void memory.userDevices.del(userOf(jid));
}

/** The parts of a Boom error that say who refused. `data` is the server's own code where it gave one. */
interface Failure {
  message?: string;
  data?: unknown;
  output?: { statusCode?: number };
}

function describeFailure(error: unknown): SendOutcome {
  const { message = String(error), data, output } = error as Failure;
  const code = typeof data === "number" ? data : (output?.statusCode ?? 0);
  if (message === "All encryptions failed")
    return {
      kind: "refused",
      code: 0,
      reason: "No device of the recipient has keys that it could be encrypted for.",
    };
  if (code === RATE_OVERLIMIT) return LIMITED;
  // 408 and 428 are Baileys' own words for a lost connection; others from the server will not pass.
  const final = code >= 400 && code < 500 && ![408, 428].includes(code);
  return final ? { kind: "refused", code, reason: message } : { kind: "unknown", reason: message };
}
