import { createHash } from "node:crypto";
import type { BinaryNode, SignalDataSet, WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { baileys } from "../baileys.ts";
import { readPlaintext, type Plaintext } from "../content/conversion.ts";
import type { OwnIds } from "../addresses.ts";
import { userOf } from "../jids.ts";
import type { Stanzas } from "../receive/stanzas.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { Journal } from "../signal/journal.ts";
import { withLock } from "../signal/lock.ts";
import {
  isEverydayContent,
  namedPair,
  readStanza,
  type EverydayStanza,
  type OnWay,
  type OtherWay,
} from "./classify.ts";
import { decrypt, RatchetRefused, type Decrypted } from "./ratchet.ts";
import type { StoredRecord } from "./record.ts";

/** What the everyday way of messages that come in needs of its connection. */
export interface EverydayReceiptDeps {
  socket: Pick<WASocket, "sendNode" | "ev">;
  auth: AuthState;
  journal: Journal;
  stanzas: Stanzas;
  own(): OwnIds;
  /** Unix milliseconds. */
  now(): number;
  onWay: OnWay;
}

/**
 * Handles a message stanza, up to its receipt.
 *
 * @returns false: nothing has been done with it, it is Baileys' affair
 * @throws when it could not be stored, with the connection closed: nothing was acknowledged
 */
export type TakeEveryday = (node: BinaryNode) => Promise<boolean>;

/**
 * The everyday way of messages that come in: one ciphertext of an open session from a person whose number and LID are known
 * as a pair. Nothing of it needs more than arithmetic, one commit and one frame; what Baileys does beside that (promises,
 * mutexes, transactions, events for nobody) costs more than all of those. At the first thing that is not as it is every
 * day, nothing has changed yet, and Baileys gets the stanza.
 */
export function createEverydayReceiving(deps: EverydayReceiptDeps): TakeEveryday {
  const { socket, auth, journal, stanzas, now } = deps;
  const identity = baileys.generateSignalPubKey(auth.creds.signedIdentityKey.public);
  let isOnline = false;
  socket.ev.on("connection.update", (update) => (isOnline = update.isOnline ?? isOnline));

  /** From memory, or else the database; null when there is none. */
  async function find<T>(type: "session" | "identity-key" | "lid-mapping", id: string): Promise<T | null> {
    const known = auth.peek(type, id);
    if (known !== undefined) return known as T | null;
    return ((await auth.keys.get(type, [id]))[id] as T | undefined) ?? null;
  }

  /** The address of the session with the device that has written; null when its pair is not the stored one. */
  async function sessionAddress({ attributes }: EverydayStanza): Promise<string | null> {
    const named = namedPair(attributes);
    if (named === null) return null;
    const pn = named.pn === null ? null : userOf(named.pn);
    const lid = named.lid === null ? await find<string>("lid-mapping", pn!) : userOf(named.lid);
    if (lid === null) return null;
    if (pn !== null && (await find<string>("lid-mapping", `${lid}_reverse`)) !== pn) return null;
    return addressOfLid(lid, attributes.from!);
  }

  async function decrypted(address: string, ciphertext: Uint8Array): Promise<Decrypted | OtherWay> {
    const record = await find<StoredRecord>("session", address);
    if (record === null) return "no_session";
    const trusted = await find<Uint8Array>("identity-key", address);
    if (trusted !== null && !isIdentityOf(record, trusted)) return "identity";
    try {
      return decrypt(record, ciphertext, identity, now());
    } catch (error) {
      return error instanceof RatchetRefused ? error.reason : "not_a_message";
    }
  }

  /** One commit: ratchet, hash, inbox row. */
  async function store(
    { attributes, ciphertext }: EverydayStanza,
    address: string,
    { plaintext: padded, record }: Decrypted,
    plaintext: Plaintext,
  ): Promise<void> {
    const { entry } = await journal.prepare(attributes, padded, plaintext);
    const hash = createHash("sha256").update(ciphertext).digest("base64url");
    failpoint("before-receive-commit");
    await auth.keys.set({
      session: { [address]: record },
      journal: { [hash]: entry },
    } as unknown as SignalDataSet);
    failpoint("after-receive-commit");
  }

  async function receive(stanza: EverydayStanza, address: string): Promise<OtherWay | null> {
    const found = await decrypted(address, stanza.ciphertext);
    if (typeof found === "string") return found;
    const plaintext = readUnlessBroken(found.plaintext);
    if (plaintext === null) return "unreadable";
    if (plaintext.wasWrapped || !isEverydayContent(plaintext.message)) return "content";
    stanzas.originOf(stanza.ciphertext);
    await store(stanza, address, found, plaintext);
    return null;
  }

  return async (node) => {
    const origin = stanzas.peek(node);
    const stanza = origin === null ? "ciphertext" : readStanza(node, origin.attributes, deps.own());
    if (typeof stanza === "string") return (deps.onWay("in", stanza), false);
    const address = await sessionAddress(stanza);
    const reason =
      address === null ? "pair_unknown" : await withLock([address], () => receive(stanza, address));
    deps.onWay("in", reason);
    if (reason === null) await confirm(socket, stanza.attributes, isOnline);
    return reason === null;
  };
}

/** libsignal's address of a LID's session: the domain's number follows the user. */
function addressOfLid(lid: string, from: string): string {
  const device = from.slice(0, from.indexOf("@")).split(":")[1] ?? "0";
  return `${lid}_1.${device}`;
}

/** Every session of the record is one with this identity, or has ended. */
function isIdentityOf(record: StoredRecord, identity: Uint8Array): boolean {
  const expected = Buffer.from(identity).toString("base64");
  // oxlint-disable-next-line no-underscore-dangle -- the name is that of libsignal
  const sessions = Object.values(record._sessions);
  return sessions.every(
    ({ indexInfo }) => indexInfo.closed !== -1 || indexInfo.remoteIdentityKey === expected,
  );
}

function readUnlessBroken(padded: Uint8Array): Plaintext | null {
  try {
    return readPlaintext(padded);
  } catch {
    return null;
  }
}

/** @param isOnline an owner who looks at this device has seen the message; else it is only there */
async function confirm(
  socket: Pick<WASocket, "sendNode">,
  { id, from }: EverydayStanza["attributes"],
  isOnline: boolean,
): Promise<void> {
  // A connection that is gone gets it again, and knows it by its hash.
  await socket
    .sendNode({ tag: "receipt", attrs: { id: id!, to: from!, ...(!isOnline && { type: "inactive" }) } })
    .catch(() => undefined);
  failpoint("after-receipt");
}
