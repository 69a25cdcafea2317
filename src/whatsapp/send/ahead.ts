import type { WASocket } from "@whiskeysockets/baileys";
import type { SecretBox } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import type { ChatTimer } from "../content/chat-timer.ts";
import { toWhatsApp } from "../content/to-whatsapp.ts";
import { failpoint, hasFailpoints } from "../../model/failpoint.ts";
import { isForBaileys } from "../../model/mixed-ways.ts";
import type { OnWay, OtherWay } from "../everyday/classify.ts";
import { encrypt, RatchetRefused } from "../everyday/ratchet.ts";
import { openSession, type StoredRecord } from "../everyday/record.ts";
import { isLid, isPn } from "../jids.ts";
import type { EncryptedAhead, OutgoingMessage } from "../port.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { Encrypted } from "../signal/encrypt.ts";
import { withLock } from "../signal/lock.ts";
import { plaintextsFor } from "./plaintexts.ts";
import type { ChatTimers } from "./chat-timers.ts";
import type { Directory } from "../devices/recipients.ts";
import type { Recipients } from "./targets.ts";
import { createLru } from "../../model/lru.ts";

/** Messages that are encrypted and wait to be sent; what is forgotten is encrypted once more. */
const MOST_WAITING = 500;

/** What encrypting ahead needs of its connection. */
interface AheadDeps {
  socket: Pick<WASocket, "signalRepository" | "authState">;
  auth: Pick<AuthState, "peek" | "stage">;
  box: Pick<SecretBox, "hmac">;
  directory: Pick<Directory, "knownRecipients">;
  timers: Pick<ChatTimers, "peek">;
  /** Null: nothing is encrypted ahead. */
  onWay: OnWay | null;
}

/** Messages of one connection that are encrypted by the commit that stores them. */
export interface Ahead {
  /** Null when it takes more than memory and arithmetic. */
  encrypt(message: OutgoingMessage): EncryptedAhead | null;
  /** What was encrypted for exactly these, first the own devices; null when nothing was. It is given out once. */
  take(waId: string, recipients: Recipients): Encrypted[] | null;
}

interface WaitingMessage {
  /** Devices and their sessions, in the order of `encrypted`. */
  sessions: string;
  encrypted: Encrypted[];
}

interface EncryptedForAll {
  encrypted: Encrypted[];
  changed: Record<string, StoredRecord>;
}

/** What was encrypted ahead, for crash tests: who asks for one of them once more encrypts it anew. */
const encryptedBefore = hasFailpoints ? createLru<string, true>(MOST_WAITING) : null;

/**
 * Encrypts a text to one person in the turn of the event loop in which its commit is given to the writer: sessions and
 * outbox row are stored together, and sending costs no commit of its own. It is tried only for what can leave at once;
 * what does not leave after all (the line is gone, the devices have changed, WhatsApp wants it again) is encrypted anew, and
 * its position of the ratchet stays unused, as that of a message that was lost.
 */
export function createAhead({ socket, auth, box, directory, timers, onWay }: AheadDeps): Ahead {
  const waiting = createLru<string, WaitingMessage>(MOST_WAITING);

  /** Devices, and which session each has: a device may get another one while a message waits. */
  function sessionsOf({ jid, own, theirs }: Recipients): string {
    const named = [...own, ...theirs].map((target) => {
      const record = auth.peek("session", addressOf(target.session)) as StoredRecord | null | undefined;
      return `${target.jid}=${target.session}=${(record && openSession(record)?.key) ?? ""}`;
    });
    return [jid, ...named].join(" ");
  }

  const addressOf = (session: string): string => socket.signalRepository.jidToSignalProtocolAddress(session);

  function tryAll(message: OutgoingMessage): { recipients: Recipients; all: EncryptedForAll } | OtherWay {
    const { jid, draft } = message;
    if (draft.kind !== "text") return "kind";
    if (!(isPn(jid) || isLid(jid))) return "not_a_person";
    const recipients = directory.knownRecipients(jid);
    if (recipients === null || recipients.theirs.length === 0) return "devices_unknown";
    const timer = timers.peek(namesOf(jid, recipients));
    if (timer === undefined) return "timer_unknown";
    try {
      const all = encryptAll({ socket, auth, box }, message, recipients, timer);
      return typeof all === "string" ? all : { recipients, all };
    } catch (error) {
      // A session that the everyday ratchet does not take: sending finds out what is to be done.
      return error instanceof RatchetRefused ? error.reason : "no_session";
    }
  }

  return {
    encrypt(message) {
      if (onWay === null || isForBaileys()) return null;
      const tried = tryAll(message);
      if (typeof tried === "string") return (onWay("ahead", tried), null);
      const { waId } = message;
      const { encrypted, changed } = tried.all;
      const sessions = sessionsOf(tried.recipients);
      const staged = auth.stage({ session: changed });
      return {
        statements: staged.statements,
        committed() {
          staged.committed();
          failpoint("after-ahead-commit");
          waiting.set(waId, { sessions, encrypted });
          encryptedBefore?.set(waId, true);
        },
        failed: staged.failed,
      };
    },
    take(waId, recipients) {
      const found = waiting.get(waId);
      waiting.delete(waId);
      const fits = found?.sessions === sessionsOf(recipients);
      if (!fits && encryptedBefore?.has(waId)) failpoint("before-encrypt-anew");
      if (found !== undefined) onWay?.("ahead", fits ? null : "devices_changed");
      return fits ? found!.encrypted : null;
    },
  };
}

/** Each device's ciphertext, and the sessions as they are after it. Nothing is stored yet. */
function encryptAll(
  { socket, auth, box }: Pick<AheadDeps, "socket" | "auth" | "box">,
  { waId, draft }: OutgoingMessage,
  recipients: Recipients,
  timer: ChatTimer,
): EncryptedForAll | OtherWay {
  const message = toWhatsApp(draft, waId, box, { timer });
  const encoded = baileys.proto.Message.encode(message).finish();
  const plaintexts = plaintextsFor(socket, recipients, message, encoded);
  if (!withLock.isFree(plaintexts.map(({ address }) => address))) return "locked";
  const identity = baileys.generateSignalPubKey(socket.authState.creds.signedIdentityKey.public);
  const changed: Record<string, StoredRecord> = {};
  const encrypted: Encrypted[] = [];
  for (const { address, content } of plaintexts) {
    const record = changed[address] ?? (auth.peek("session", address) as StoredRecord | null | undefined);
    if (!record) return "no_session";
    const next = encrypt(record, content, identity);
    changed[address] = next.record;
    encrypted.push({ type: "msg", ciphertext: next.ciphertext });
  }
  return { encrypted, changed };
}

/** All names of somebody who is written to. */
const namesOf = (jid: string, { lid }: Recipients): string[] => [...new Set([jid, lid ?? jid])];
