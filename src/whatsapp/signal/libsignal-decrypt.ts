/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
interface Chain {
  chainKey: { counter: number; key?: Buffer };
  chainType: number;
  messageKeys: Record<number, Buffer>;
}

/** One of a contact's sessions, as libsignal holds it in memory. */
interface SessionEntry {
  _chains: Record<string, Chain>;
  currentRatchet: object;
  pendingPreKey?: object;
  indexInfo: { used: number };
}

/** The parts of libsignal's class that are replaced or called. */
export interface SessionCipherClass {
  prototype: {
    decryptWithSessions(
      data: Buffer,
      sessions: SessionEntry[],
    ): Promise<{ session: SessionEntry; plaintext: Buffer }>;
    doDecryptWhisperMessage(data: Buffer, session: SessionEntry): Promise<Buffer>;
  };
}

/** libsignal's protobuf of an encrypted message. */
export interface WhisperMessageType {
  decode(data: Uint8Array): { ephemeralKey: Uint8Array };
}

const MAC_BYTES = 8;

/**
 * A `decryptWithSessions` for libsignal. Each try steps the session's ratchet and uses up message keys before the MAC is
 * checked, and the record is stored once another session fits: so a session that was merely tried would be ruined. Here a
 * failed try is undone, and the session that knows the message's ratchet key is tried first.
 */
export function decryptLeavingNoTrace(
  whisperMessage: WhisperMessageType,
  SessionError: new (message: string) => Error,
): SessionCipherClass["prototype"]["decryptWithSessions"] {
  return async function (this: SessionCipherClass["prototype"], data, sessions) {
    for (const session of likelyFirst(whisperMessage, data, sessions)) {
      const undo = remember(session);
      try {
        const plaintext = await this.doDecryptWhisperMessage(data, session);
        session.indexInfo.used = Date.now();
        return { session, plaintext };
      } catch {
        undo();
      }
    }
    throw new SessionError("No matching sessions found for message");
  };
}

function likelyFirst(
  whisperMessage: WhisperMessageType,
  data: Buffer,
  sessions: SessionEntry[],
): SessionEntry[] {
  if (sessions.length < 2) return sessions;
  const ratchetKey = readRatchetKey(whisperMessage, data);
  const knows = (session: SessionEntry): number => (ratchetKey in session._chains ? 0 : 1);
  return [...sessions].sort((a, b) => knows(a) - knows(b));
}

function readRatchetKey(whisperMessage: WhisperMessageType, data: Buffer): string {
  try {
    const { ephemeralKey } = whisperMessage.decode(data.subarray(1, -MAC_BYTES));
    return Buffer.from(ephemeralKey).toString("base64");
  } catch {
    // Not a message at all: every session will say so.
    return "";
  }
}

// Shallow copies are enough: libsignal replaces the buffers in here, it never writes into one.
function remember(session: SessionEntry): () => void {
  const ratchet = { ...session.currentRatchet };
  const pendingPreKey = session.pendingPreKey;
  const chains: Record<string, Chain> = {};
  for (const [key, chain] of Object.entries(session._chains))
    chains[key] = { ...chain, chainKey: { ...chain.chainKey }, messageKeys: { ...chain.messageKeys } };
  return () => {
    session.currentRatchet = ratchet;
    session._chains = chains;
    if (pendingPreKey === undefined) delete session.pendingPreKey;
    else session.pendingPreKey = pendingPreKey;
  };
}
