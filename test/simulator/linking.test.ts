import { expect, it } from "vitest";
import { Client, MemoryAuth, again, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";

it("links a companion by QR, restarts it with 515 and lets it log in", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER, { name: "Shop" });
  const client = new Client(sim);
  const qr = await until("QR", () => client.qrs[0]);
  const companion = await number.scan(qr);
  expect(companion.device).toBe(1);
  await client.untilOpen();
  expect(client.closeCodes).toEqual([515]);
  expect(client.auth.creds.me?.id).toBe(`${NUMBER}:1@s.whatsapp.net`);
  expect(client.auth.creds.me?.lid).toBe(number.lid.replace("@", ":1@"));
  expect(await sim.online(NUMBER)).toBe(true);
  const [listed] = await number.companions();
  expect(listed).toMatchObject({ device: 1, online: true });
  expect(listed!.preKeys).toBeGreaterThan(700);
});

it("completes the first sync, so that a client stops waiting for history", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER, { fireInitQueries: true });
  await until("first sync", () => (client.auth.creds.accountSyncCounter ?? 0) > 0);
  expect(client.auth.creds.myAppStateKeyId).toBeTruthy();
});

it("links a companion by pairing code", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = new Client(sim);
  await until("QR", () => client.qrs[0]);
  const code = await client.socket.requestPairingCode(NUMBER);
  await number.enterPairingCode(code);
  await client.untilOpen();
  expect(client.auth.creds.registered).toBe(true);
  expect(await sim.online(NUMBER)).toBe(true);
});

it("refuses a wrong pairing code", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = new Client(sim);
  await until("QR", () => client.qrs[0]);
  await client.socket.requestPairingCode(NUMBER, "ABCD2345");
  await expect(number.enterPairingCode("ZZZZ9999")).rejects.toThrow("The pairing code is wrong");
  expect(await number.companions()).toEqual([]);
});

it("tells a business account from a standard one", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER, { edition: "business", name: "Bakery" });
  const client = await link(sim, NUMBER);
  expect(client.auth.creds.platform).toBe("smba");
  expect(client.auth.creds.me?.name).toBe("Bakery");
});

it("links to the number whose phone scans", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  await sim.addNumber("31600000002");
  const client = new Client(sim);
  await number.scanAs("31600000002", await until("QR", () => client.qrs[0]));
  await client.untilOpen();
  expect(client.auth.creds.me?.id).toBe("31600000002:1@s.whatsapp.net");
  expect(await number.companions()).toEqual([]);
});

it("refuses credentials that it does not know with 401", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const auth = new MemoryAuth();
  auth.creds.me = { id: `${NUMBER}:7@s.whatsapp.net` };
  const client = new Client(sim, {}, auth);
  expect(await client.untilClosed()).toBe(401);
});

it("refuses a known device with another Noise key", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  await client.end();
  const thief = new MemoryAuth();
  thief.creds.me = client.auth.creds.me;
  expect(await new Client(sim, {}, thief).untilClosed()).toBe(401);
});

it("rotates QR references, refuses an expired one and lets them run out", async () => {
  const sim = await simulate({ qrRefs: 3, qrFirstMs: 120, qrNextMs: 120 });
  const number = await sim.addNumber(NUMBER);
  const client = new Client(sim, { qrTimeout: 120 });
  const first = await until("first QR", () => client.qrs[0]);
  await until("third QR", () => client.qrs[2]);
  expect(new Set(client.qrs).size).toBe(3);
  await expect(number.scan(first)).rejects.toThrow("404 (item-not-found)");
  expect(await client.untilClosed()).toBe(408);
});

it("gives every companion a device number of its own and keeps them apart", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  await link(sim, NUMBER);
  await link(sim, NUMBER);
  expect((await number.companions()).map(({ device, online }) => ({ device, online }))).toEqual([
    { device: 1, online: true },
    { device: 2, online: true },
  ]);
});

it("logs a companion out from the phone, and its credentials are worth nothing then", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  await number.logoutCompanion(1);
  expect(await client.untilClosed(2)).toBe(401);
  expect(await number.companions()).toEqual([]);
  expect(await again(sim, client).untilClosed()).toBe(401);
});

it("forgets a companion that logs itself out", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  await client.socket.logout();
  await until("removal", async () => (await number.companions()).length === 0);
  expect(await client.untilClosed(2)).toBe(401);
});

it("replaces the first login by the second with 440", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  const second = new Client(sim, {}, client.auth.clone());
  await second.untilOpen();
  expect(await client.untilClosed(2)).toBe(440);
  expect(await sim.online(NUMBER)).toBe(true);
});

it("tells contacts of companions that come and go", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const contact = await sim.addContact("31611111111");
  const first = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "to one");
  await first.untilText("to one");
  const second = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "to two");
  await Promise.all([first.untilText("to two"), second.untilText("to two")]);
  await number.logoutCompanion(1);
  await first.untilClosed(2);
  const { id } = await contact.sendText(NUMBER, "to the other");
  await second.untilText("to the other");
  const receivers = await sim.transcript({ id });
  expect(receivers.map(({ device }) => device).sort()).toEqual([0, 2]);
});
