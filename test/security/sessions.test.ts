import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import type { Answer, RequestOptions } from "../_setup/client.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { endpoints, isStream, nameOf, parametersOf, requestOf, rightFields } from "./requests.ts";

/** Every endpoint × {another account's cookie, a link's, one without its CSRF token}, and what a session is. */

const NUMBER = "31600000001";
const OTHER = "31600000002";
/** As the demo gives it. */
const PLAYGROUND = "http://127.0.0.1:9/playground#token=of-the-demo";

let gateway: Gateway;
let own: { id: string; key: string };
let foreign: { id: string; key: string };
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      API_RATE_PER_MINUTE: "0",
      WRONG_KEYS_PER_MINUTE: "0",
      ALLOW_PRIVATE_NETWORK: "1",
      PLAN_PRO: '{"devices":9,"keys":99,"sends_per_day":null}',
      WHATSAPP_WS_URL: "ws://127.0.0.1:9/ws/chat",
      PLAYGROUND_URL: PLAYGROUND,
    },
  });
  own = await gateway.createAccount("Own");
  foreign = await gateway.createAccount("Foreign");
  for (const device of [NUMBER, OTHER]) await gateway.post("/devices", { device }, own);
});
afterAll(() => gateway?.dispose());

interface SignedIn {
  cookie: string;
  csrf: string;
  data: Record<string, any>;
  setCookie: string;
}

async function signIn(body: object, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await gateway.post("/console/session", body, { headers });
  const setCookie = answer.headers.get("set-cookie") ?? "";
  expect(answer).toMatchObject({ status: 200, body: { status: true } });
  const { data } = answer.body;
  return { cookie: setCookie.split(";")[0]!, csrf: data["csrf"], data: data, setCookie };
}

const by = ({ cookie, csrf }: SignedIn, withCsrf = true): RequestOptions => ({
  headers: { cookie, ...(withCsrf && { "x-csrf-token": csrf }) },
});

async function linkFor(device: string): Promise<string> {
  const { body } = await gateway.post(`/devices/${device}/magic-link`, {}, own);
  return body["url"].split("#")[1];
}

/** The right request for what is not there: nothing is done whoever asks. */
async function ask(endpoint: Endpoint, options: RequestOptions, number = "4915199999999"): Promise<Answer> {
  const params = Object.fromEntries(
    parametersOf(endpoint).map((name) => [name, name === "number" ? number : "4915199999999"]),
  );
  const { method, path, body } = requestOf(endpoint, params, rightFields(endpoint));
  const headers = {
    ...options.headers,
    ...(options.key && { authorization: `Bearer ${options.key}` }),
    ...(body && { "content-type": "application/json" }),
  };
  if (!isStream(endpoint))
    return gateway.request(method, path, { headers, ...(body && { body: JSON.stringify(body) }) });
  const response = await fetch(gateway.url + path, { headers });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const told = isJson ? await response.json() : {};
  await response.body?.cancel().catch(() => undefined);
  return { status: response.status, headers: response.headers, body: told as Answer["body"], text: "" };
}

const codeOf = ({ body }: Answer): string | undefined => body["errors"]?.code;
const signedInEndpoints = endpoints.filter(({ access }) => access.by !== "everybody");
const ofKeys = endpoints.filter(({ access }) => access.by === "key");
const named = (some: Endpoint[]) => some.map((endpoint) => [nameOf(endpoint), endpoint] as const);
/** Signing out ends the session that the others of the table ask by. */
const isLast = ({ path, method }: Endpoint): boolean => path === "/console/session" && method === "DELETE";
const writes = ({ method, sends }: Endpoint): boolean => method !== "GET" || sends === true;

describe("a session", () => {
  it("is a cookie that scripts do not see and other sites do not send, with a new token each time", async () => {
    const first = await signIn({ key: own.key });
    const second = await signIn({ key: own.key }, { cookie: first.cookie });

    expect(first.setCookie).toMatch(/^parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(second.cookie).not.toBe(first.cookie);
    // The browser has forgotten it: nobody could sign out of it any more.
    expect(codeOf(await gateway.get("/console/session", by(first)))).toBe("SESSION_EXPIRED");
    const invented = `parley=${"A".repeat(43)}`;
    const third = await signIn({ key: own.key }, { cookie: invented });
    expect(third.cookie).not.toBe(invented);
    expect(codeOf(await gateway.get("/account", { headers: { cookie: invented } }))).toBe("SESSION_EXPIRED");
  });

  it("tells who is signed in, lists those of the same key, and ends at once", async () => {
    const [here, there] = [await signIn({ key: own.key }), await signIn({ key: own.key })];
    const stranger = await signIn({ key: foreign.key });
    expect(here.data).toMatchObject({
      kind: "key",
      account: { id: own.id, name: "Own" },
      permissions: ["*"],
      devices: null,
    });
    expect((await gateway.get("/console/session", by(here, false))).body["data"]).toMatchObject({
      id: here.data["id"],
      csrf: here.csrf,
    });

    const listed = (await gateway.get("/console/sessions", by(here, false))).body["data"];
    expect(listed).toContainEqual(
      expect.objectContaining({ id: here.data["id"], current: true, address: "127.0.0.1" }),
    );
    expect(listed).toContainEqual(expect.objectContaining({ id: there.data["id"], current: false }));
    expect(listed.map(({ id }: { id: string }) => id)).not.toContain(stranger.data["id"]);

    const path = `/console/sessions/${there.data["id"]}`;
    expect((await gateway.delete(path, by(stranger))).status).toBe(404);
    expect((await gateway.delete(path, by(here))).status).toBe(200);
    expect(codeOf(await gateway.get("/account", by(there)))).toBe("SESSION_EXPIRED");
    const out = await gateway.delete("/console/session", by(here));
    expect(out.headers.get("set-cookie")).toMatch(/^parley=; .*Max-Age=0$/);
    expect(codeOf(await gateway.get("/account", by(here)))).toBe("SESSION_EXPIRED");
  });

  it.each([
    ["deleted", (id: string) => gateway.delete(`/api-keys/${id}`, own)],
    ["rotated", (id: string) => gateway.post(`/api-keys/${id}/rotate`, {}, own)],
  ])("may no more than its key, and ends when that is %s", async (_, end) => {
    const { body } = await gateway.post("/api-keys", { name: "x", permissions: ["devices"] }, own);
    const session = await signIn({ key: body["api_key"] });
    expect((await gateway.get("/devices", by(session))).status).toBe(200);
    expect(codeOf(await gateway.get("/api-keys", by(session)))).toBe("PERMISSION_DENIED");

    await end(body["data"].id);

    expect(codeOf(await gateway.get("/devices", by(session)))).toBe("SESSION_EXPIRED");
  });

  it("is nothing beside a key that is given, right or wrong", async () => {
    const session = await signIn({ key: own.key });
    const named = async (key: string) => gateway.get("/account", { ...by(session), key });

    expect((await named(foreign.key)).body["data"].id).toBe(foreign.id);
    expect(codeOf(await named("parley_wrong"))).toBe("INVALID_API_KEY");
    const send = { api_key: foreign.key, sender: NUMBER, number: OTHER, message: "x" };
    expect(codeOf(await gateway.post("/send-message", send, by(session, false)))).toBe("SENDER_NOT_FOUND");
  });

  it("counts for none when two cookies of the name differ", async () => {
    const [one, other] = [await signIn({ key: own.key }), await signIn({ key: foreign.key })];
    const headers = { cookie: `${one.cookie}; x=1; ${other.cookie}` };

    expect(codeOf(await gateway.get("/account", { headers }))).toBe("SESSION_EXPIRED");
  });

  it.each([
    ["nothing", {}],
    ["two things", { key: "a", link: "b" }],
  ])("is opened by one thing, not by %s", async (_, body) => {
    expect(await gateway.post("/console/session", body)).toMatchObject({
      status: 400,
      body: { errors: { fields: { key: [expect.stringContaining("exactly one")] } } },
    });
  });

  it.each([
    [{ key: "parley_wrong" }, "INVALID_API_KEY"],
    [{ token: "wrong" }, "INVALID_ADMIN_TOKEN"],
    [{ link: "A".repeat(43) }, "LINK_EXPIRED"],
  ])("is not opened by %j", async (body, code) => {
    const answer = await gateway.post("/console/session", body);
    expect(answer).toMatchObject({ status: 401, body: { errors: { code } } });
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  it.each([
    ["sec-fetch-site", "cross-site"],
    ["sec-fetch-site", "same-site"],
    ["origin", "https://evil.example"],
    ["origin", "null"],
  ])("is not opened by a page of another site (%s: %s)", async (name, value) => {
    const answer = await gateway.post("/console/session", { key: own.key }, { headers: { [name]: value } });
    expect(answer).toMatchObject({ status: 403, body: { errors: { code: "CSRF_TOKEN_INVALID" } } });
  });
});

describe("the operator's session", () => {
  it("works where the operator's token does, and in an account once it is chosen", async () => {
    const session = await signIn({ token: gateway.adminToken });
    expect(session.data).toMatchObject({
      kind: "operator",
      account: null,
      permissions: ["*"],
      devices: null,
    });
    expect((await gateway.get("/admin/accounts", by(session, false))).status).toBe(200);
    expect(await gateway.get("/devices", by(session))).toMatchObject({
      status: 403,
      body: { errors: { code: "PERMISSION_DENIED", permission: "devices" } },
    });

    const choose = (account: string | null) =>
      gateway.put("/console/session/account", { account }, by(session));
    expect((await choose(own.id)).body["data"]).toMatchObject({ account: { id: own.id, name: "Own" } });
    expect((await gateway.get("/account", by(session))).body["data"].id).toBe(own.id);
    expect((await choose("nobody")).status).toBe(404);
    expect((await choose(null)).body["data"].account).toBeNull();
    expect((await gateway.get("/account", by(session))).status).toBe(403);
  });

  it("knows the simulator's phones, as a key's does, and a link's does not: it is a customer's", async () => {
    const opened = [{ token: gateway.adminToken }, { key: own.key }, { link: await linkFor(NUMBER) }];
    const sessions = await Promise.all(opened.map((credentials) => signIn(credentials)));
    expect(sessions.map(({ data }) => data["playground"])).toEqual([PLAYGROUND, PLAYGROUND, undefined]);
  });

  it("is what a key's session never becomes", async () => {
    const session = await signIn({ key: own.key });
    const answer = await gateway.put("/console/session/account", { account: foreign.id }, by(session));
    expect(answer).toMatchObject({ status: 403, body: { errors: { code: "PERMISSION_DENIED" } } });
  });
});

describe("every endpoint", () => {
  it.each(named(signedInEndpoints))(
    "%s does what the key of the cookie may, as by the key",
    async (_, endpoint) => {
      if (isLast(endpoint)) return;
      const session = await signIn({ key: foreign.key });
      const answer = await ask(endpoint, by(session), NUMBER);

      if (endpoint.access.by === "operator") return expect(codeOf(answer)).toBe("INVALID_ADMIN_TOKEN");
      if (endpoint.access.by === "session") return expect([200, 403]).toContain(answer.status);
      const byKey = await ask(endpoint, { key: foreign.key }, NUMBER);
      expect([answer.status, codeOf(answer)]).toEqual([byKey.status, codeOf(byKey)]);
    },
  );

  it.each(named(signedInEndpoints.filter(writes)))(
    "%s wants the CSRF token of the cookie",
    async (_, endpoint) => {
      const isOperators = endpoint.access.by === "operator";
      const session = await signIn(isOperators ? { token: gateway.adminToken } : { key: own.key });
      const other = await signIn({ key: own.key });

      for (const csrf of [undefined, "", "x", other.csrf])
        expect([
          csrf,
          codeOf(
            await ask(endpoint, {
              headers: { cookie: session.cookie, ...(csrf !== undefined && { "x-csrf-token": csrf }) },
            }),
          ),
        ]).toEqual([csrf, "CSRF_TOKEN_INVALID"]);
      expect(codeOf(await ask(endpoint, by(session)))).not.toBe("CSRF_TOKEN_INVALID");
    },
  );

  it.each(named(ofKeys))(
    "%s lets a link do what links are for, at its number, and nothing else",
    async (_, endpoint) => {
      const session = await signIn({ link: await linkFor(NUMBER) });
      const { access } = endpoint;
      if (access.by !== "key") throw new Error("not of a key");
      const may = access.links === true || access.permission === "qr" || access.permission === "webhooks";

      const atOther = await ask(endpoint, by(session), OTHER);
      if (!may) return expect(codeOf(atOther)).toBe("PERMISSION_DENIED");
      expect(codeOf(atOther)).not.toBe("PERMISSION_DENIED");
      if (parametersOf(endpoint).includes("number")) expect(codeOf(atOther)).toBe("NOT_FOUND");
    },
  );
});

describe("a link", () => {
  it("is in the fragment of an address of the console, and lets see how its number is", async () => {
    const made = await gateway.post(`/devices/${NUMBER}/magic-link`, { minutes: 5 }, own);
    const { url, expires_at: expiresAt, data } = made.body;
    expect(made.body).toMatchObject({ id: data.id, data: { url, expires_at: expiresAt } });
    expect(url).toMatch(new RegExp(`^${gateway.url}/console/link#[\\w-]{43}$`));
    expect(Date.parse(expiresAt) - Date.parse(data.created_at)).toBe(300_000);
    const session = await signIn({ link: url.split("#")[1] });

    expect(session.data).toMatchObject({
      kind: "link",
      permissions: ["qr", "webhooks"],
      devices: [NUMBER],
      expires_at: expiresAt,
    });
    expect((await gateway.get(`/devices/${NUMBER}`, by(session))).body["data"].device).toBe(NUMBER);
    expect((await gateway.get(`/devices/${NUMBER}/why`, by(session))).status).toBe(200);
    const webhook = { url: "http://127.0.0.1:9/hook" };
    expect((await gateway.put(`/devices/${NUMBER}/webhook`, webhook, by(session))).status).toBe(200);
    for (const path of [
      "/account",
      "/devices",
      "/console/sessions",
      "/links",
      "/api-keys",
      "/messages",
      "/chats",
    ])
      expect([path, codeOf(await gateway.get(path, by(session)))]).toEqual([path, "PERMISSION_DENIED"]);
    expect(codeOf(await gateway.get("/admin/accounts", by(session)))).toBe("INVALID_ADMIN_TOKEN");
  });

  it("can be opened again until it is withdrawn, which ends whoever came by it", async () => {
    const path = `/devices/${NUMBER}/magic-link`;
    const { body } = await gateway.post(path, {}, own);
    const link = body["url"].split("#")[1];
    const [first, second] = [await signIn({ link }), await signIn({ link })];
    expect((await gateway.get("/links", own)).body["data"]).toContainEqual(
      expect.objectContaining({
        id: body["data"].id,
        device: NUMBER,
        last_used_at: expect.any(String),
        made_by: body["data"].made_by,
      }),
    );
    expect((await gateway.delete(`${path}/${body["data"].id}`, foreign)).status).toBe(404);

    expect((await gateway.delete(`${path}/${body["data"].id}`, own)).status).toBe(200);

    for (const session of [first, second])
      expect(codeOf(await gateway.get(`/devices/${NUMBER}`, by(session)))).toBe("SESSION_EXPIRED");
    expect(codeOf(await gateway.post("/console/session", { link }))).toBe("LINK_EXPIRED");
  });

  it("is made by whoever may use the number, and by the operator", async () => {
    const all = ["devices", "qr", "webhooks"];
    const limits = { name: "x", permissions: all, devices: [OTHER] };
    const { body } = await gateway.post("/api-keys", limits, own);
    const limited = { key: body["api_key"] as string };
    expect((await gateway.post(`/devices/${NUMBER}/magic-link`, {}, limited)).status).toBe(404);
    const others = await gateway.post(`/devices/${OTHER}/magic-link`, {}, limited);
    expect([others.status, others.body["data"].made_by]).toEqual([200, { kind: "key", name: "x" }]);
    expect((await gateway.get("/links", limited)).body["data"].map((link: any) => link.device)).toEqual([
      OTHER,
    ]);

    const lacks = await gateway.post("/api-keys", { name: "y", permissions: ["devices", "qr"] }, own);
    const without = await gateway.post(`/devices/${OTHER}/magic-link`, {}, { key: lacks.body["api_key"] });
    expect(without.body).toMatchObject({ errors: { code: "PERMISSION_DENIED", permission: "webhooks" } });
    expect((await gateway.post(`/devices/${OTHER}/magic-link`, { minutes: 61 }, own)).status).toBe(400);

    const operator = { key: gateway.adminToken };
    const path = `/admin/accounts/${own.id}/links`;
    const made = await gateway.post(path, { device: OTHER }, operator);
    expect(made.body["data"].made_by).toEqual({ kind: "operator", name: null });
    const session = await signIn({ link: made.body["url"].split("#")[1] });
    expect(session.data).toMatchObject({ devices: [OTHER], account: { id: own.id } });
    expect((await gateway.get(path, operator)).body["total"]).toBeGreaterThan(1);
    expect((await gateway.delete(`${path}/${made.body["data"].id}`, operator)).status).toBe(200);
    expect(codeOf(await gateway.get(`/devices/${OTHER}`, by(session)))).toBe("SESSION_EXPIRED");
  });

  it("ends with its number, and does not make it anew", async () => {
    const device = "31600000003";
    await gateway.post("/devices", { device }, own);
    const session = await signIn({ link: await linkFor(device) });

    await gateway.delete(`/devices/${device}`, own);

    expect(codeOf(await gateway.post("/generate-qr", { device }, by(session)))).toBe("SESSION_EXPIRED");
    expect((await gateway.get(`/devices/${device}`, own)).status).toBe(404);
  });
});
