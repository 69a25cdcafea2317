import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { baileys, libsignal } from "../baileys.ts";
import type { LibsignalStorage, StoredRecord } from "./libsignal.ts";
import { withLock } from "./lock.ts";
import type { OtherWay } from "../everyday/classify.ts";
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
  /** Told of each device whether the everyday ratchet encrypts for it (null) or why not; null: libsignal always does. */
  onWay: ((reason: OtherWay | null) => void) | null;
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
    for (const plaintext of plaintexts) {
      const record = changed[plaintext.address] ?? records[plaintext.address];
      const everyday = onWay && record ? encryptEveryday(record, plaintext, identity, onWay) : null;
      if (everyday !== null) changed[plaintext.address] = everyday.record;
      encrypted.push(everyday?.encrypted ?? (await encryptOne(storage, plaintext)));
    }
    // Not awaited here; `stored` is in a holder, because a promise that is returned is waited for.
    const stored = Promise.resolve(keys.set({ session: changed } as unknown as SignalDataSet));
    return { encrypted, stored };
  });
  await stored;
  failpoint("after-encrypt-commit");
  return encrypted;
}

/** Null when it takes more than the everyday ratchet. */
function encryptEveryday(
  record: StoredRecord,
  { content }: Plaintext,
  identity: Uint8Array,
  onWay: NonNullable<EncryptionDeps["onWay"]>,
): { encrypted: Encrypted; record: StoredRecord } | null {
  try {
    const next = encrypt(record as unknown as Session, content, identity);
    onWay(null);
    const encrypted = { type: "msg" as const, ciphertext: next.ciphertext };
    return { encrypted, record: next.record as unknown as StoredRecord };
  } catch (error) {
    onWay(error instanceof RatchetRefused ? error.reason : "no_session");
    return null;
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
