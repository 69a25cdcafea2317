import { describe, expect, it, onTestFinished } from "vitest";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import type { WebhookEventName } from "../../../src/model/webhook-words.ts";
import {
  ACCOUNT,
  DEVICE,
  OWN_NUMBER,
  jid,
  reply,
  scriptedLine,
  startRun,
  submitTo,
  until,
  type Run,
} from "../outbox/harness.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { receiver, status, type Receiver } from "./gateway.ts";

const NOTHING = {
  message: "",
  text: "",
  bufferImage: null,
  pushName: "",
  participant: null,
  from_lid: null,
  expires_at: null,
  quoted: null,
  mentions: [],
  media: null,
  location: null,
  contacts: null,
  reaction: null,
  target_id: null,
  poll: null,
  handled_by: null,
  state: null,
  reason: null,
  until: null,
  error: null,
};

async function open(folder?: string): Promise<Run & { stop(): Promise<void> }> {
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const run = await startRun({ folder, env: { SEND_WAIT_MS: "2000" }, parts: { http, collectMs: 0 } });
  await run.path.load();
  await run.path.open(DEVICE);
  run.path.start();
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await run.path.drain(0);
    await run.path.sent();
    await http.close();
    await run.close();
  };
  onTestFinished(stop);
  return { ...run, stop };
}

async function configured(run: Run, events: WebhookEventName[]): Promise<Receiver> {
  const hook = await receiver();
  await run.path.webhooks.put(DEVICE, { url: hook.url, events });
  return hook;
}

const statesOf = (hook: Receiver): unknown[] => hook.posts.map(({ event }) => event.state);
const now = (): number => Math.floor(Date.now() / 1000);

describe("the event of a sent message's state", () => {
  it("is posted for each state, in order, with every field", async () => {
    const run = await open();
    const hook = await configured(run, ["status"]);
    await run.connect(scriptedLine());
    const began = now();

    const [sent] = await submitTo(run.outbox, [4915001], "hello");
    for (const state of ["delivered", "read", "played"] as const) {
      run.path.receipts(DEVICE, [{ jid: jid(4915001), waId: sent!.id!, state, at: Date.now() }]);
      await run.outbox.drain();
    }
    await until(() => expect(hook.posts).toHaveLength(4));

    expect(statesOf(hook)).toEqual(["sent", "delivered", "read", "played"]);
    const timestamp = expect.toSatisfy((at: number) => Number.isInteger(at) && at >= began && at <= now());
    expect(hook.posts[1]!.event).toEqual({
      ...NOTHING,
      type: "status",
      id: sent!.id,
      target_id: sent!.id,
      state: "delivered",
      from: OWN_NUMBER,
      device: OWN_NUMBER,
      chat: "4915001",
      is_group: false,
      timestamp,
    });
    expect(new Set(hook.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(4);
  });

  it("says why a message failed", async () => {
    const run = await open();
    const hook = await configured(run, ["status"]);
    await run.connect(scriptedLine(() => ({ kind: "refused", code: 400, reason: "no" })));

    const destinations = [{ number: "123@g.us", jid: "123@g.us" }];
    const draft = { kind: "text", text: "hello" } as const;
    const [failed] = await run.outbox.submit({ deviceId: DEVICE, destinations, draft });
    await until(() => expect(hook.posts).toHaveLength(1));

    expect(failed).toMatchObject({ state: "failed" });
    expect(hook.posts[0]!.event).toMatchObject({
      id: failed!.id,
      state: "failed",
      is_group: true,
      error: { code: "WHATSAPP_REFUSED", message: "no", whatsapp_code: 400 },
    });
  });

  it("tells of a state once, and never of one that is behind", async () => {
    const run = await open();
    const hook = await configured(run, ["status"]);
    await run.connect(scriptedLine());
    const [sent] = await submitTo(run.outbox, [4915001], "hello");
    for (const state of ["read", "delivered", "read", "delivered"] as const) {
      run.path.receipts(DEVICE, [{ jid: jid(4915001), waId: sent!.id!, state, at: Date.now() }]);
      await run.outbox.drain();
    }
    run.path.receipts(DEVICE, [{ jid: jid(4915001), waId: sent!.id!, state: "played", at: Date.now() }]);
    await until(() => expect(statesOf(hook)).toContain("played"));
    expect(statesOf(hook)).toEqual(["sent", "read", "played"]);
  });

  it("is told of a bot's reply as well, and of messages that lose their phone", async () => {
    const run = await open();
    const hook = await configured(run, ["status"]);
    const line = scriptedLine();
    await run.connect(line);
    const [id] = await reply(run, 7, jid(4915002), ["answer"]);
    await until(() => expect(hook.posts).toHaveLength(1));
    await run.connect(null);
    const [queued] = await reply(run, 8, jid(4915003), ["never leaves"]);
    await run.path.unlinked(DEVICE);
    await until(() => expect(hook.posts).toHaveLength(2));
    expect(hook.posts.map(({ event }) => [event.id, event.state])).toEqual([
      [id, "sent"],
      [queued, "failed"],
    ]);
    expect(hook.posts[1]!.event.error).toMatchObject({ code: "SENDER_NOT_CONNECTED" });
  });

  it("is not posted to a webhook that does not ask for it, or is off", async () => {
    const run = await open();
    const hook = await configured(run, ["message", "poll_vote", "device"]);
    await run.connect(scriptedLine());
    await submitTo(run.outbox, [4915001], "hello");
    await run.path.webhooks.put(DEVICE, { url: hook.url, events: ["status"], mode: "off" });
    await submitTo(run.outbox, [4915001], "hello");
    await run.path.webhooks.put(DEVICE, { url: hook.url, events: ["status"] });
    const [third] = await submitTo(run.outbox, [4915001], "hello");
    await until(() => expect(hook.posts).toHaveLength(1));
    expect(hook.posts[0]!.event).toMatchObject({ id: third!.id });
  });

  it("is never answered, whatever the webhook says, and says so on the delivery", async () => {
    const run = await open();
    const hook = await configured(run, ["status"]);
    hook.answer(status(200, { message: "thanks", hold: 600 }));
    const line = scriptedLine();
    await run.connect(line);
    const [sent] = await submitTo(run.outbox, [4915001], "hello");
    const delivered = async () =>
      (await run.path.webhooks.deliveries.list({ deviceIds: [DEVICE], limit: 10 })).deliveries;
    await until(async () => expect((await delivered())[0]?.state).toBe("delivered"));

    expect(await delivered()).toMatchObject([
      { messageId: sent!.id, type: "status", reply: { understood: true, ids: [] } },
    ]);
    expect((await delivered())[0]!.reply!.ignored).toEqual([expect.stringContaining("not sent")]);
    await run.outbox.drain();
    expect(line.sent).toHaveLength(1);
  });

  it("outlives the gateway: stored with the state, posted by the next run", async () => {
    const folder = temporaryFolder();
    const first = await open(folder);
    const hook = await configured(first, ["status"]);
    // Away for as long as the first run lasts.
    hook.answer(status(503, "", { "retry-after": "0" }));
    await first.connect(scriptedLine());
    const [sent] = await submitTo(first.outbox, [4915001], "hello");
    await until(() => expect(hook.posts.length).toBeGreaterThan(0));
    await first.stop();
    const id = hook.posts[0]!.headers["webhook-id"];
    hook.posts.length = 0;
    hook.answer(status(200));

    const second = await open(folder);
    await second.path.webhooks.deliveries.replay(ACCOUNT, String(id));
    await until(() => expect(hook.posts).toHaveLength(1));

    expect(hook.posts[0]!.event).toMatchObject({ id: sent!.id, state: "sent" });
    expect(hook.posts[0]!.headers["webhook-id"]).toBe(id);
  });
});

describe("the event of what the owner has read elsewhere", () => {
  it("is posted for each message, once, to a webhook that asks for it", async () => {
    const run = await open();
    const hook = await configured(run, ["read"]);
    await run.connect(scriptedLine());
    const at = Date.now();
    run.path.read(DEVICE, { jid: jid(4915001), waIds: ["3A01", "3A02"], at });
    run.path.read(DEVICE, { jid: "12345@g.us", waIds: ["3A03"], at });
    run.path.read(DEVICE, { jid: jid(4915001), waIds: ["3A02"], at: at + 1 });
    run.path.read(DEVICE, { jid: jid(4915002), waIds: ["3A04"], at });
    await until(() => expect(hook.posts).toHaveLength(4));

    expect(hook.posts.map(({ event }) => event.id).toSorted()).toEqual(["3A01", "3A02", "3A03", "3A04"]);
    expect(hook.posts.find(({ event }) => event.id === "3A03")!.event).toEqual({
      ...NOTHING,
      type: "read",
      state: "read",
      id: "3A03",
      target_id: "3A03",
      from: OWN_NUMBER,
      device: OWN_NUMBER,
      chat: "12345@g.us",
      is_group: true,
      timestamp: Math.floor(at / 1000),
    });
  });

  it("is posted to no webhook that does not ask for it", async () => {
    const run = await open();
    const hook = await configured(run, ["message", "status"]);
    await run.connect(scriptedLine());
    run.path.read(DEVICE, { jid: jid(4915001), waIds: ["3A01"], at: Date.now() });
    await run.path.webhooks.put(DEVICE, { url: hook.url, events: ["read"] });
    run.path.read(DEVICE, { jid: jid(4915001), waIds: ["3A02"], at: Date.now() });
    await until(() => expect(hook.posts).toHaveLength(1));
    expect(hook.posts[0]!.event.id).toBe("3A02");
  });
});

describe("the event of a number's state", () => {
  it("tells of the reach-out lock, with its end", async () => {
    const run = await open();
    const hook = await configured(run, ["device"]);
    const end = Date.now() + 5 * 60_000;
    await run.connect(scriptedLine(() => ({ kind: "refused", code: 463, reason: "463", until: end })));
    await submitTo(run.outbox, [4915001], "hello");
    await until(() => expect(hook.posts).toHaveLength(1));
    expect(hook.posts[0]!.event).toEqual({
      ...NOTHING,
      type: "device",
      id: hook.posts[0]!.headers["webhook-id"],
      from: OWN_NUMBER,
      device: OWN_NUMBER,
      chat: OWN_NUMBER,
      is_group: false,
      timestamp: expect.toSatisfy(Number.isInteger),
      state: "connected",
      reason: "reachout_locked",
      until: new Date(end).toISOString(),
    });
  });
});
