/** How one change of app state is sealed, and opened again. Source: whatsmeow `appstate/hash.go`, `encode.go`, `decode.go`. */
import { createHmac } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { decryptCbc, derive, encryptCbc, equal, hmac } from "../../signal/kdf.ts";

const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;
const MAC_BYTES = 32;
const IV_BYTES = 16;

/** A key with which app state is sealed. */
export interface AppStateKey {
  id: Uint8Array;
  secret: Uint8Array;
  rawId: number;
  /** Unix milliseconds. */
  madeAt: number;
}

/** One entry as it is before it is sealed. */
export interface Change {
  /** What it is about: the kind first. */
  index: string[];
  /** Null takes the entry away. */
  value: proto.ISyncActionValue | null;
  /** Of the kind's form. */
  version: number;
}

/** The five keys that follow from one. */
const expand = (secret: Uint8Array) => {
  const all = derive(secret, "WhatsApp Mutation Keys", 160);
  const part = (number: number): Uint8Array => all.subarray(32 * number, 32 * number + 32);
  return { index: part(0), encryption: part(1), value: part(2), snapshot: part(3), patch: part(4) };
};

/** Seals one change. */
export function seal(change: Change, key: AppStateKey, random: Random, at: number): proto.ISyncdMutation {
  const keys = expand(key.secret);
  const operation = change.value === null ? REMOVE : SET;
  const index = Buffer.from(JSON.stringify(change.index));
  const value = { timestamp: at, ...change.value };
  const plain = proto.SyncActionData.encode({
    index,
    value,
    padding: new Uint8Array(),
    version: change.version,
  }).finish();
  const iv = random.bytes(IV_BYTES);
  const sealed = Buffer.concat([iv, encryptCbc(keys.encryption, iv, plain)]);
  const mac = contentMac(operation, sealed, key.id, keys.value);
  return {
    operation,
    record: {
      index: { blob: hmac(keys.index, index) },
      value: { blob: Buffer.concat([sealed, mac]) },
      keyId: { id: key.id },
    },
  };
}

/** Opens one change. @throws {WrongPatch} when it was not sealed with this key, or is spoilt */
export function open({ operation, record }: proto.ISyncdMutation, key: AppStateKey): Change {
  const keys = expand(key.secret);
  const blob = record?.value?.blob ?? new Uint8Array();
  const sealed = blob.subarray(0, -MAC_BYTES);
  if (!equal(contentMac(operation ?? SET, sealed, key.id, keys.value), blob.subarray(-MAC_BYTES)))
    throw new WrongPatch("the MAC of a value");
  const plain = decryptCbc(keys.encryption, sealed.subarray(0, IV_BYTES), sealed.subarray(IV_BYTES));
  const { index, value, version } = proto.SyncActionData.decode(plain);
  if (!equal(hmac(keys.index, index ?? new Uint8Array()), record?.index?.blob ?? new Uint8Array()))
    throw new WrongPatch("the MAC of an index");
  const name = JSON.parse(Buffer.from(index!).toString()) as string[];
  return { index: name, value: operation === REMOVE ? null : (value ?? {}), version: version ?? 0 };
}

/** What proves that a collection is in a state. */
export function snapshotMac(
  hash: Uint8Array,
  version: number,
  collection: string,
  key: AppStateKey,
): Uint8Array {
  return hmac(expand(key.secret).snapshot, hash, bigEndian(version), Buffer.from(collection));
}

/** What proves that a patch leads there. */
export function patchMac(
  snapshot: Uint8Array,
  valueMacs: readonly Uint8Array[],
  version: number,
  collection: string,
  key: AppStateKey,
): Uint8Array {
  const name = Buffer.from(collection);
  return hmac(expand(key.secret).patch, snapshot, ...valueMacs, bigEndian(version), name);
}

/** The MAC at the end of a sealed value. */
export const valueMacOf = ({ record }: proto.ISyncdMutation): Uint8Array =>
  (record?.value?.blob ?? new Uint8Array()).subarray(-MAC_BYTES);

/** A patch does not fit its key, or the state that it is for. */
export class WrongPatch extends Error {}

function contentMac(operation: number, sealed: Uint8Array, keyId: Uint8Array, key: Uint8Array): Uint8Array {
  const mac = createHmac("sha512", key);
  mac
    .update(Uint8Array.of(operation + 1))
    .update(keyId)
    .update(sealed)
    .update(bigEndian(keyId.length + 1));
  return new Uint8Array(mac.digest()).subarray(0, MAC_BYTES);
}

function bigEndian(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
