import {
  type SignalDataTypeMap,
  type SignalRepositoryWithLIDStore,
  addTransactionCapability,
  initAuthCreds,
} from "@whiskeysockets/baileys";
import { makeLibSignalRepository } from "@whiskeysockets/baileys/lib/Signal/libsignal.js";
import pino from "pino";
import { withKeyType } from "../../../src/simulator/signal/curve.ts";
import type { KeyBundle } from "../../../src/simulator/signal/bundle.ts";

/** The Signal layer that Baileys really uses, with keys in memory: the judge of ours. */
export interface BaileysSide {
  repository: SignalRepositoryWithLIDStore;
  /** A bundle as the server would hand it out, with one-time pre-key `id`. */
  bundle(id?: number): Promise<KeyBundle>;
  identity: Uint8Array;
}

export function makeBaileysSide(): BaileysSide {
  const creds = initAuthCreds();
  const stored = new Map<string, unknown>();
  const store = {
    get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) => {
      const found = ids.map((id) => [id, stored.get(`${type} ${id}`)] as const).filter(([, value]) => value);
      return Object.fromEntries(found) as Record<string, SignalDataTypeMap[T]>;
    },
    set: async (data: object) => {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries as object)) {
          if (value) stored.set(`${type} ${id}`, value);
          else stored.delete(`${type} ${id}`);
        }
      }
    },
  };
  const logger = pino({ level: "silent" });
  const keys = addTransactionCapability(store, logger, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const repository = makeLibSignalRepository({ creds, keys }, logger);
  return {
    repository,
    identity: creds.signedIdentityKey.public,
    async bundle(id) {
      const { keyPair, keyId, signature } = creds.signedPreKey;
      return {
        registrationId: creds.registrationId,
        identity: creds.signedIdentityKey.public,
        signedPreKey: { id: keyId, public: keyPair.public, signature },
        ...(id === undefined ? {} : { preKey: { id, public: await makePreKey(id) } }),
      };
    },
  };

  async function makePreKey(id: number): Promise<Uint8Array> {
    const { Curve } = await import("@whiskeysockets/baileys");
    const pair = Curve.generateKeyPair();
    await keys.set({ "pre-key": { [id]: pair } });
    return pair.public;
  }
}

/** Our bundle in the shape that Baileys injects: public keys with their type byte. */
export function forBaileys(bundle: KeyBundle) {
  return {
    registrationId: bundle.registrationId,
    identityKey: typed(bundle.identity),
    signedPreKey: {
      keyId: bundle.signedPreKey.id,
      publicKey: typed(bundle.signedPreKey.public),
      signature: bundle.signedPreKey.signature,
    },
    preKey: bundle.preKey && { keyId: bundle.preKey.id, publicKey: typed(bundle.preKey.public) },
  };
}

function typed(key: Uint8Array): Buffer {
  return Buffer.from(withKeyType(key));
}
