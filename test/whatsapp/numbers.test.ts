import { describe, expect, it } from "vitest";
import { createAudit } from "../../src/audit/audit.ts";
import { createInbox } from "../../src/inbox/inbox.ts";
import { createNumbers, type DeviceRecord, type Numbers } from "../../src/numbers/numbers.ts";
import { createErasure } from "../../src/retention/erasure.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/store.ts";
import { createWhatsApp } from "../../src/whatsapp/whatsapp.ts";
import {
  atEnd,
  GUEST,
  OWN,
  settings,
  silent,
  simulate,
  temporaryFolder,
  testStore,
  until,
} from "./_setup.ts";
import { rawRows } from "../unit/store/rows.ts";

const QR = { force: false, method: "qr" } as const;
const CODE = { force: false, method: "code" } as const;

interface Setup {
  numbers: Numbers;
  texts: string[];
  stop(): Promise<void>;
}

async function numbersOn(simulator: Simulator, store: Store): Promise<Setup> {
  const config = settings(simulator, "/nowhere");
  const whatsapp = createWhatsApp({
    store,
    config,
    log: silent,
    sentMessage: async () => null,
    receivedContent: async () => null,
    files: { load: async () => null, remember: async () => undefined },
    ownFiles: { idOf: () => "mf_none", make: () => Promise.reject(new Error("nothing is handed on")) },
    witness: createAudit({ store, config, log: silent }).witness,
  });
  const inbox = createInbox(store);
  const texts: string[] = [];
  const erasure = createErasure({ store, config, log: silent });
  const numbers = createNumbers({
    store,
    log: silent,
    whatsapp,
    erase: erasure.erase,
    deviceLimit: async () => 5,
    onMessages: (deviceId, _ownNumber, messages) =>
      inbox.intake(deviceId, messages, (stored) => {
        texts.push(...stored.map(({ message }) => message.text));
      }),
    onAcknowledged: async () => undefined,
    tell: () => undefined,
    random: () => 0.2,
  });
  await numbers.load();
  await numbers.start();
  const setup = {
    numbers,
    texts,
    async stop() {
      await numbers.stop();
      await erasure.stop();
      whatsapp.stop();
    },
  };
  atEnd(setup.stop);
  return setup;
}

async function register({ numbers }: Setup): Promise<DeviceRecord> {
  return numbers.register("account", OWN);
}

async function qrOf({ numbers }: Setup, device: DeviceRecord) {
  return until("a QR", async () => {
    const shown = await numbers.link(device.id, QR);
    return shown.state === "qr" && shown;
  });
}

const inState = ({ numbers }: Setup, device: DeviceRecord, state: string, ms?: number) =>
  until(`state ${state}`, () => numbers.state(device.id) === state, ms);

async function linked(simulator: Simulator, setup: Setup): Promise<DeviceRecord> {
  const device = await register(setup);
  await simulator.scan(OWN, (await qrOf(setup, device)).qr);
  await inState(setup, device, "connected");
  return device;
}

describe("linking", () => {
  it("by QR: two callers see the same one, and after the scan the number is online", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN, { name: "Shop" });
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await register(setup);

    const shown = await qrOf(setup, device);
    const again = await setup.numbers.link(device.id, QR);

    expect(again).toMatchObject({ state: "qr", qr: shown.qr });
    expect(shown.qrcode).toMatch(/^data:image\/png;base64,/);
    expect(shown.expiresInMs).toBeGreaterThan(50_000);
    await simulator.scan(OWN, shown.qr);
    await inState(setup, device, "connected");
    expect(await setup.numbers.link(device.id, QR)).toEqual({ state: "connected" });
    expect(setup.numbers.identity(device.id)).toMatchObject({ number: OWN });
    expect(setup.numbers.whyHere(device.id)).toMatchObject({ state: "connected", nextRetryAt: null });
  });

  it("by pairing code: the same code for all who ask", async () => {
    const simulator = await simulate();
    const owner = await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await register(setup);

    const shown = await until("a code", async () => {
      const answer = await setup.numbers.link(device.id, CODE);
      return answer.state === "code" && answer;
    });
    expect(await setup.numbers.link(device.id, CODE)).toMatchObject({ state: "code", code: shown.code });
    expect(shown.code).toMatch(/^[A-Z0-9]{8}$/);
    await owner.enterPairingCode(shown.code);

    await inState(setup, device, "connected");
  });

  it("with force: a linking in progress is dropped, a linked number is not", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await register(setup);

    const first = await qrOf(setup, device);
    await setup.numbers.link(device.id, { force: true, method: "qr" });
    const second = await qrOf(setup, device);
    expect(second.qr).not.toBe(first.qr);
    await simulator.scan(OWN, second.qr);
    await inState(setup, device, "connected");

    expect(await setup.numbers.link(device.id, { force: true, method: "qr" })).toEqual({
      state: "connected",
    });
  });

  it("ends as unlinked when nobody scans, and starts again at the next call", async () => {
    const simulator = await simulate({ qrRefs: 0 });
    await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await register(setup);

    await setup.numbers.link(device.id, QR);
    await inState(setup, device, "unlinked");
    expect(setup.numbers.whyHere(device.id)?.lastClose?.code).toBe(408);
    void setup.numbers.link(device.id, QR);
    expect(setup.numbers.state(device.id)).toBe("linking");
    await inState(setup, device, "unlinked");
  });

  it("refuses a foreign number: it is logged out, told once, and the next call starts again", async () => {
    const simulator = await simulate();
    const owner = await simulator.addNumber(OWN);
    const other = await simulator.addNumber("31600000002");
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await register(setup);

    await owner.scanAs("31600000002", (await qrOf(setup, device)).qr);
    await until("the refusal", async () =>
      setup.numbers.link(device.id, QR).then(
        () => false,
        (error: { code: string; details: { extra: unknown } }) => {
          expect(error).toMatchObject({
            code: "WRONG_NUMBER",
            details: { extra: { scanned: "31600000002" } },
          });
          return true;
        },
      ),
    );

    await until("the logout", async () => (await other.companions()).length === 0);
    await simulator.scan(OWN, (await qrOf(setup, device)).qr);
    await inState(setup, device, "connected");
    expect(setup.numbers.identity(device.id)?.number).toBe(OWN);
  });
});

describe("a linked number", () => {
  it("is online again after a restart without a new QR, and gets what came meanwhile", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN);
    const guest = await simulator.addContact(GUEST);
    const folder = temporaryFolder();
    const store = await testStore(simulator, folder);
    const first = await numbersOn(simulator, store);
    const device = await linked(simulator, first);
    await guest.sendText(OWN, "before");
    await until("the first text", () => first.texts.length === 1);
    await first.stop();
    await store.close();

    for (const text of ["one", "two", "three"]) await guest.sendText(OWN, text);
    const second = await numbersOn(simulator, await testStore(simulator, folder));
    await inState(second, device, "connected");

    await until("the texts of the break", () => second.texts.length === 3);
    expect(second.texts).toEqual(["one", "two", "three"]);
  });

  it("logs out at WhatsApp and keeps its record", async () => {
    const simulator = await simulate();
    const owner = await simulator.addNumber(OWN);
    const store = await testStore(simulator);
    const setup = await numbersOn(simulator, store);
    const device = await linked(simulator, setup);

    await setup.numbers.logout(device.id);

    await until("the companion's removal", async () => (await owner.companions()).length === 0);
    expect(setup.numbers.state(device.id)).toBe("unlinked");
    expect(setup.numbers.isLinked(device.id)).toBe(false);
    expect(await rawRows(store, "select count(*) as n from wa_keys", [])).toMatchObject([{ n: 0 }]);
    await simulator.scan(OWN, (await qrOf(setup, device)).qr);
    await inState(setup, device, "connected");
  });
});

describe("the reaction to a closed connection", () => {
  it.each([
    { code: 515, state: "connected" },
    { code: 428, state: "connected" },
    { code: 503, state: "connected" },
    { code: 500, state: "connected" },
    { code: 401, state: "logged_out" },
    { code: 403, state: "blocked" },
    { code: 419, state: "blocked" },
    { code: 405, state: "action_required" },
    { code: 411, state: "action_required" },
    { code: 440, state: "replaced" },
  ])("code $code ends as $state", async ({ code, state }) => {
    const simulator = await simulate();
    await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await linked(simulator, setup);

    await simulator.faults.close({ number: OWN, code });
    if ([403, 405, 419, 500, 503].includes(code)) await simulator.faults.dropSocket({ number: OWN });
    await until("the close", () => setup.numbers.whyHere(device.id)?.lastClose?.code === code);

    await inState(setup, device, state);
    expect(setup.numbers.isLinked(device.id)).toBe(![401, 403, 419, 440].includes(code));
    expect(setup.numbers.whyHere(device.id)?.nextRetryAt === null).toBe(code !== 405);
  });

  it("a replaced number takes over again when its owner asks for it, without a QR", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await linked(simulator, setup);
    await simulator.faults.close({ number: OWN, code: 440 });
    await inState(setup, device, "replaced");

    expect(await setup.numbers.link(device.id, QR)).toEqual({ state: "connecting" });
    await inState(setup, device, "connected");
    expect(setup.numbers.isLinked(device.id)).toBe(true);
  });

  it("a 503 on the upgrade does not hang it", async () => {
    const simulator = await simulate();
    await simulator.addNumber(OWN);
    const setup = await numbersOn(simulator, await testStore(simulator));
    const device = await linked(simulator, setup);

    await simulator.faults.refuseUpgrade({ status: 503, times: 2 });
    await simulator.faults.dropSocket({ number: OWN });
    await until("the refusal", () =>
      setup.numbers.whyHere(device.id)?.lastClose?.reason.includes("HTTP 503"),
    );

    await inState(setup, device, "connected");
    expect(setup.numbers.isLinked(device.id)).toBe(true);
  });
});
