import { describe, expect, it, onTestFinished } from "vitest";
import { createNumbers, type Numbers } from "../../../src/numbers/numbers.ts";
import { createErasure, type Erasure } from "../../../src/retention/erasure.ts";
import type { Store } from "../../../src/store/store.ts";
import { Phone } from "../../properties/phone.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { NO_INTAKE } from "../../../src/store/write/intake.ts";
import { rawRows } from "../store/rows.ts";

const ACCOUNT = "account";
const NUMBER = "31600000001";

interface World {
  store: Store;
  numbers: Numbers;
  erasure: Erasure;
}

async function open(deps: { erase?: (deviceId: number) => Promise<void> } = {}): Promise<World> {
  const store = await temporaryStore();
  const dataDir = temporaryFolder();
  const log = silentLog(configFor(dataDir));
  const erasure = createErasure({ store, config: { dataDir }, log });
  const numbers = createNumbers({
    store,
    log,
    whatsapp: new Phone().whatsapp(),
    erase: deps.erase ?? erasure.erase,
    deviceLimit: async () => 1,
    onMessages: () => NO_INTAKE,
    onAcknowledged: async () => undefined,
    tell: () => undefined,
  });
  onTestFinished(async () => {
    await numbers.stop();
    await erasure.stop();
  });
  return { store, numbers, erasure };
}

const messagesOf = async (store: Store, deviceId: number): Promise<number> =>
  Number((await rawRows(store, "SELECT count(*) AS n FROM inbox WHERE device_id = ?", [deviceId]))[0]!.n);

describe("a number that is removed", () => {
  it("can be registered anew at once, within the plan and under another id, while its messages are being deleted", async () => {
    const { store, numbers, erasure } = await open();
    const old = await numbers.register(ACCOUNT, NUMBER);
    for (let n = 0; n < 2_000; n += 200)
      await store.writer.commit(
        Array.from({ length: 200 }, (_, i) => ({
          sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
            VALUES (?, 'c', 's', ?, 0, 'text', 'pending', 0, 0, x'00')`,
          args: [old.id, `w${n + i}`],
        })),
      );

    const removed = numbers.remove(old.id);
    const anew = await numbers.register(ACCOUNT, NUMBER);
    await removed;

    expect(anew.id).toBeGreaterThan(old.id);
    expect(numbers.list(ACCOUNT).map(({ id }) => id)).toEqual([anew.id]);
    expect(numbers.find(ACCOUNT, NUMBER)?.id).toBe(anew.id);
    expect(await messagesOf(store, old.id)).toBeGreaterThan(0);
    await erasure.finished();
    expect(await messagesOf(store, old.id)).toBe(0);
  });

  it("is still there when the database refused", async () => {
    const { numbers } = await open({ erase: () => Promise.reject(new Error("away")) });
    const device = await numbers.register(ACCOUNT, NUMBER);

    await expect(numbers.remove(device.id)).rejects.toThrow("away");

    expect(numbers.find(ACCOUNT, NUMBER)?.id).toBe(device.id);
  });
});
