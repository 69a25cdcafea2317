import { EventEmitter } from "node:events";
import { beforeEach, expect, it, vi } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createDeviceMemory } from "../../../src/whatsapp/connection/device-memory.ts";
import { startRecovery } from "../../../src/whatsapp/receive/recovery.ts";
import { createAcks, type Acks } from "../../../src/whatsapp/send/acks.ts";
import type { MissingMessage } from "../../../src/whatsapp/port.ts";
import { silentLog } from "../store/temporary.ts";

const noted: MissingMessage = {
  id: "MISSING",
  chat: "4915100000001@s.whatsapp.net",
  sender: "4915100000001@s.whatsapp.net",
  fromMe: false,
  jid: "123@lid",
  participant: null,
  timestamp: 1,
  reason: "unavailable",
};

let memory: ReturnType<typeof createDeviceMemory>;
let asked: string[];

beforeEach(() => {
  asked = [];
  memory = createDeviceMemory({ get: () => undefined, set() {}, del() {}, flushAll() {} });
});

/** One connection of the number, which has caught up with what waited. */
function connected(): { acks: Acks; caughtUp: Promise<void> } {
  const acks = createAcks(systemTime);
  const id = `ASK-${asked.length + 1}`;
  const socket = {
    ev: new EventEmitter(),
    authState: { creds: {} },
    sendPeerDataOperationMessage: async () => (asked.push(id), id),
  };
  const recovery = startRecovery(socket as never, {
    deviceId: 1,
    log: silentLog(loadConfig({ LOG_LEVEL: "silent" })),
    now: Date.now,
    witness: { askable: async () => [noted], unknownOf: async () => [] },
    memory,
    acks,
    settled: async () => undefined,
    read: async () => [],
    store: async () => undefined,
    storeTimers: async () => undefined,
  });
  return { acks, caughtUp: recovery.caughtUp() };
}

it("asks the phone again when the connection was lost before WhatsApp had the question", async () => {
  const lost = connected();
  await vi.waitFor(() => expect(asked).toEqual(["ASK-1"]));
  lost.acks.fail();
  await lost.caughtUp;

  const kept = connected();
  await vi.waitFor(() => expect(asked).toEqual(["ASK-1", "ASK-2"]));
  kept.acks.note({ tag: "ack", attrs: { id: "ASK-2" } });
  await kept.caughtUp;

  await connected().caughtUp;
  expect(asked).toEqual(["ASK-1", "ASK-2"]);
});
