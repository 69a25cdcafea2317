/** What a phone tells a companion that was just linked, before its history. */
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import type { AppStateKeys } from "../app-state/book.ts";
import type { AppStateKey } from "../app-state/codec.ts";

const { Type } = proto.Message.ProtocolMessage;

/** The account's app-state keys; the same ones for every companion. The first is made when it is asked for. */
export function makeAppStateKeys(random: () => Random, now: () => number): AppStateKeys {
  const keys: AppStateKey[] = [];
  const make = (): AppStateKey => {
    // The first one has the stream that it always had.
    const stream = random().fork(keys.length === 0 ? "app state key" : `app state key ${keys.length}`);
    const [id, secret] = [stream.bytes(6), stream.bytes(32)];
    return { id, secret, rawId: stream.integer(2 ** 31), madeAt: now() };
  };
  return {
    all() {
      if (keys.length === 0) keys.push(make());
      return keys;
    },
    add() {
      if (keys.length === 0) keys.push(make());
      const key = make();
      keys.push(key);
      return key;
    },
  };
}

/** Gives a companion the keys with which app state is encrypted, the newest last. */
export function shareKeys(keys: readonly AppStateKey[]): proto.IMessage {
  return {
    protocolMessage: {
      type: Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: {
        keys: keys.map(({ id, secret, rawId, madeAt }) => {
          const fingerprint = { rawId, currentIndex: 0, deviceIndexes: [0] };
          return { keyId: { keyId: id }, keyData: { keyData: secret, fingerprint, timestamp: madeAt } };
        }),
      },
    },
  };
}

/** Whether a companion asks for app-state keys. */
export function asksForAppStateKey(message: proto.IMessage): boolean {
  return message.protocolMessage?.type === Type.APP_STATE_SYNC_KEY_REQUEST;
}
