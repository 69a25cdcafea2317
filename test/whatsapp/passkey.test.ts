import { expect, it } from "vitest";
import { createAudit } from "../../src/audit/audit.ts";
import type { PasskeyRequest } from "../../src/model/passkey.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import type { PasskeyRule } from "../../src/simulator/types.ts";
import { NO_INTAKE } from "../../src/store/write/intake.ts";
import { NoPasskeyRequest, PasskeyRefused, type WhatsAppConnection } from "../../src/whatsapp/port.ts";
import { createWhatsApp } from "../../src/whatsapp/whatsapp.ts";
import { createAuthenticator, type Authenticator } from "../../src/demo/authenticator.ts";
import { atEnd, OWN, registered, settings, silent, simulate, testStore, until } from "./_setup.ts";

interface Linking {
  sim: Simulator;
  browser: Authenticator;
  connection: WhatsAppConnection;
  request: PasskeyRequest;
  closes: string[];
  /** What `passkey` was called with last: null once nothing is asked for any more. */
  asked(): PasskeyRequest | null;
  linked(): number;
  /** The owner's phone scans; it ends when everything is done. */
  scanned: Promise<unknown>;
  /** So much time goes by for the gateway. */
  goOn(ms: number): void;
}

/** A number whose QR was scanned, and that is asked for the passkey. */
async function scanned(rule?: PasskeyRule): Promise<Linking> {
  const sim = await simulate();
  const owner = await sim.addNumber(OWN);
  const browser = createAuthenticator();
  await sim.requirePasskey(OWN, browser.passkey, rule);
  const opened = await testStore(sim);
  let ahead = 0;
  const store = {
    ...opened,
    time: { ...opened.time, monotonic: () => opened.time.monotonic() + ahead },
  };
  const config = { ...settings(sim, "/nowhere"), passkeyLinking: true };
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
  atEnd(() => whatsapp.stop());
  const qrs: string[] = [];
  const requests: (PasskeyRequest | null)[] = [];
  const closes: string[] = [];
  let linked = 0;
  await registered(store, 1);
  const connection = await whatsapp.connect(1, {
    tell(event) {
      if (event.type === "qr") qrs.push(event.text);
      if (event.type === "passkey") requests.push(event.request);
      if (event.type === "linked") linked++;
      if (event.type === "closed") closes.push(`${event.closed.code} ${event.closed.reason}`);
    },
    messages: () => NO_INTAKE,
    store: async () => undefined,
  });
  atEnd(() => connection.close());
  const scan = owner.scan(await until("a QR", () => qrs[0]));
  scan.catch(() => undefined);
  const request = await until("the question", () => requests[0]);
  return {
    sim,
    browser,
    connection,
    request,
    closes,
    scanned: scan,
    asked: () => requests.at(-1) ?? null,
    linked: () => linked,
    goOn: (ms) => void (ahead += ms),
  };
}

it("links with the passkey, and nobody has to compare a code while the QR is fresh", async () => {
  const { browser, connection, request, scanned: scan, sim, asked, linked } = await scanned();
  expect(request).toMatchObject({ rpId: "whatsapp.com", timeout: 600_000, userVerification: "required" });

  expect(await connection.answerPasskey(browser.assert(request))).toEqual({ state: "linking" });

  expect(await scan).toMatchObject({ device: 1 });
  expect(await sim.passkeyCode(OWN)).toMatchObject({ mustCompare: false });
  await until("linked", () => linked() === 1);
  expect(asked()).toBeNull();
});

it("shows the phone's code when the QR was scanned too long ago, and links once it is confirmed", async () => {
  const { browser, connection, request, scanned: scan, sim, goOn, linked } = await scanned();
  goOn(5 * 60_000 + 1);
  await expect(connection.confirmPasskey()).rejects.toThrow(NoPasskeyRequest);

  const step = await connection.answerPasskey(browser.assert(request));

  const { code, mustCompare } = await sim.passkeyCode(OWN);
  expect(mustCompare).toBe(true);
  expect(code).toMatch(/^[1-9A-Z]{4}-[1-9A-Z]{4}$/);
  expect(step).toEqual({ state: "confirm", code });
  expect(linked()).toBe(0);
  await connection.confirmPasskey();
  expect(await scan).toMatchObject({ device: 1 });
  await until("linked", () => linked() === 1);
  await expect(connection.confirmPasskey()).rejects.toThrow(NoPasskeyRequest);
});

it("asks what it is asked for when the notification does not say", async () => {
  const { browser, connection, request, scanned: scan } = await scanned({ withoutOptions: true });
  await connection.answerPasskey(browser.assert(request));
  expect(await scan).toMatchObject({ device: 1 });
});

it("reports what WhatsApp refuses, leaves the question as it was, and takes the right answer after it", async () => {
  const { browser, connection, request, scanned: scan, sim, closes } = await scanned();
  const wrong = [
    browser.assert(request, { origin: "https://web.whatsapp.com.example" }),
    browser.assert(request, { challenge: Buffer.from("another").toString("base64url") }),
    browser.assert(request, { rpId: "example.com" }),
    browser.assert(request, { flags: 0x01 }),
    browser.assert(request, { type: "webauthn.create" }),
    createAuthenticator().assert(request),
    createAuthenticator().assert(request, { id: browser.passkey.credentialId }),
  ];
  for (const assertion of wrong)
    await expect(connection.answerPasskey(assertion)).rejects.toMatchObject({ code: 401 });
  expect(await sim.expectViolation("passkey_assertion")).toHaveLength(wrong.length);
  expect(closes).toEqual([]);

  const both = await Promise.allSettled([
    connection.answerPasskey(browser.assert(request)),
    connection.answerPasskey(browser.assert(request)),
  ]);

  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await scan).toMatchObject({ device: 1 });
  await expect(connection.answerPasskey(browser.assert(request))).rejects.toThrow(NoPasskeyRequest);
});

it("ends when nobody answers in time, and takes nothing after that", async () => {
  const { browser, connection, request, closes } = await scanned({ timeoutMs: 300 });
  await until("the end", () => closes[0]);
  expect(closes).toEqual(["408 QR refs attempts ended: nobody answered the passkey request"]);
  await expect(connection.answerPasskey(browser.assert(request))).rejects.toThrow(NoPasskeyRequest);
});

it("fails the answer when the connection is lost before the phone has answered", async () => {
  const { browser, connection, request, sim, goOn, asked } = await scanned();
  goOn(5 * 60_000 + 1);
  await sim.faults.holdDeliveries({ number: OWN, device: 0 });
  const answered = connection.answerPasskey(browser.assert(request));
  answered.catch(() => undefined);
  await until("the assertion", () => asked() === null);
  await connection.close();
  await expect(answered).rejects.toThrow(PasskeyRefused);
});
