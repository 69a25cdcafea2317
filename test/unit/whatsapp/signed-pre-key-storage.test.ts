import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it, vi } from "vitest";
import type { SignedKeyPair } from "@whiskeysockets/baileys";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { nameSignedPreKeys, type RotatingCreds } from "../../../src/whatsapp/signal/signed-pre-keys.ts";

const VERSION = 0x33;
const key = (keyId: number): SignedKeyPair => ({
  keyId,
  keyPair: { public: new Uint8Array([keyId]), private: new Uint8Array([keyId]) },
  signature: new Uint8Array(64),
});
const firstMessage = (signedPreKeyId: number): Buffer =>
  Buffer.concat([
    Buffer.of(VERSION),
    baileys.proto.PreKeySignalMessage.encode({ signedPreKeyId, message: new Uint8Array([1]) }).finish(),
  ]);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Every storage in which something has run since. */
function storagesInUse(): Set<AsyncLocalStorage<unknown>> {
  const used = new Set<AsyncLocalStorage<unknown>>();
  const { run } = AsyncLocalStorage.prototype;
  vi.spyOn(AsyncLocalStorage.prototype, "run").mockImplementation(function (
    this: AsyncLocalStorage<unknown>,
    ...args: unknown[]
  ) {
    used.add(this);
    return Reflect.apply(run, this, args);
  });
  return used;
}

it("a first message makes no promise of the process dearer, whichever signed pre-key it names", async () => {
  const creds = { signedPreKey: key(7) } as Pick<RotatingCreds, "signedPreKey" | "formerSignedPreKey">;
  const named = nameSignedPreKeys(creds as RotatingCreds);
  const read = (id: number): Promise<number> =>
    named.reading(firstMessage(id), async () => {
      await turn();
      return named.creds.signedPreKey.keyId;
    });
  const used = storagesInUse();
  expect(await read(7)).toBe(7);
  expect(await read(6)).toBe(7);
  creds.formerSignedPreKey = key(6);
  expect(await read(7)).toBe(7);
  expect([...used]).toEqual([]);

  expect(await Promise.all([read(6), read(7), read(6)])).toEqual([6, 7, 6]);
  await turn();
  expect(used.size).toBe(1);
  // What Node asks itself at every promise, up to version 22.
  const [storage] = used;
  expect((storage as unknown as { enabled?: boolean }).enabled ?? false).toBe(false);
  vi.restoreAllMocks();
});
