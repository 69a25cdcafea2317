import { createHash } from "node:crypto";
import type {
  LIDMapping,
  SignalDataSet,
  SignalKeyStore,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
  SocketConfig,
} from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import type { StanzaAttributes } from "../addresses.ts";
import type { Journal } from "./journal.ts";
import { isHosted, isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { baileys } from "../baileys.ts";
import { withLock } from "./lock.ts";
import { outsideTransactions } from "./outside-transactions.ts";
import { nameSignedPreKeys, type NamedSignedPreKeys } from "./signed-pre-keys.ts";
import { keepsOpenSession, type RetryRequests } from "./session-keeping.ts";
import type { Origin, Stanzas } from "../receive/stanzas.ts";
import { createLru } from "../../model/lru.ts";

type MakeRepository = SocketConfig["makeSignalRepository"];
type Keys = SignalKeyStoreWithTransaction;

const REMEMBERED = 5_000;
/** Baileys' `NO_MESSAGE_FOUND_ERROR_TEXT`. */
const ABSENT = "Message absent from node";
/** An empty message with its padding. */
const NOTHING = Uint8Array.of(1);

/** What the repository needs of its connection. */
export interface RepositoryDeps {
  /** The keys as they are stored, without the transactions that Baileys lays over them. */
  keys: SignalKeyStore;
  journal: Journal;
  stanzas: Stanzas;
  retries: RetryRequests;
  /** LIDs of numbers, as far as WhatsApp tells; see `createLidQuestions`. */
  lookUpLids(jids: string[]): Promise<LIDMapping[]>;
  /** The number itself, digits: a pair of it with a foreign LID is a mistake of Baileys' (see `ownPairsOnly`). */
  ownUsers(): { pn: string; lid: string | null };
  /**
   * A message could not be decrypted. Resolves when that is stored; rejects, with the connection closed, when it cannot be.
   *
   * @param reason kind of the error
   */
  onUndecryptable(attributes: StanzaAttributes, reason: string): Promise<void>;
  /** The same for a message that came without content. False: Baileys need not ask anybody for it. */
  onUnavailable(attributes: StanzaAttributes, type: string): Promise<boolean>;
  /** The connection is being closed: nothing that fails now says anything of the message. */
  isClosing(): boolean;
}

/**
 * Baileys' Signal repository, made safe:
 * - every operation on a session or sender key holds a lock on its canonical address and runs outside whatever
 *   transaction is open, so that a send and a receipt of the same contact cannot overwrite each other's ratchet, and a
 *   session is committed before the frame that it encrypted is sent;
 * - decryption, the inbox rows of what it gave, identity and sender keys that came with it are one commit;
 * - a ciphertext that was decrypted before gives its plaintext again.
 */
export function makeSafeRepository(deps: RepositoryDeps): MakeRepository {
  return (auth, logger) => {
    const keys = auth.keys as Keys;
    const signedPreKeys = nameSignedPreKeys(auth.creds);
    const inner = baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { creds: signedPreKeys.creds, keys: auth.keys },
      logger,
      deps.lookUpLids,
    );
    const { lidMapping } = inner;
    // Its own lock would let the first messages of new contacts wait for one another's commits.
    const { get, set } = deps.keys;
    Object.assign(lidMapping, { keys: { get, set, transaction: (work: () => Promise<void>) => work() } });
    const storePairs = lidMapping.storeLIDPNMappings.bind(lidMapping);
    lidMapping.storeLIDPNMappings = (pairs) =>
      outsideTransactions(() => storePairs(ownPairsOnly(pairs.map(ofPersons), deps.ownUsers())));
    return {
      ...inner,
      ...decryption(deps, keys, { ...inner, decryptMessage: byNamedKey(inner, signedPreKeys) }),
      ...sending(inner, (jid) => addressOf(inner, jid)),
      ...sessionChanges(deps, keys, inner),
      // Read what is committed, not what an open transaction saw first.
      validateSession: (jid) => outsideTransactions(() => inner.validateSession(jid)),
      getSessionInfo: (jid) => outsideTransactions(() => inner.getSessionInfo(jid)),
    };
  };
}

/** A first message is decrypted with the signed pre-key that it names. */
const byNamedKey =
  (inner: SignalRepositoryWithLIDStore, { reading }: NamedSignedPreKeys): typeof inner.decryptMessage =>
  (args) =>
    args.type === "pkmsg"
      ? reading(args.ciphertext, () => inner.decryptMessage(args))
      : inner.decryptMessage(args);

/** The address under which libsignal's storage keeps the session: the LID's when the number's is known. */
async function addressOf(inner: SignalRepositoryWithLIDStore, jid: string): Promise<string> {
  const lid = isPn(jid) || jid.endsWith("@hosted") ? await inner.lidMapping.getLIDForPN(jid) : null;
  return inner.jidToSignalProtocolAddress(lid ?? jid);
}

const senderKeyAddress = (inner: SignalRepositoryWithLIDStore, group: string, author: string): string =>
  `${group}::${inner.jidToSignalProtocolAddress(author)}`;

function decryption(
  deps: RepositoryDeps,
  keys: Keys,
  inner: SignalRepositoryWithLIDStore,
): Pick<
  SignalRepositoryWithLIDStore,
  "decryptMessage" | "decryptGroupMessage" | "processSenderKeyDistributionMessage"
> {
  const { journal, stanzas } = deps;
  const processed = createLru<string, true>(100);

  async function once(
    ciphertext: Uint8Array,
    address: string,
    decrypt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const origin = stanzas.originOf(ciphertext);
    if (origin === undefined) return decrypt();
    const hash = createHash("sha256").update(unique(origin)).update(ciphertext).digest("base64url");
    try {
      return await keys
        .transaction(() => decryptAndStore(origin, hash, decrypt), address)
        .then((padded) => {
          failpoint("after-receive-commit");
          return padded;
        });
    } catch (error) {
      if (deps.isClosing()) throw error;
      const before = await journal.recall(hash);
      if (before !== null) return before;
      await deps.onUndecryptable(origin.attributes, error instanceof Error ? error.name : "unknown");
      throw error;
    }
  }

  /** The commit is made when this has ended: ratchet, sender key, hash and inbox rows, or nothing of it. */
  async function decryptAndStore(
    origin: Origin,
    hash: string,
    decrypt: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const padded = await decrypt();
    const { entry, senderKey } = await journal.prepare(origin.attributes, padded);
    if (senderKey?.groupId) {
      const authorJid = origin.attributes.participant ?? origin.attributes.from ?? "";
      await inner.processSenderKeyDistributionMessage({ item: senderKey, authorJid });
      processed.set(senderKeyMark(authorJid, senderKey), true);
    }
    await keys.set({ journal: { [hash]: entry } } as SignalDataSet);
    failpoint("before-receive-commit");
    return padded;
  }

  return {
    decryptMessage: (args) =>
      outsideTransactions(async () => {
        const { ciphertext, jid } = args;
        const origin = stanzas.originOf(ciphertext);
        if (origin?.unavailable !== undefined) return withoutContent(deps, origin);
        if (origin?.plain)
          return once(ciphertext, jid, async () => Buffer.concat([ciphertext, Uint8Array.of(1)]));
        const address = await addressOf(inner, jid);
        return withLock([address], () => once(ciphertext, address, () => inner.decryptMessage(args)));
      }),
    decryptGroupMessage: (args) =>
      outsideTransactions(() => {
        const address = senderKeyAddress(inner, args.group, args.authorJid);
        return withLock([address], () => once(args.msg, address, () => inner.decryptGroupMessage(args)));
      }),
    processSenderKeyDistributionMessage: (args) =>
      outsideTransactions(async () => {
        // Done in the commit of the message that brought it; once more would push older keys out of the record.
        if (processed.has(senderKeyMark(args.authorJid, args.item))) return;
        const address = senderKeyAddress(inner, args.item.groupId ?? "", args.authorJid);
        await withLock([address], () => inner.processSenderKeyDistributionMessage(args));
      }),
  };
}

/** @throws what Baileys itself would have found, so that it goes on as it does then */
async function withoutContent(
  { onUnavailable }: Pick<RepositoryDeps, "onUnavailable">,
  { attributes, unavailable = "" }: Origin,
): Promise<Uint8Array> {
  if (!(await onUnavailable(attributes, unavailable))) return NOTHING;
  throw new Error(ABSENT);
}

/** No two ciphertexts are alike, but two posts of a channel may be. */
function unique({ plain, attributes }: Origin): string {
  return plain ? `${attributes.from} ${attributes.id}\n` : "";
}

function senderKeyMark(
  authorJid: string,
  item: { groupId?: string | null; axolotlSenderKeyDistributionMessage?: Uint8Array | null },
): string {
  const key = Buffer.from(item.axolotlSenderKeyDistributionMessage ?? []).toString("base64");
  return `${authorJid} ${item.groupId} ${key}`;
}

function sending(
  inner: SignalRepositoryWithLIDStore,
  address: (jid: string) => Promise<string>,
): Pick<
  SignalRepositoryWithLIDStore,
  "encryptMessage" | "encryptGroupMessage" | "getSenderKeyDistributionMessage"
> {
  return {
    encryptMessage: (args) =>
      outsideTransactions(async () => {
        const encrypted = await withLock([await address(args.jid)], () => inner.encryptMessage(args));
        failpoint("after-encrypt-commit");
        return encrypted;
      }),
    encryptGroupMessage: (args) =>
      outsideTransactions(() =>
        withLock([senderKeyAddress(inner, args.group, args.meId)], () => inner.encryptGroupMessage(args)),
      ),
    getSenderKeyDistributionMessage: (args) =>
      outsideTransactions(() =>
        withLock([senderKeyAddress(inner, args.group, args.meId)], () =>
          inner.getSenderKeyDistributionMessage(args),
        ),
      ),
  };
}

function sessionChanges(
  { retries }: RepositoryDeps,
  keys: Keys,
  inner: SignalRepositoryWithLIDStore,
): Pick<SignalRepositoryWithLIDStore, "injectE2ESession" | "deleteSession" | "migrateSession"> {
  const migrated = createLru<string, true>(REMEMBERED);
  return {
    injectE2ESession: (args) =>
      outsideTransactions(async () => {
        const address = await addressOf(inner, args.jid);
        await withLock([address], async () => {
          if (retries.wantsNewSession(args.jid)) return inner.injectE2ESession(args);
          if (await keepsOpenSession(keys, address, args.session)) return;
          await inner.injectE2ESession(args);
        });
      }),
    deleteSession: (jids) =>
      outsideTransactions(async () => {
        const addresses = await Promise.all(jids.map((jid) => addressOf(inner, jid)));
        await withLock(addresses, () => inner.deleteSession(jids));
      }),
    migrateSession: (from, to) =>
      outsideTransactions(async () => {
        // For the library's `…:99@lid` there is no address, and others would be moved to a hosted device's.
        const [fromJid, toJid] = [from, to].map((jid) => (isHosted(jid) ? withoutDevice(jid) : jid)) as [
          string,
          string,
        ];
        const user = userOf(fromJid);
        // Once its pair is stored, nothing is ever kept under a number again: there is nothing left to move.
        if (migrated.has(user)) return { migrated: 0, skipped: 0, total: 0 };
        const addresses = await migratingAddresses(keys, inner, fromJid, toJid);
        const result = await withLock(addresses, () => inner.migrateSession(fromJid, toJid));
        if (isLid(toJid)) migrated.set(user, true);
        return result;
      }),
  };
}

async function migratingAddresses(
  keys: Keys,
  inner: SignalRepositoryWithLIDStore,
  fromJid: string,
  toJid: string,
): Promise<string[]> {
  const user = userOf(fromJid);
  const { [user]: devices = [] } = await keys.get("device-list", [user]);
  const own = [fromJid, ...devices.map((device) => `${user}:${device}@s.whatsapp.net`)].filter(
    (jid) => !isHosted(jid),
  );
  const jids = own.flatMap((jid) => [jid, baileys.transferDevice(jid, toJid)]);
  return [...new Set(jids.map((jid) => inner.jidToSignalProtocolAddress(jid)))];
}

/** Pairs are of persons; a hosted device names its own at other servers, which the library takes for none. */
const ofPersons = ({ pn, lid }: LIDMapping): LIDMapping => ({
  pn: withoutDevice(pn),
  lid: withoutDevice(lid),
});

// On copies of what the own phone wrote, Baileys takes the writer's number for the recipient's.
function ownPairsOnly(pairs: LIDMapping[], own: { pn: string; lid: string | null }): LIDMapping[] {
  return pairs.filter(({ pn, lid }) => {
    const users = [userOf(pn), userOf(lid)];
    if (own.lid === null || !(users.includes(own.pn) || users.includes(own.lid))) return true;
    return users.includes(own.pn) && users.includes(own.lid);
  });
}
