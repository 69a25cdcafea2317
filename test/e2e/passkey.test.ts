import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PasskeyRequest } from "../../src/model/passkey.ts";
import { createAuthenticator } from "../../src/demo/authenticator.ts";
import { linesFor, openWhatsAppWeb, type WhatsAppWeb } from "../_setup/whatsapp-web.ts";
import { closeWorld, keepWorld, openWorld, until, type World } from "../_setup/world.ts";

const MALFORMED: [string, unknown][] = [
  ["nothing", undefined],
  ["text", "assertion"],
  ["an empty object", {}],
  ["standard base64", { ...createAuthenticator().assert(questionOf()), id: "a+b/c==" }],
  ["no response", { id: "YQ", rawId: "YQ", type: "public-key" }],
  ["another type", { ...createAuthenticator().assert(questionOf()), type: "password" }],
  ["a list", [1, 2]],
];

function questionOf(): PasskeyRequest {
  const extensions = { uvm: true };
  return {
    challenge: "YQ",
    rpId: "x",
    timeout: 1,
    allowCredentials: [],
    userVerification: "required",
    extensions,
  };
}

let world: World;
let web: WhatsAppWeb;
let last = 31600000100;
beforeAll(async () => {
  [world, web] = await Promise.all([keepWorld({ env: { PASSKEY_LINKING: "1" } }), openWhatsAppWeb()]);
  await world.gateway.patch(
    `/admin/accounts/${world.account}`,
    { plan: "pro" },
    { key: world.gateway.adminToken },
  );
});
afterAll(async () => {
  await web?.close();
  if (world) await closeWorld(world);
});

const qr = (number: string, fields: object = {}) =>
  world.gateway.post("/generate-qr", { device: number, ...fields }, { key: world.key });
const answer = (number: string, body: object, key = world.key) =>
  world.gateway.post(`/devices/${number}/passkey`, body, { key });
const confirm = (number: string, key = world.key) =>
  world.gateway.post(`/devices/${number}/passkey/confirm`, {}, { key });

/** A number whose phone has scanned, and that waits for the passkey. */
async function askedFor(passkey: WhatsAppWeb["passkey"]) {
  const number = String(++last);
  const owner = await world.sim.addNumber(number);
  await world.sim.requirePasskey(number, passkey);
  let scan: Promise<unknown> | undefined;
  let request!: PasskeyRequest;
  await until(async () => {
    const { body } = await qr(number);
    if (body["state"] === "qr") scan ??= owner.scan(body["qr"]);
    scan?.catch(() => undefined);
    if (body["state"] !== "passkey") return false;
    const message =
      "WhatsApp asks for the passkey of this account: answer with POST /devices/{number}/passkey";
    expect(body).toEqual({
      status: false,
      state: "passkey",
      device: number,
      passkey: body["passkey"],
      expires_in: expect.any(Number),
      msg: message,
      message,
    });
    expect(body["expires_in"]).toBeLessThanOrEqual(600);
    expect(body["expires_in"]).toBeGreaterThan(540);
    request = body["passkey"];
    return true;
  });
  return { number, request, scan: scan! };
}

describe("linking a number whose account has a passkey", () => {
  it("takes what a real browser on WhatsApp's origin answers, and is connected", async () => {
    const { number, request, scan } = await askedFor(web.passkey);
    expect(request).toMatchObject({
      rpId: "whatsapp.com",
      userVerification: "required",
      extensions: { uvm: true },
    });

    const given = await answer(number, { assertion: await web.run(linesFor(request)) });

    expect(given.status).toBe(200);
    expect(given.body).toMatchObject({ status: true, state: "linking" });
    await scan;
    await until(async () => (await qr(number)).body["state"] === "connected");
    expect(await world.sim.passkeyCode(number)).toMatchObject({ mustCompare: false });
  });

  it("takes what the extension's one click answers", async () => {
    const { number, request, scan } = await askedFor(web.passkey);
    const shown: string[] = [];
    const handle = (dialog: import("playwright-core").Dialog): void => {
      shown.push(dialog.defaultValue() || dialog.message());
      void dialog.accept(JSON.stringify({ state: "passkey", passkey: request }));
    };
    web.page.on("dialog", handle);
    await web.page.evaluate(readFileSync("docs/passkey/extension/answer.js", "utf8"));
    web.page.off("dialog", handle);
    expect(shown).toHaveLength(2);

    const given = await answer(number, { assertion: JSON.parse(shown[1]!) });

    expect(given.body).toMatchObject({ state: "linking" });
    await scan;
  });

  it("ships lines and an extension that are short enough to be read before they are used", () => {
    const lengthOf = (file: string) =>
      readFileSync(`docs/passkey/${file}`, "utf8").trimEnd().split("\n").length;
    expect(lengthOf("ask.js")).toBeLessThanOrEqual(30);
    const files = ["manifest.json", "click.js", "answer.js"].map((name) => lengthOf(`extension/${name}`));
    expect(files.reduce((sum, lines) => sum + lines)).toBeLessThanOrEqual(100);
  });

  it("refuses a wrong, a repeated and a late assertion, each in its own words, and goes on where it was", async () => {
    const browser = createAuthenticator();
    const { number, request, scan } = await askedFor(browser.passkey);

    const wrong = await answer(number, {
      assertion: browser.assert(request, { origin: "https://example.com" }),
    });
    expect([wrong.status, wrong.body["errors"].code, wrong.body["errors"].whatsapp_code]).toEqual([
      502,
      "WHATSAPP_REFUSED",
      401,
    ]);
    await world.sim.expectViolation("passkey_assertion");
    const early = await confirm(number);
    expect([early.status, early.body["errors"].code]).toEqual([409, "NO_PASSKEY_REQUEST"]);
    expect((await qr(number)).body).toMatchObject({
      state: "passkey",
      passkey: { challenge: request.challenge },
    });

    expect((await answer(number, { assertion: browser.assert(request) })).status).toBe(200);
    await scan;
    await until(async () => (await qr(number)).body["state"] === "connected");
    const repeated = await answer(number, { assertion: browser.assert(request) });
    expect([repeated.status, repeated.body["errors"].code]).toEqual([409, "NO_PASSKEY_REQUEST"]);
    expect((await qr(number)).body["state"]).toBe("connected");
  });

  it.each(MALFORMED)("names `assertion` when it is %s", async (_, assertion) => {
    const number = String(++last);
    await world.gateway.post("/devices", { device: number }, { key: world.key });
    const given = await answer(number, { assertion });
    expect([given.status, given.body["errors"].code]).toEqual([400, "INVALID_PARAMETERS"]);
    expect(Object.keys(given.body["errors"].fields)).toEqual(["assertion"]);
    await world.gateway.delete(`/devices/${number}`, { key: world.key });
  });

  it("is 409 when nothing is asked for, and 404 for a number that is not the caller's", async () => {
    const number = String(++last);
    await world.gateway.post("/devices", { device: number }, { key: world.key });
    const assertion = createAuthenticator().assert(questionOf());
    const other = await world.gateway.createAccount();

    const none = await answer(number, { assertion });
    const foreign = await answer(number, { assertion }, other.key);
    const unknown = await confirm("31699999999");

    expect([none.status, none.body["errors"].code]).toEqual([409, "NO_PASSKEY_REQUEST"]);
    expect([foreign.status, foreign.body["errors"].code]).toEqual([404, "NOT_FOUND"]);
    expect([unknown.status, unknown.body["errors"].code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("without PASSKEY_LINKING", () => {
  it("acknowledges the question, and says what WhatsApp asks for instead of showing a QR that cannot work", async () => {
    const off = await openWorld();
    const number = "31600000001";
    const owner = await off.sim.addNumber(number);
    await off.sim.requirePasskey(number, createAuthenticator().passkey);
    const ask = (fields: object = {}) =>
      off.gateway.post("/generate-qr", { device: number, ...fields }, { key: off.key });
    let scanned = false;
    await until(async () => {
      const { body } = await ask();
      if (body["state"] === "qr" && !scanned) {
        scanned = true;
        owner.scan(body["qr"]).catch(() => undefined);
      }
      return body["state"] === "action_required";
    });

    expect((await ask()).body).toMatchObject({
      status: false,
      state: "action_required",
      reason: "passkey",
      device: number,
    });
    const why = (await off.gateway.get(`/devices/${number}/why`, { key: off.key })).body["data"];
    expect(why).toMatchObject({ state: "action_required" });
    expect(why.advice).toContain("PASSKEY_LINKING=1");
    const given = await off.gateway.post(
      `/devices/${number}/passkey`,
      { assertion: createAuthenticator().assert(questionOf()) },
      { key: off.key },
    );
    expect([given.status, given.body["errors"].code]).toEqual([409, "NO_PASSKEY_REQUEST"]);
    await until(async () => (await ask({ force: "1" })).body["state"] !== "action_required");
  });
});
