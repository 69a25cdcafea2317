import { randomBytes } from "node:crypto";
import { BufferJSON, initAuthCreds, proto } from "@whiskeysockets/baileys";
import type { AuthenticationState, SignalDataTypeMap } from "@whiskeysockets/baileys";

type Store = Map<string, string>;

/** Credentials and keys in memory, serialized as a real store would, so that nothing is shared by reference. */
export class MemoryAuth {
  creds = initAuthCreds();
  readonly #keys: Store = new Map();

  get state(): AuthenticationState {
    return {
      creds: this.creds,
      keys: {
        get: async (type, ids) => this.#get(type, ids),
        set: async (data) => {
          for (const [type, values] of Object.entries(data)) {
            for (const [id, value] of Object.entries(values ?? {})) {
              if (value === null || value === undefined) this.#keys.delete(`${type} ${id}`);
              else this.#keys.set(`${type} ${id}`, JSON.stringify(value, BufferJSON.replacer));
            }
          }
        },
      },
    };
  }

  /** Drops all keys of one type. */
  forget(type: keyof SignalDataTypeMap): void {
    for (const key of this.#keys.keys()) if (key.startsWith(`${type} `)) this.#keys.delete(key);
  }

  /** Puts a wrong chain key into every sending chain, as a store does that went back in time. */
  damageSessions(): void {
    for (const [key, value] of this.#keys) {
      if (!key.startsWith("session ")) continue;
      const damaged = value.replaceAll(
        /"chainKey":\{("counter":-?\d+),"key":"[^"]+"\},"chainType":1/g,
        (_match, counter) =>
          `"chainKey":{${counter},"key":"${randomBytes(32).toString("base64")}"},"chainType":1`,
      );
      this.#keys.set(key, damaged);
    }
  }

  /** The same credentials with a copy of all keys. */
  clone(): MemoryAuth {
    const copy = new MemoryAuth();
    copy.creds = JSON.parse(JSON.stringify(this.creds, BufferJSON.replacer), BufferJSON.reviver);
    for (const [key, value] of this.#keys) copy.#keys.set(key, value);
    return copy;
  }

  #get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]): Record<string, SignalDataTypeMap[T]> {
    const found: Record<string, SignalDataTypeMap[T]> = {};
    for (const id of ids) {
      const value = this.#keys.get(`${type} ${id}`);
      if (value === undefined) continue;
      const parsed = JSON.parse(value, BufferJSON.reviver);
      found[id] =
        type === "app-state-sync-key" ? proto.Message.AppStateSyncKeyData.fromObject(parsed) : parsed;
    }
    return found;
  }
}
