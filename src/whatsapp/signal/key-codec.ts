import { baileys } from "../baileys.ts";
import { pruneSenderKey, pruneSession, type SerializedRecord } from "./prune.ts";

/**
 * How one type of Signal key becomes bytes. Baileys changes some values in place after it got or set them, so values of
 * most types are decoded anew for every reader.
 */
interface KeyCodec {
  /** What is kept in memory: text or bytes, or the value itself where `shared`. */
  encode(value: unknown): string | Uint8Array;
  decode(stored: Buffer): unknown;
  /** Values are never changed in place, so that readers may share one. */
  shared?: true;
  /** Applied before a value is stored. */
  prune?(value: unknown): unknown;
}

const json: KeyCodec = {
  encode: (value) => JSON.stringify(value, baileys.BufferJSON.replacer),
  decode: (stored) => JSON.parse(stored.toString("utf8"), baileys.BufferJSON.reviver),
};

const plainJson: KeyCodec = {
  encode: (value) => JSON.stringify(value),
  decode: (stored) => JSON.parse(stored.toString("utf8")),
};

const bytes: KeyCodec = {
  encode: (value) => value as Uint8Array,
  decode: (stored) => stored,
  shared: true,
};

const keyPair: KeyCodec = {
  encode(value) {
    const pair = value as { private: Uint8Array; public: Uint8Array };
    return Buffer.concat([pair.private, pair.public]);
  },
  decode: (stored) => ({ private: stored.subarray(0, 32), public: stored.subarray(32) }),
  shared: true,
};

const CODECS: Record<string, KeyCodec> = {
  // libsignal serializes a record into a fresh object and reads it into fresh buffers: nobody changes it.
  session: { ...plainJson, shared: true, prune: (value) => pruneSession(value as SerializedRecord) },
  "sender-key": { ...bytes, prune: (value) => pruneSenderKey(value as Uint8Array) },
  "identity-key": bytes,
  "lid-mapping": { ...plainJson, shared: true },
  "pre-key": keyPair,
  "device-list": plainJson,
  "sender-key-memory": plainJson,
  "app-state-sync-key": {
    ...json,
    decode: (stored) =>
      baileys.proto.Message.AppStateSyncKeyData.fromObject(json.decode(stored) as Record<string, unknown>),
  },
};

/** The codec of a key type; types of later Baileys releases are JSON. */
export function codecOf(type: string): KeyCodec {
  return CODECS[type] ?? json;
}
