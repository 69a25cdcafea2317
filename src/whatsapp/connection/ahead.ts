import type { WASocket } from "@whiskeysockets/baileys";
import type { SecretBox } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import type { ChatTimer } from "../content/chat-timer.ts";
import { toWhatsApp } from "../content/to-whatsapp.ts";
import type { OtherWay } from "../everyday/classify.ts";
import { encrypt } from "../everyday/ratchet.ts";
import type { StoredRecord } from "../everyday/record.ts";
import { isLid, isPn } from "../jids.ts";
import type { EncryptedAhead, OutgoingMessage } from "../port.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { Encrypted } from "../signal/encrypt.ts";
import { withLock } from "../signal/lock.ts";
import { plaintextsFor } from "./plaintexts.ts";
import type { ChatTimers } from "./chat-timers.ts";
import type { Directory } from "./recipients.ts";
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
  /** Told of each device; null: nothing is encrypted ahead. */
  onWay: ((reason: OtherWay | null) => void) | null;
}

/** Messages of one connection that are encrypted by the commit that stores them. */
export interface Ahead {
  /** Null when it takes more than memory and arithmetic. */
  encrypt(message: OutgoingMessage): EncryptedAhead | null;
  /** What was encrypted for exactly these, first the own devices; null when nothing was. It is given out once. */
  take(waId: string, recipients: Recipients): Encrypted[] | null;
}

interface Waiting {
  /** Sessions, in the order of `encrypted`. */
  sessions: string;
  encrypted: Encrypted[];
}

/**
 * Encrypts a text to one person in the turn of the event loop in which its commit is given to the writer: sessions and
 * outbox row are stored together, and sending costs no commit of its own. It is tried only for what can leave at once;
 * what does not leave after all (the line is gone, the devices have changed, WhatsApp wants it again) is encrypted anew, and
 * its position of the ratchet stays unused, as that of a message that was lost.
 */
export function createAhead({ socket, auth, box, directory, timers, onWay }: AheadDeps): Ahead {
  const waiting = createLru<string, Waiting>(MOST_WAITING);

  function encryptAll(
    { waId, draft }: OutgoingMessage,
    recipients: Recipients,
    timer: ChatTimer,
  ): { encrypted: Encrypted[]; changed: Record<string, StoredRecord> } | null {
    const message = toWhatsApp(draft, waId, box, { timer });
    const encoded = baileys.proto.Message.encode(message).finish();
    const plaintexts = plaintextsFor(socket, recipients, message, encoded);
    if (!withLock.isFree(plaintexts.map(({ address }) => address))) return null;
    const identity = baileys.generateSignalPubKey(socket.authState.creds.signedIdentityKey.public);
    const changed: Record<string, StoredRecord> = {};
    const encrypted: Encrypted[] = [];
    for (const { address, content } of plaintexts) {
      const record = changed[address] ?? (auth.peek("session", address) as StoredRecord | null | undefined);
      if (!record) return null;
      const next = encrypt(record, content, identity);
      changed[address] = next.record;
      encrypted.push({ type: "msg", ciphertext: next.ciphertext });
    }
    return { encrypted, changed };
  }

  return {
    encrypt(message) {
      const { waId, jid, draft } = message;
      if (onWay === null || draft.kind !== "text" || !(isPn(jid) || isLid(jid))) return null;
      const recipients = directory.knownRecipients(jid);
      if (recipients === null || recipients.theirs.length === 0) return null;
      const timer = timers.peek(namesOf(jid, recipients));
      if (timer === undefined) return null;
      let all: ReturnType<typeof encryptAll>;
      try {
        all = encryptAll(message, recipients, timer);
      } catch {
        // A session that the everyday ratchet does not take: sending finds out what is to be done.
        return null;
      }
      if (all === null) return null;
      const { encrypted, changed } = all;
      const staged = auth.stage({ session: changed });
      return {
        statements: staged.statements,
        committed() {
          staged.committed();
          encrypted.forEach(() => onWay(null));
          waiting.set(waId, { sessions: sessionsOf(recipients), encrypted });
        },
        failed: staged.failed,
      };
    },
    take(waId, recipients) {
      const found = waiting.get(waId);
      waiting.delete(waId);
      return found?.sessions === sessionsOf(recipients) ? found.encrypted : null;
    },
  };
}

/** All names of somebody who is written to. */
const namesOf = (jid: string, { lid }: Recipients): string[] => [...new Set([jid, lid ?? jid])];

const sessionsOf = ({ jid, own, theirs }: Recipients): string =>
  [jid, ...[...own, ...theirs].map((target) => `${target.jid}=${target.session}`)].join(" ");
