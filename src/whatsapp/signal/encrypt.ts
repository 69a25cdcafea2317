import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { baileys, libsignal } from "../baileys.ts";
import type { LibsignalStorage, StoredRecord } from "./libsignal.ts";
import { withLock } from "./lock.ts";
import type { OnWay, OtherWay } from "../everyday/classify.ts";
import { isForBaileys } from "../../model/mixed-ways.ts";
import { encrypt, RatchetRefused } from "../everyday/ratchet.ts";
import type { StoredRecord as Session } from "../everyday/record.ts";

/** Content for one device. */
export interface Plaintext {
  /** libsignal's address of the session: `<user>.<device>`, `<user>_1.<device>` for LIDs. */
  address: string;
  /** With its padding. */
  content: Buffer;
}

/** A message encrypted for one device. */
export interface Encrypted {
  /** `pkmsg` opens the session at the other side. */
  type: "msg" | "pkmsg";
  ciphertext: Buffer;
}

/** What encrypting for one number needs. */
export interface EncryptionDeps {
  creds: AuthenticationCreds;
  /** The number's keys themselves, not Baileys' transactions over them: a `set` is seen by every later `get` at once. */
  keys: SignalKeyStore;
  /** Told of each message whether the everyday ratchet has encrypted it for all devices, or why not; null: libsignal always does. */
  onWay: OnWay | null;
}

type Records = Record<string, StoredRecord | undefined>;

/** What libsignal asks for while it encrypts; sessions that it has stepped on are collected. */
function storageOver(
  creds: AuthenticationCreds,
  records: Records,
  changed: Record<string, StoredRecord>,
): LibsignalStorage {
  const { private: privKey, public: pubKey } = creds.signedIdentityKey;
  return {
    async loadSession(address) {
      const record = changed[address] ?? records[address];
      return record === undefined ? null : libsignal.SessionRecord.deserialize(record);
    },
    async storeSession(address, record) {
      changed[address] = record.serialize();
    },
    isTrustedIdentity: () => true,
    getOurRegistrationId: () => creds.registrationId,
    getOurIdentity: () => ({
      privKey: Buffer.from(privKey),
      pubKey: Buffer.from(baileys.generateSignalPubKey(pubKey)),
    }),
  };
}

/**
 * Encrypts one message for several devices: all sessions in one commit, after which it resolves, so that no position of a
 * ratchet is ever used twice.
 *
 * The sessions are locked until the commit is queued, not until it is done: the other devices of the number get a copy of
 * every message, and each would wait for the commit of the one before. Commits happen in the order in which they were
 * queued. When one fails, what was encrypted behind it stands on a later position, and leaves an unused one.
 *
 * @returns in the order of `plaintexts`; null for a device that could not be encrypted for
 * @throws when the sessions cannot be read or stored
 */
export async function encryptTogether(
  { creds, keys, onWay }: EncryptionDeps,
  plaintexts: Plaintext[],
): Promise<(Encrypted | null)[]> {
  const addresses = plaintexts.map(({ address }) => address);
  const { encrypted, stored } = await withLock(addresses, async () => {
    const records = (await keys.get("session", addresses)) as unknown as Records;
    const changed: Record<string, StoredRecord> = {};
    const identity = baileys.generateSignalPubKey(creds.signedIdentityKey.public);
    const storage = storageOver(creds, records, changed);
    const encrypted: (Encrypted | null)[] = [];
    const isTried = onWay !== null && !isForBaileys();
    const reasons: OtherWay[] = [];
    for (const plaintext of plaintexts) {
      const record = changed[plaintext.address] ?? records[plaintext.address];
      const everyday = isTried ? encryptEveryday(record, plaintext, identity) : null;
      if (typeof everyday === "string") reasons.push(everyday);
      if (everyday === null || typeof everyday === "string")
        encrypted.push(await encryptOne(storage, plaintext));
      else {
        changed[plaintext.address] = everyday.record;
        encrypted.push(everyday.encrypted);
      }
    }
    if (isTried) onWay("out", reasons[0] ?? null);
    // Not awaited here; `stored` is in a holder, because a promise that is returned is waited for.
    const stored = Promise.resolve(keys.set({ session: changed } as unknown as SignalDataSet));
    return { encrypted, stored };
  });
  await stored;
  failpoint("after-encrypt-commit");
  return encrypted;
}

/** Why not, when it takes more than the everyday ratchet. */
function encryptEveryday(
  record: StoredRecord | undefined,
  { content }: Plaintext,
  identity: Uint8Array,
): { encrypted: Encrypted; record: StoredRecord } | OtherWay {
  if (record === undefined) return "no_session";
  try {
    const next = encrypt(record as unknown as Session, content, identity);
    const encrypted = { type: "msg" as const, ciphertext: next.ciphertext };
    return { encrypted, record: next.record as unknown as StoredRecord };
  } catch (error) {
    return error instanceof RatchetRefused ? error.reason : "no_session";
  }
}

async function encryptOne(
  storage: LibsignalStorage,
  { address, content }: Plaintext,
): Promise<Encrypted | null> {
  try {
    const cipher = new libsignal.SessionCipher(storage, libsignal.ProtocolAddress.from(address));
    const { type, body } = await cipher.encrypt(content);
    return { type: type === PREKEY_TYPE ? "pkmsg" : "msg", ciphertext: Buffer.from(body) };
  } catch {
    return null;
  }
}

/** libsignal's number for a message that opens a session. */
const PREKEY_TYPE = 3;
