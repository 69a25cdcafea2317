import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { command } from "../_setup/command.ts";
import { fasterClock } from "../_setup/fake-clock.ts";
import { asNodes } from "../_setup/node-services.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { scanning } from "../_setup/scanning.ts";
import { openWorld, until } from "../_setup/world.ts";

const NUMBER = "31600000001";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const told = (hook: Receiver): string[] =>
  hook.events.flatMap(({ body }) =>
    (body["alerts"] as { alert: string; status: string }[]).map(({ alert, status }) => `${alert} ${status}`),
  );

it("tells the operator of a number that is logged out, over a kill, and when it is linked again", async () => {
  const hook = await startReceiver();
  const world = await openWorld({ env: { ALERT_URL: hook.url, ALERT_SECRET: SECRET } });
  const { gateway, sim } = world;
  const owner = await sim.addNumber(NUMBER);
  const link = async (): Promise<void> => {
    const isLinked = scanning(owner);
    await until(async () =>
      isLinked((await gateway.post("/generate-qr", { device: NUMBER }, { key: world.key })).body),
    );
  };
  await link();
  await sim.faults.close({ number: NUMBER, code: 401 });
  await until(() => hook.events.length > 0);
  expect(told(hook)).toEqual(["number_logged_out open"]);
  new Webhook(SECRET).verify(hook.events[0]!.text, hook.events[0]!.headers as Record<string, string>);
  expect(hook.events[0]!.body).toMatchObject({
    gateway: gateway.url,
    text: expect.stringContaining("Link it again"),
    alerts: [{ device: NUMBER, account: world.account, since: expect.stringMatching(/^20/), until: null }],
  });

  // A kill is told of, and what was told is not: once it is known here that it has arrived.
  const telling = async () =>
    (await gateway.get("/admin/alerts", { key: gateway.adminToken })).body["data"].telling;
  await until(async () => (await telling()).delivered_at !== null);
  await gateway.kill();
  await gateway.restart();
  await until(() => hook.events.length > 1);
  expect(told(hook)).toEqual(["number_logged_out open", "restarted over"]);
  const asked = { env: gateway.operatorEnv };
  expect(await command(asked, "alerts", "list")).toContain(`+${NUMBER} was logged out. The phone`);
  expect(await command(asked, "alerts", "test")).toContain("The sample arrived: 200 after");
  expect(told(hook).at(-1)).toBe("test open");

  await link();
  await until(() => told(hook).includes("number_logged_out over"));
  await gateway.restart();
  expect(await command(asked, "alerts", "list")).toContain("Nothing is wrong.");
  expect(told(hook)).toEqual([
    "number_logged_out open",
    "restarted over",
    "test open",
    "number_logged_out over",
  ]);
  expect(gateway.output()).not.toContain("/hook");
});

it("tells of receivers that are switched off, and keeps what does not arrive", async () => {
  const hook = await startReceiver();
  hook.status = 500;
  const customer = await startReceiver();
  customer.status = 410;
  const world = await openWorld({ env: { ALERT_URL: hook.url, ...fasterClock(10) } });
  const { gateway, sim } = world;
  await world.link(NUMBER);
  await gateway.put(`/devices/${NUMBER}/webhook`, { url: customer.url }, { key: world.key });
  await sim.addContact("31600000009");
  await sim.sendText("31600000009", NUMBER, "hello");
  await until(() => told(hook).includes("webhook_off open"));
  await gateway.post(`/devices/${NUMBER}/webhooks`, { url: customer.url }, { key: world.key });
  await sim.sendText("31600000009", NUMBER, "hello again");
  await until(() =>
    hook.events.some(({ text }) => text.includes(`A listener of +${NUMBER} was switched off`)),
  );
  const env = { ...gateway.operatorEnv, ALERT_URL: hook.url };
  await until(async () => {
    const { body } = await gateway.get("/admin/alerts", { key: gateway.adminToken });
    return body["data"].telling.failures > 1;
  });
  expect(await command({ env }, "alerts", "list")).toMatch(
    /do not arrive at 127.0.0.1:\d+ since .* \(answered 500\)/,
  );
  hook.status = 200;
  await until(
    async () =>
      (await gateway.get("/admin/alerts", { key: gateway.adminToken })).body["data"].telling.failures === 0,
  );
  expect(told(hook)).not.toContain("webhook_off over");
});

// Nodes go by the clock of their database, which nobody makes faster.
it.skipIf(asNodes)("tells of a number that stays away for five minutes", async () => {
  const hook = await startReceiver();
  const { sim, ...world } = await openWorld({ env: { ALERT_URL: hook.url, ...fasterClock(10) } });
  await world.link(NUMBER);
  await sim.faults.refuseUpgrade({ status: 503, times: 1_000_000 });
  await sim.faults.dropSocket({ number: NUMBER });
  await until(() => told(hook).includes("number_away open"), 120_000);
  expect(told(hook)).toEqual(["number_away open"]);
});
