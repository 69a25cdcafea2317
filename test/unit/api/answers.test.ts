import { describe, expect, it } from "vitest";
import { outcomesResult } from "../../../src/api/work/send.ts";
import { endpoints } from "../../../src/api/endpoints/index.ts";
import { ERROR_STATUS, GatewayError, type ErrorCode } from "../../../src/model/errors/errors.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { SendResult } from "../../../src/outbox/submitting/submit.ts";
import type { DeliveryRecord, WebhookRecord, WebhookSettings } from "../../../src/webhooks/index.ts";
import type { BotRecord } from "../../../src/bot/files/registry.ts";
import routes from "../../_setup/routes.ts";
import { createRoutesApp, device, OWN_NUMBER, type Parts } from "../../_setup/routes-app.ts";

const SEND = { sender: OWN_NUMBER, number: "4915100000001", message: "hi" };
const THREE = { ...SEND, number: "4915100000001|4915100000002|4915100000003" };

/** A send whose outcomes are these. */
const sendWith = (results: Partial<SendResult>[], body: object = results.length === 1 ? SEND : THREE) =>
  createRoutesApp({
    outbox: {
      submit: async ({ destinations }) =>
        destinations.map(({ number }, index) => ({
          number,
          state: "sent",
          id: `3EB0${index}`,
          ...results[index],
        })),
    },
  }).ask("POST", "/send-message", body);

const failed = (code: ErrorCode, extra = {}): Partial<SendResult> => ({
  state: "failed",
  error: { code, ...extra },
});

describe("endpoints", () => {
  it("are described one by one, and each description has its route", () => {
    const described = endpoints.map(({ method, path }) => `${method} ${path}`).toSorted();
    const served = routes
      .filter(({ method }) => method !== "HEAD")
      .map(({ method, route }) => `${method} ${route.replace(/:(\w+)/g, "{$1}")}`);
    expect(served.toSorted()).toEqual(described);
  });
});

describe("the answer of a send", () => {
  it("is 200 when it was sent, with id and state at the top", async () => {
    const answer = await sendWith([{ state: "sent" }]);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: true,
      msg: "Message sent successfully!",
      message: "Message sent successfully!",
      results: [{ number: "4915100000001", status: true, state: "sent", id: "3EB00" }],
      id: "3EB00",
      state: "sent",
    });
  });

  it("is 202 with status true when it waits", async () => {
    expect(await sendWith([{ state: "queued" }])).toMatchObject({
      status: 202,
      body: { status: true, msg: "Message queued!", state: "queued" },
    });
  });

  it("has no id at the top for several destinations, and is 200 when all were sent", async () => {
    const answer = await sendWith([{}, {}, {}]);
    expect(answer).toMatchObject({ status: 200, body: { status: true, msg: "Message sent successfully!" } });
    expect(answer.body).not.toHaveProperty("id");
    expect(answer.body).not.toHaveProperty("state");
  });

  it("is 200 when any was sent, and counts them", async () => {
    const answer = await sendWith([failed("NOT_ON_WHATSAPP"), {}, { state: "sent" }]);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: true,
        msg: "2 of 3 messages sent",
        results: [{ status: false, error: { code: "NOT_ON_WHATSAPP" } }, { status: true }, { status: true }],
      },
    });
    expect(answer.body).not.toHaveProperty("errors");
  });

  it("is 202 when none was sent and any waits", async () => {
    expect(
      await sendWith([failed("WHATSAPP_REFUSED"), { state: "queued" }, failed("CANNOT_SEND")]),
    ).toMatchObject({
      status: 202,
      body: { status: true, msg: "Message queued!" },
    });
  });

  it("has the status and the errors of the first when none went", async () => {
    const refusals = [
      failed("CANNOT_SEND", { reason: "only_admins" }),
      failed("NOT_ON_WHATSAPP"),
      failed("NOT_ON_WHATSAPP"),
    ];
    expect(await sendWith(refusals)).toMatchObject({
      status: 403,
      body: {
        status: false,
        msg: "Failed to send message!",
        errors: { code: "CANNOT_SEND", reason: "only_admins" },
      },
    });
  });

  it.each<[ErrorCode, object]>([
    ["NOT_ON_WHATSAPP", {}],
    ["CANNOT_SEND", { reason: "not_member" }],
    ["WHATSAPP_REFUSED", { whatsapp_code: 479 }],
    ["REACHOUT_LOCKED", { whatsapp_code: 463, until: "2030-01-01T00:00:00.000Z" }],
  ])("carries %s of its one destination in errors too", async (code, extra) => {
    expect(await sendWith([failed(code, extra)])).toMatchObject({
      status: ERROR_STATUS[code],
      body: {
        status: false,
        state: "failed",
        errors: { code, ...extra },
        results: [{ error: { code, ...extra } }],
      },
    });
  });

  it.each(Object.keys(ERROR_STATUS) as ErrorCode[])(
    "says why in a sentence when it fails with %s",
    (code) => {
      const of = (...codes: ErrorCode[]): SendResult[] =>
        codes.map((one) => ({ number: "1", state: "failed", id: null, error: { code: one } }));
      for (const results of [of(code), of(code, "NOT_ON_WHATSAPP")]) {
        const answer = outcomesResult(results);
        expect(answer.options).toMatchObject({ httpStatus: ERROR_STATUS[code], status: false });
        const told = answer.fields as { errors: Record<string, unknown>; results: { error: object }[] };
        expect(told.errors["message"]).toMatch(/^[A-Z][^`{}]{10,200}\.$/);
        expect(told.results[0]!.error).toEqual(told.errors);
      }
    },
  );

  it.each<[ErrorCode, object, RegExp]>([
    ["CANNOT_SEND", { reason: "not_member" }, /not a member/],
    ["CANNOT_SEND", { reason: "only_admins" }, /Only admins/],
    ["CANNOT_SEND", { reason: "not_channel_admin" }, /post/],
    ["CANNOT_SEND", { reason: "community" }, /community/],
    ["WHATSAPP_REFUSED", { whatsapp_code: 479 }, /479/],
    ["REACHOUT_LOCKED", { until: "2030-01-01T00:00:00.000Z" }, /2030-01-01T00:00:00.000Z/],
    ["INTERNAL_ERROR", { message: "The gateway does not keep it any more." }, /keep it/],
  ])("says of %s with %j what is known of it", async (code, extra, words) => {
    const { body } = await sendWith([failed(code, extra)]);
    expect(body["errors"]).toMatchObject({ code, ...extra, message: expect.stringMatching(words) });
  });

  it("that is refused as a whole says why as well, behind the words that old clients look for", async () => {
    const unlinked = createRoutesApp({ numbers: { isLinked: () => false, find: () => device } });
    const notLinked = await unlinked.ask("POST", "/send-message", SEND);
    expect(notLinked.body).toMatchObject({
      msg: "Invalid data!",
      errors: { code: "SENDER_NOT_CONNECTED", message: expect.stringContaining("/generate-qr") },
    });
    const wrong = await createRoutesApp().ask("POST", "/send-message", { ...SEND, message: "" });
    expect(wrong.body).toMatchObject({
      msg: "Invalid parameters!",
      errors: { code: "INVALID_PARAMETERS", message: "message: Is required." },
    });
  });

  it("refuses the whole request for one recipient that the key may not write to", async () => {
    let submitted = 0;
    const app = createRoutesApp({
      keys: {
        authenticate: () => ({
          accountId: "a1",
          keyId: "k1",
          permissions: ["messages"],
          devices: null,
          recipients: ["4915100000001", "4915100000002"],
          account: { id: "a1", name: "", plan: "basic", enabled: true, createdAt: 0 },
        }),
      },
      outbox: { submit: async () => (submitted++, []) },
    });
    expect(await app.ask("POST", "/send-message", THREE)).toMatchObject({
      status: 403,
      body: { errors: { code: "RECIPIENT_NOT_ALLOWED" } },
    });
    expect(submitted).toBe(0);
  });

  it("shows the plan's quota; what was not stored goes back to it", async () => {
    let left = 3;
    const app = createRoutesApp({
      accounts: {
        takeSends(_, wanted) {
          left -= wanted;
          return {
            limit: 10,
            remaining: () => left,
            giveBack: (count) => void (left += count),
            storing: () => [],
            takingBack: () => [],
            explain: async (error) => error,
          };
        },
      },
      outbox: {
        submit: async ({ destinations }) =>
          destinations.map(({ number }, index) => ({
            number,
            state: index === 0 ? ("failed" as const) : ("sent" as const),
            id: index === 0 ? null : "3EB0",
            ...(index === 0 ? { error: { code: "CANNOT_SEND" as const } } : {}),
          })),
      },
    });

    const answer = await app.ask("POST", "/send-message", THREE);

    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-quota-limit")).toBe("10");
    expect(answer.headers.get("x-quota-remaining")).toBe("1");
    expect(left).toBe(1);
  });

  it("refuses a sender that no phone has linked with 409, before anything is stored", async () => {
    const app = createRoutesApp({ numbers: { find: () => device, isLinked: () => false } });
    for (const [path, body] of [
      ["/send-message", SEND],
      ["/groups", SEND],
      ["/resolve-lid", { ...SEND, lid: "123" }],
    ] as const)
      expect(await app.ask("POST", path, body)).toMatchObject({
        status: 409,
        body: { status: false, msg: "Invalid data!", errors: { code: "SENDER_NOT_CONNECTED" } },
      });
  });
});

/** What a caller of `/generate-qr` is told by these numbers. */
const link = (numbers: Parts["numbers"]) =>
  createRoutesApp({ numbers: { find: () => device, ...numbers } }).ask("POST", "/generate-qr", {
    device: OWN_NUMBER,
  });

describe("/generate-qr", () => {
  it("answers each state in the documented words", async () => {
    const qrcode = "data:image/png;base64,AAAA";
    expect((await link({ link: async () => ({ state: "processing" }) })).body).toEqual({
      status: false,
      state: "processing",
      msg: "Processing",
      message: "Processing",
    });
    const qr = await link({ link: async () => ({ state: "qr", qr: "2@x", qrcode, expiresInMs: 19_999 }) });
    expect(qr.body).toMatchObject({
      status: false,
      state: "qr",
      qrcode,
      qr: "2@x",
      expires_in: 19,
      message: "Please scan the QR code",
    });
    expect(qr.headers.get("cache-control")).toBe("no-store");
    const code = await link({
      link: async () => ({ state: "code", code: "ABCD1234", expiresInMs: 160_000 }),
    });
    expect(code.body).toMatchObject({ status: false, state: "code", code: "ABCD1234", expires_in: 160 });
    expect((await link({ link: async () => ({ state: "connected" }) })).body).toMatchObject({
      status: true,
      state: "connected",
      device: OWN_NUMBER,
      message: "Device already connected!",
    });
    expect((await link({ link: async () => ({ state: "connecting" }) })).body).toMatchObject({
      status: true,
      state: "connecting",
      device: OWN_NUMBER,
    });
  });

  it("hands on force and method, and refuses another method", async () => {
    const asked: object[] = [];
    const app = createRoutesApp({
      numbers: {
        find: () => device,
        link: async (_, options) => (asked.push(options), { state: "processing" }),
      },
    });
    await app.ask("POST", "/generate-qr", { device: OWN_NUMBER, force: "1", method: "code" });
    await app.ask("POST", "/generate-qr", { device: OWN_NUMBER, force: true });
    await app.ask("POST", "/generate-qr", { device: OWN_NUMBER, force: "0" });
    const refused = await app.ask("POST", "/generate-qr", { device: OWN_NUMBER, method: "sms" });

    expect(asked).toEqual([
      { force: true, method: "code" },
      { force: true, method: "qr" },
      { force: false, method: "qr" },
    ]);
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: { fields: { method: [expect.any(String)] } } },
    });
  });

  it("answers 409 WRONG_NUMBER with the number that scanned", async () => {
    const wrong = new GatewayError("WRONG_NUMBER", "Another number scanned.", {
      extra: { scanned: "4930999999" },
    });
    expect(await link({ link: () => Promise.reject(wrong) })).toMatchObject({
      status: 409,
      body: { errors: { code: "WRONG_NUMBER", scanned: "4930999999" } },
    });
  });

  it("registers an unknown number, when the plan allows one more", async () => {
    const numbers: Parts["numbers"] = { find: () => null, link: async () => ({ state: "processing" }) };
    const full = new GatewayError("PLAN_LIMIT", "The plan allows 1 number.", { extra: { limit: 1 } });

    expect((await link({ ...numbers, register: async () => device })).body).toMatchObject({
      state: "processing",
    });
    expect(await link({ ...numbers, register: () => Promise.reject(full) })).toMatchObject({
      status: 403,
      body: { errors: { code: "PLAN_LIMIT" } },
    });
  });
});

describe("further answers", () => {
  it("show a number of which everything is known, and one of which nothing is", async () => {
    const full = { ...device, lid: "1@lid", name: "Shop", platform: "android", lastIn: 1, lastOut: 2 };
    const app = createRoutesApp({
      numbers: {
        list: () => [device, full],
        find: () => full,
        why: () => ({
          state: "connecting",
          since: 0,
          reason: null,
          until: null,
          lastClose: { code: 503, reason: "unavailable", at: 5 },
          nextRetryAt: 9,
          waiting: null,
          advice: "Wait.",
          holdups: { media: null, reachout: null, pausedUntil: null, warmUp: null },
        }),
        logout: async () => {},
        remove: async () => {},
        register: async () => device,
      },
    });
    const path = `/devices/${OWN_NUMBER}`;

    expect((await app.ask("GET", "/devices")).body).toMatchObject({
      total: 2,
      data: [{ lid: null }, { lid: "1@lid" }],
    });
    expect((await app.ask("GET", path)).body["data"]).toEqual({
      device: OWN_NUMBER,
      state: "connected",
      since: "2023-11-14T22:13:20.000Z",
      last_in: "1970-01-01T00:00:00.001Z",
      last_out: "1970-01-01T00:00:00.002Z",
      lid: "1@lid",
      name: "Shop",
      platform: "android",
      reachout: null,
      waiting: null,
      new_chats: null,
      calls: "ignore",
      calls_text: null,
      proxy: null,
    });
    expect((await app.ask("GET", `${path}/why`)).body["data"]).toMatchObject({
      last_close: { code: 503, reason: "unavailable", at: "1970-01-01T00:00:00.005Z" },
      next_retry_at: "1970-01-01T00:00:00.009Z",
    });
    expect((await app.ask("POST", `${path}/logout`)).status).toBe(200);
    expect((await app.ask("DELETE", path)).status).toBe(200);
    expect((await app.ask("POST", "/devices", { device: OWN_NUMBER })).status).toBe(200);
  });

  it("say in /why what waits for WhatsApp's media service, unless there is worse to say", async () => {
    const adviceOf = async (state: "connected" | "connecting"): Promise<string> => {
      const why = {
        state,
        since: 0,
        reason: null,
        until: null,
        lastClose: null,
        nextRetryAt: null,
        waiting: null,
        advice: "Something else.",
      };
      const reason = "WhatsApp's media host answered 503.";
      const media = { since: 0, chats: 2, reason };
      const holdups = { media, reachout: { until: 7, reason: null }, pausedUntil: null, warmUp: null };
      const app = createRoutesApp({
        numbers: { find: () => device, why: () => ({ ...why, holdups }) },
      });
      return (await app.ask("GET", `/devices/${OWN_NUMBER}/why`)).body["data"].advice;
    };
    expect(await adviceOf("connected")).toBe(
      "Since 1970-01-01T00:00:00.000Z WhatsApp's media service has not accepted files: WhatsApp's media host answered 503. " +
        "2 chats wait for it and will resume on their own; all others work.",
    );
    expect(await adviceOf("connecting")).toBe("Something else.");
  });

  it("say where a field has to stand whose place is the query", async () => {
    const app = createRoutesApp({ channels: { remove: async () => true } });
    const path = "/channels/120363000000000001@newsletter";
    for (const wrong of [
      await app.ask("DELETE", path),
      await app.ask("DELETE", path, { sender: OWN_NUMBER }),
      await app.ask("GET", "/channels"),
    ])
      expect(wrong).toMatchObject({
        status: 400,
        body: { errors: { fields: { sender: ["Is required in the query: ?sender=…"] } } },
      });
    expect((await app.ask("DELETE", `${path}?sender=${OWN_NUMBER}`)).status).toBe(200);
  });

  it("name at most 20 wrong fields, and say how many there are", async () => {
    const app = createRoutesApp({ bots: { list: () => [] } });
    const path = `/devices/${OWN_NUMBER}/bots`;
    const many = (count: number, entry: object) => ({ bots: Array.from({ length: count }, () => entry) });
    const unknown = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`field_${at}`, 1]));
    for (const [body, total] of [
      [many(300, {}), 600],
      [many(300, { id: "nobody", enabled: true }), 300],
      [{ bots: [], ...unknown }, 70],
      [{ ...many(30, { id: "nobody" }), ...unknown }, 100],
    ] as const) {
      const { status, body: answer } = await app.ask("PUT", path, body);
      expect([status, answer["errors"].code, answer["errors"].total]).toEqual([
        400,
        "INVALID_PARAMETERS",
        total,
      ]);
      expect(Object.keys(answer["errors"].fields)).toHaveLength(20);
    }
    const few = await app.ask("PUT", path, many(20, { id: "nobody", enabled: true }));
    expect(Object.keys(few.body["errors"].fields)).toHaveLength(20);
    expect(few.body["errors"]).not.toHaveProperty("total");
  });

  it("take a number in a path in every spelling", async () => {
    const app = createRoutesApp();
    expect((await app.ask("GET", "/devices/%2B49%20151-12345678")).status).toBe(200);
    expect((await app.ask("GET", "/devices/004915112345678")).status).toBe(200);
    for (const path of ["/devices/me", "/devices/4915199999999", "/devices/120363041234567890@g.us"])
      expect(await app.ask("GET", path)).toMatchObject({
        status: 404,
        body: { errors: { code: "NOT_FOUND" } },
      });
  });

  it("say that a LID's number is not available with HTTP 200", async () => {
    const app = createRoutesApp({
      lids: { resolve: (_, lid) => (lid === "1@lid" ? "4915100000001" : null) },
    });
    const ask = (lid: string) => app.ask("POST", "/resolve-lid", { sender: OWN_NUMBER, lid });

    expect((await ask("1:5@lid")).body).toMatchObject({
      status: true,
      lid: "1@lid",
      number: "4915100000001",
    });
    expect(await ask("2")).toMatchObject({
      status: 200,
      body: { status: false, lid: "2@lid", number: null, errors: { code: "NUMBER_NOT_AVAILABLE" } },
    });
    expect(await ask("abc")).toMatchObject({
      status: 400,
      body: { errors: { fields: { lid: [expect.any(String)] } } },
    });
  });

  it("list groups with the time they were asked for", async () => {
    const group = {
      id: "1@g.us",
      name: "",
      participants: 3,
      onlyAdmins: true,
      isMember: true,
      isAdmin: false,
      canSend: false,
    };
    let lists = 0;
    const app = createRoutesApp({
      groups: {
        list: async (_, { refresh }) => ({
          groups: [group],
          cachedAt: 1_000,
          stale: refresh,
          refreshed: refresh && ++lists > 1,
        }),
      },
    });
    expect((await app.ask("POST", "/groups", { sender: OWN_NUMBER, refresh: 1 })).body).toMatchObject({
      total: 1,
      data: [
        {
          id: "1@g.us",
          name: "",
          participants: 3,
          only_admins: true,
          is_member: true,
          is_admin: false,
          can_send: false,
        },
      ],
      cached_at: "1970-01-01T00:00:01.000Z",
      stale: true,
      refreshed: false,
    });
    expect((await app.ask("POST", "/groups", { sender: OWN_NUMBER, refresh: "1" })).body).toMatchObject({
      refreshed: true,
    });
    expect((await app.ask("POST", "/groups", { sender: OWN_NUMBER })).body).not.toHaveProperty("refreshed");
  });

  it("show what became of a message, of the key's own numbers only", async () => {
    const message = {
      id: "3EB0",
      sender: OWN_NUMBER,
      number: "4915100000001",
      kind: "text",
      origin: "api",
      state: "failed" as const,
      history: [{ state: "queued" as const, at: 0 }],
      sendAt: null,
      error: { code: "WHATSAPP_REFUSED" as const, whatsapp_code: 400 },
    };
    const found = {
      sender: OWN_NUMBER,
      deviceId: 1,
      id: "3EB0",
      chat: "4915100000001@s.whatsapp.net",
      jid: "4915100000001@s.whatsapp.net",
      type: "text" as const,
      by: "gateway" as const,
      participant: null,
      at: null,
      content: null,
      edited: false,
      revoked: false,
      imported: false,
    };
    const app = createRoutesApp({
      numbers: { list: () => [device], find: () => device, catchUp: async () => undefined },
      outbox: { find: async () => message },
      conversations: { lookUp: async (_, id) => (id === "3EB0" ? [found] : []) },
    });
    expect((await app.ask("GET", "/messages/3EB0")).body["data"]).toMatchObject({
      history: [{ state: "queued", at: "1970-01-01T00:00:00.000Z" }],
      error: { code: "WHATSAPP_REFUSED", whatsapp_code: 400 },
    });
    expect((await app.ask("GET", "/messages/other")).status).toBe(404);
  });
});

describe("webhooks", () => {
  const path = `/devices/${OWN_NUMBER}/webhook`;
  const url = "https://example.org/hook";

  it("are stored with the documented defaults, and the secret is shown when it is made", async () => {
    const stored: WebhookRecord[] = [];
    const health = {
      state: "paused",
      failures: 10,
      failingSince: 0,
      pausedUntil: 1000,
      reason: null,
    } as const;
    const app = createRoutesApp({
      webhooks: {
        put: async (_, input) => {
          const config = { ...(input as WebhookSettings), health };
          stored.push(config);
          return { config, secret: stored.length === 1 ? "whsec_x" : null };
        },
        get: () => stored[0] ?? null,
        rotate: async () => ({ config: stored[0]!, secret: "whsec_y" }),
        test: async () => ({
          statusCode: null,
          durationMs: 3,
          answer: null,
          understood: false,
          error: "nobody there",
          request: { url, headers: { "webhook-id": "msg_1" }, body: "{}" },
          replies: [
            { kind: "text", text: "Hi", quoted: true },
            { kind: "poll", name: "Tea?", options: ["Yes", "No"], selectable: 1, quoted: false },
          ],
          ignored: ["buttons"],
          hold: 60,
        }),
        remove: async () => true,
      },
    });
    expect((await app.ask("GET", path)).status).toBe(404);
    const first = await app.ask("PUT", path, { url });
    expect(first.body["data"]).toEqual({
      url,
      mode: "fallback",
      reply_to: "chat",
      events: ["message", "poll_vote"],
      headers: {},
      timeout_ms: 15_000,
      reply_max_age: 3600,
      read: false,
      typing: false,
      enabled: true,
      health: {
        state: "paused",
        failures: 10,
        failing_since: "1970-01-01T00:00:00.000Z",
        paused_until: "1970-01-01T00:00:01.000Z",
        reason: null,
      },
    });
    expect(first.body["secret"]).toBe("whsec_x");
    expect((await app.ask("PUT", path, { url, enabled: "0", timeout_ms: "2000" })).body).not.toHaveProperty(
      "secret",
    );
    expect(stored[1]).toMatchObject({ enabled: false, timeoutMs: 2000 });
    expect((await app.ask("GET", path)).body["data"].url).toBe(url);
    expect((await app.ask("POST", `${path}/rotate`)).body["secret"]).toBe("whsec_y");
    expect((await app.ask("POST", `${path}/test`)).body["data"]).toEqual({
      status_code: null,
      duration_ms: 3,
      answer: null,
      understood: false,
      error: "nobody there",
      request: { method: "POST", url, headers: { "webhook-id": "msg_1" }, body: "{}" },
      replies: [
        { kind: "text", text: "Hi", quoted: true },
        { kind: "poll", text: "Tea?", quoted: false, options: ["Yes", "No"] },
      ],
      ignored: ["buttons"],
      hold: 60,
    });
    expect((await app.ask("DELETE", path)).status).toBe(200);
  });

  it("are 404 when there is none", async () => {
    const app = createRoutesApp({
      webhooks: {
        get: () => null,
        rotate: async () => null,
        test: async () => null,
        remove: async () => false,
      },
    });
    expect((await app.ask("GET", path)).status).toBe(404);
    expect((await app.ask("DELETE", path)).status).toBe(404);
    expect((await app.ask("POST", `${path}/rotate`)).status).toBe(404);
    expect((await app.ask("POST", `${path}/test`)).status).toBe(404);
  });

  it.each([
    ["no address", { url: undefined }, "url"],
    ["an address of another kind", { url: "ftp://example.org" }, "url"],
    ["an address without a host", { url: "https://" }, "url"],
    ["an unknown mode", { mode: "sometimes" }, "mode"],
    ["an unknown event", { events: ["message", "typing"] }, "events.1"],
    ["too short a timeout", { timeout_ms: 999 }, "timeout_ms"],
    ["too long a timeout", { timeout_ms: 30_001 }, "timeout_ms"],
    ["a broken number", { reply_max_age: 1.5 }, "reply_max_age"],
    ["a header with a line break", { headers: { "X-A": "a\r\nX-B: b" } }, "headers.X-A"],
    ["a header name with a space", { headers: { "X A": "a" } }, "headers.X A"],
  ])("are refused with %s", async (_, change, field) => {
    const answer = await createRoutesApp().ask("PUT", path, { url, ...change });
    expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_PARAMETERS" } } });
    expect(Object.keys(answer.body["errors"].fields)).toEqual([field]);
  });

  it("are refused with 422 for a private address", async () => {
    const refusal = new GatewayError("URL_NOT_ALLOWED", "Private.", { fields: { url: ["Private."] } });
    const app = createRoutesApp({ webhooks: { put: () => Promise.reject(refusal) } });
    expect(await app.ask("PUT", path, { url: "http://10.0.0.1/" })).toMatchObject({
      status: 422,
      body: { errors: { code: "URL_NOT_ALLOWED" } },
    });
  });

  it("have deliveries that can be listed, filtered and replayed", async () => {
    const delivery: DeliveryRecord = {
      id: "msg_0a",
      device: OWN_NUMBER,
      listener: null,
      messageId: "ABC",
      type: "text",
      url,
      state: "retrying",
      attempts: [{ at: 0, statusCode: 500, durationMs: 12, error: null, answer: "no" }],
      nextAt: 5_000,
      reply: null,
    };
    const asked: object[] = [];
    const app = createRoutesApp({
      numbers: { list: () => [device], find: () => device },
      deliveries: {
        list: async (filter) => (asked.push(filter), { total: 41, next: "5.1", deliveries: [delivery] }),
        find: (_, id) => (id === "msg_0a" ? delivery : null),
        replay: async () => ({
          ...delivery,
          state: "pending",
          reply: { understood: true, ignored: [], ids: ["3EB0"] },
        }),
      },
    });
    expect((await app.ask("GET", "/deliveries")).body).toMatchObject({
      total: 41,
      next: "5.1",
      data: [{ id: "msg_0a" }],
    });
    await app.ask("GET", `/deliveries?device=%2B${OWN_NUMBER}&state=dead&limit=100&before=msg_0a`);
    await app.ask("GET", "/deliveries?before=2030-01-01T00:00:00Z");
    expect(asked).toMatchObject([
      { deviceIds: [7], limit: 50 },
      { deviceIds: [7], state: "dead", limit: 100, before: "msg_0a" },
      { deviceIds: [7], before: "2030-01-01T00:00:00Z" },
    ]);
    // What `before` names is looked up: test/api/requests.test.ts.
    for (const query of ["limit=101", "limit=0", "limit=x", "state=lost", "device=me", "before="]) {
      const answer = await app.ask("GET", `/deliveries?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_PARAMETERS" } } });
    }
    expect((await app.ask("GET", "/deliveries/msg_0a")).body["data"]).toMatchObject({
      next_at: "1970-01-01T00:00:05.000Z",
    });
    expect(await app.ask("POST", "/deliveries/msg_0a/replay")).toMatchObject({ status: 202 });
    expect((await app.ask("POST", "/deliveries/msg_9/replay")).status).toBe(404);
  });
});

describe("bots", () => {
  const bot: BotRecord = {
    id: "menu",
    priority: 50,
    warnings: [],
    schema: null,
    enable: "bound",
    routes: [{ kind: "keyword", pattern: "menu" }],
  };
  const app = createRoutesApp({
    bots: {
      list: () => [bot, { ...bot, id: "broken", routes: [], error: "SyntaxError" }],
    },
    bindings: {
      list: () => [{ ...bot, enabled: false, config: null }],
      put: async (_, input) => {
        const [{ enabled, config }] = input as [{ enabled: boolean; config: Record<string, unknown> }];
        return [{ ...bot, enabled, config }];
      },
    },
  });
  const path = `/devices/${OWN_NUMBER}/bots`;

  it("are listed, the broken ones with their reason, and bound", async () => {
    expect((await app.ask("GET", "/bots")).body).toMatchObject({
      total: 2,
      data: [bot, { error: "SyntaxError" }],
    });
    expect((await app.ask("GET", path)).body).toMatchObject({ total: 1 });
    const bound = await app.ask("PUT", path, { bots: [{ id: "menu", enabled: "1", config: { a: [1] } }] });
    expect(bound.body["data"]).toEqual([{ ...bot, enabled: true, config: { a: [1] } }]);
  });

  it.each([
    ["an unknown bot", { bots: [{ id: "nobody", enabled: true }] }, "bots.0.id"],
    [
      "a bot twice",
      {
        bots: [
          { id: "menu", enabled: true },
          { id: "menu", enabled: true },
        ],
      },
      "bots.1.id",
    ],
    ["a bot without enabled", { bots: [{ id: "menu" }] }, "bots.0.enabled"],
    ["a priority of 101", { bots: [{ id: "menu", enabled: true, priority: 101 }] }, "bots.0.priority"],
    ["no list", {}, "bots"],
  ])("are not bound with %s", async (_, body, field) => {
    const answer = await app.ask("PUT", path, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_PARAMETERS" } } });
    expect(Object.keys(answer.body["errors"].fields)).toEqual([field]);
  });
});

describe("faults", () => {
  it("of ours say the request id and nothing else, and the log has the cause", async () => {
    const app = createRoutesApp({
      bots: {
        list: () => {
          throw new Error("at /secret/path:1");
        },
      },
    });
    const answer = await app.ask("GET", "/bots");

    expect(answer.status).toBe(500);
    expect(answer.body["errors"]).toEqual({
      code: "INTERNAL_ERROR",
      request_id: answer.headers.get("x-request-id"),
    });
    expect(answer.text).not.toContain("secret");
    // Its kind and its place: its words may be somebody's.
    expect(JSON.parse(app.logged()).err).toMatchObject({
      type: "Error",
      stack: expect.stringMatching(/answers\.test\.ts:\d+:\d+/),
    });
    expect(app.logged()).not.toContain("/secret/path:1");
    expect(app.logged()).toContain(answer.headers.get("x-request-id"));
  });

  it("of the storage are 503 UNAVAILABLE with Retry-After", async () => {
    const app = createRoutesApp({
      outbox: { submit: () => Promise.reject(new StorageUnavailable("disk full")) },
    });
    const answer = await app.ask("POST", "/send-message", SEND);
    expect(answer).toMatchObject({ status: 503, body: { errors: { code: "UNAVAILABLE" } } });
    expect(answer.headers.get("retry-after")).toBe("5");
  });

  it("of WhatsApp are 502", async () => {
    const refusal = new GatewayError("WHATSAPP_REFUSED", "No.", { extra: { whatsapp_code: 429 } });
    const app = createRoutesApp({ groups: { list: () => Promise.reject(refusal) } });
    expect(await app.ask("POST", "/groups", { sender: OWN_NUMBER })).toMatchObject({
      status: 502,
      body: { errors: { code: "WHATSAPP_REFUSED", whatsapp_code: 429 } },
    });
  });

  it("of a check make the gateway not ready", async () => {
    const reason = "the disk is full";
    const app = createRoutesApp({ health: { check: async () => ({ database: true, disk: false, reason }) } });
    expect(await app.ask("GET", "/health/ready")).toMatchObject({
      status: 503,
      body: {
        status: false,
        message: "Not ready: the disk is full.",
        checks: { database: true, disk: false, draining: false },
      },
    });
    expect((await app.ask("GET", "/health/live")).status).toBe(200);
  });
});
