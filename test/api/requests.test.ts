import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

/** What holds for every endpoint: paths, methods, bodies, keys, and the order in which they are looked at. */

let gateway: Gateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway({ env: { WRONG_KEYS_PER_MINUTE: "0" } });
  ({ key } = await gateway.createAccount());
});
afterAll(() => gateway?.dispose());

const SENDER = "4915112345678";
const send = () => ({ api_key: key, sender: SENDER, number: "4915100000001", message: "hi" });
const form = (text: string) => gateway.post("/send-message", text, { headers: { "content-type": FORM } });
const FORM = "application/x-www-form-urlencoded";
const MEBIBYTE = 1_048_576;

const sendByGet = (query: string) => gateway.get(`/send-message?${query}`);

/** @returns the problems of a send with these fields changed */
const problemsOf = async (change: Record<string, unknown>): Promise<Record<string, string[]>> => {
  const answer = await gateway.post("/send-message", { ...send(), ...change });
  expect(answer).toMatchObject({
    ...refused(400, "INVALID_PARAMETERS"),
    body: { msg: "Invalid parameters!", message: "Invalid parameters!" },
  });
  return answer.body["errors"].fields;
};

/** What a request that is right in everything gets in an account without numbers: the last check but one. */
const SENDER_UNKNOWN = {
  status: 404,
  body: {
    status: false,
    msg: "Invalid data!",
    message: "Invalid data!",
    errors: { code: "SENDER_NOT_FOUND" },
  },
};
const refused = (status: number, code: string) => ({ status, body: { status: false, errors: { code } } });

describe("paths and methods", () => {
  it.each([
    "/",
    "/nope",
    "/send-message/x",
    "/devices/1/2/3",
    "/v2/send-message",
    "/v1",
    "/index.html",
    "/.env",
  ])("answers %s with 404 NOT_FOUND", async (path) => {
    expect(await gateway.get(path)).toMatchObject(refused(404, "NOT_FOUND"));
  });

  it.each(["/devices/%E0%A4%A", "/%", "//send-message", "/send-message//", "/devices//webhook"])(
    "answers the malformed path %s with 404 NOT_FOUND",
    async (path) => {
      expect(await gateway.request("GET", path)).toMatchObject(refused(404, "NOT_FOUND"));
    },
  );

  it.each([
    ["PUT", "/send-message", ["GET", "POST"]],
    ["DELETE", "/generate-qr", ["POST"]],
    ["GET", "/groups", ["POST"]],
    ["POST", "/devices/4915112345678/webhook", ["GET", "PUT", "DELETE"]],
    ["PATCH", "/admin/accounts", ["GET", "POST"]],
    ["POST", "/health/live", ["GET", "HEAD"]],
    ["PROPFIND", "/account", ["GET"]],
    ["POST", "/", ["GET"]],
  ])("answers %s %s with 405 and Allow", async (method, path, allowed) => {
    const answer = await gateway.request(method, path);

    expect(answer).toMatchObject(refused(405, "METHOD_NOT_ALLOWED"));
    expect(answer.headers.get("allow")?.split(", ")).toEqual([...allowed, "OPTIONS"]);
  });

  it("answers OPTIONS with 204 and Allow, without a body and without CORS", async () => {
    const answer = await gateway.request("OPTIONS", "/send-message");

    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers.get("allow")).toBe("GET, POST, OPTIONS");
  });

  it.each(["/health/live", "/health/ready"])("answers HEAD %s like GET", async (path) => {
    expect((await gateway.request("HEAD", path)).status).toBe(200);
  });

  it.each(["/", "/send-message", "/account", "/admin/accounts"])("refuses HEAD %s with 405", async (path) => {
    expect((await gateway.request("HEAD", path)).status).toBe(405);
  });

  it("answers the same with one trailing slash and under /v1", async () => {
    for (const path of ["/send-message/", "/v1/send-message", "/v1/send-message/"])
      expect(await gateway.post(path, send())).toMatchObject(SENDER_UNKNOWN);
  });

  it("answers a request that is not HTTP in JSON", async () => {
    const text = await new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = connect(gateway.port, "127.0.0.1", () => socket.write("NONSENSE\r\n\r\n"));
      socket.setEncoding("utf8").on("data", (chunk) => (received += chunk));
      socket.once("end", () => resolve(received)).once("error", reject);
    });

    const [head, body] = text.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^x-request-id: \S+$/im);
    expect(JSON.parse(body!)).toMatchObject({ status: false, errors: { code: "INVALID_PARAMETERS" } });
  });
});

describe("X-Request-Id", () => {
  it.each(["abc", "a b{}~!", "x".repeat(128)])("keeps the caller's %j", async (id) => {
    const answer = await gateway.get("/health/live", { headers: { "x-request-id": id } });
    expect(answer.headers.get("x-request-id")).toBe(id);
  });

  it.each(["x".repeat(129), "ümlaut", "\u0001"])("makes one of its own instead of %j", async (id) => {
    const answer = await gateway
      .get("/nope", { headers: { "x-request-id": Buffer.from(id).toString("latin1") } })
      .catch(() => gateway.get("/nope"));
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("bodies", () => {
  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON", "text/plain", FORM])(
    "reads JSON sent as %s",
    async (type) => {
      const answer = await gateway.post("/send-message", JSON.stringify(send()), {
        headers: { "content-type": type },
      });
      expect(answer).toMatchObject(SENDER_UNKNOWN);
    },
  );

  it("reads JSON sent without a type", async () => {
    expect(await gateway.post("/send-message", JSON.stringify(send()))).toMatchObject(SENDER_UNKNOWN);
  });

  it("reads JSON behind a byte order mark", async () => {
    expect(await gateway.post("/send-message", `\uFEFF${JSON.stringify(send())}`)).toMatchObject(
      SENDER_UNKNOWN,
    );
  });

  it("reads forms, the last duplicate of a field wins", async () => {
    const text = `sender=nobody&sender=%2B49+151+12345678&number=4915100000001&message=a%20b+c&api_key=${key}`;
    expect(await form(text)).toMatchObject(SENDER_UNKNOWN);
  });

  it.each(["option[]=a&option[]=b", "option[1]=b&option[0]=a", "option=a&option=b"])(
    "reads the list %s",
    async (text) => {
      // `permissions` is a list as `option` is.
      const permissions = text
        .replaceAll("option", "permissions")
        .replace("=a", "=lid")
        .replace("=b", "=groups");
      const answer = await gateway.post("/api-keys", `name=x&api_key=${key}&${permissions}`, {
        headers: { "content-type": FORM },
      });
      expect(answer).toMatchObject({ status: 200, body: { data: { permissions: ["lid", "groups"] } } });
    },
  );

  it.each([
    "application/xml",
    "multipart/form-data; boundary=x",
    "text/html",
    "application/vnd.api+json",
    "json",
  ])("refuses %s with 415", async (type) => {
    const answer = await gateway.post("/send-message", JSON.stringify(send()), {
      headers: { "content-type": type },
    });
    expect(answer).toMatchObject(refused(415, "UNSUPPORTED_CONTENT_TYPE"));
  });

  it("refuses a compressed body with 415", async () => {
    const answer = await gateway.post("/send-message", send(), { headers: { "content-encoding": "gzip" } });
    expect(answer).toMatchObject(refused(415, "UNSUPPORTED_CONTENT_TYPE"));
  });

  it.each(["{", "nonsense", "[]", "[{}]", "null", "1", '"text"', "true", "   ", '{"a":1}{"b":2}', "{'a':1}"])(
    "refuses %j with 400 INVALID_JSON",
    async (text) => {
      expect(await gateway.post("/send-message", text)).toMatchObject(refused(400, "INVALID_JSON"));
    },
  );

  it.each([
    [
      "JSON",
      "application/json",
      Buffer.concat([Buffer.from('{"message":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ["a form, raw", FORM, Buffer.concat([Buffer.from("message="), Buffer.from([0xc3, 0x28])])],
    ["a form, escaped", FORM, Buffer.from("message=%E4bc")],
  ])("refuses %s that is not UTF-8 with 400 INVALID_JSON", async (_, type, body) => {
    const answer = await gateway.request("POST", "/send-message", {
      headers: { "content-type": type },
      body: new Uint8Array(body),
    });
    expect(answer).toMatchObject(refused(400, "INVALID_JSON"));
  });

  it("takes a body of exactly 1 MiB and refuses one byte more with 413", async () => {
    const padding = MEBIBYTE - Buffer.byteLength(JSON.stringify({ ...send(), padding: "" }));
    const whole = JSON.stringify({ ...send(), padding: "x".repeat(padding) });

    expect(await gateway.post("/send-message", whole)).toMatchObject(SENDER_UNKNOWN);
    expect(await gateway.post("/send-message", `${whole} `)).toMatchObject(refused(413, "BODY_TOO_LARGE"));
  });

  it("refuses a body of unknown length with 413 once it is over 1 MiB, and the connection goes on", async () => {
    let pieces = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pieces++ === 17) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(120));
      },
    });
    const answer = await gateway.request("POST", "/send-message", { body, duplex: "half" } as RequestInit);

    expect(answer).toMatchObject(refused(413, "BODY_TOO_LARGE"));
    expect((await gateway.get("/health/live")).status).toBe(200);
  });

  it("reads no body at all as no fields", async () => {
    expect(await gateway.post("/send-message", undefined, { key })).toMatchObject(
      refused(400, "INVALID_PARAMETERS"),
    );
  });

  it("takes the fields of a DELETE from its query, or else from its body", async () => {
    const path = "/chats/4915112345678/takeover";
    const [sender, headers] = ["4915100000009", { authorization: `Bearer ${key}` }];
    const body = JSON.stringify({ sender });

    for (const [where, init] of [
      [`${path}?sender=${sender}`, { headers }],
      [path, { headers, body }],
      [`${path}?sender=${sender}`, { headers, body: JSON.stringify({ sender: "none" }) }],
    ] as const)
      expect(await gateway.request("DELETE", where, init)).toMatchObject(refused(404, "SENDER_NOT_FOUND"));
    expect(await gateway.request("DELETE", path, { headers })).toMatchObject(
      refused(400, "INVALID_PARAMETERS"),
    );
  });
});

describe("GET /send-message", () => {
  it("decodes as PHP does: + is a space, a stray % stands for itself, the last duplicate wins", async () => {
    const answer = await sendByGet(
      `api_key=nonsense&api_key=${key}&sender=%2B49+151+12345678&number=4915100000001&message=100%+sure+%zz`,
    );
    expect(answer).toMatchObject(SENDER_UNKNOWN);
  });

  it("must not be cached", async () => {
    expect((await sendByGet("")).headers.get("cache-control")).toBe("no-store");
  });

  it("refuses invalid UTF-8 with 400 and names the field", async () => {
    const answer = await sendByGet(`api_key=${key}&sender=${SENDER}&number=4915100000001&message=%C3%28`);
    expect(answer).toMatchObject({
      ...refused(400, "INVALID_PARAMETERS"),
      body: { errors: { fields: { message: [expect.any(String)] } } },
    });
  });

  it("takes a message of 65,536 characters", async () => {
    const long = encodeURIComponent("ß".repeat(65_536));
    expect(
      await sendByGet(`api_key=${key}&sender=${SENDER}&number=4915100000001&message=${long}`),
    ).toMatchObject(SENDER_UNKNOWN);
  });

  it("refuses a request line over 1 MiB", async () => {
    // The gateway closes while the line is still coming: either its answer or the closed connection arrives.
    const status = await sendByGet(`message=${"x".repeat(MEBIBYTE)}`).then(
      (answer) => answer.status,
      () => "closed",
    );
    expect([413, "closed"]).toContain(status);
    expect((await gateway.get("/health/live")).status).toBe(200);
  });
});

describe("fields", () => {
  it("names every wrong field at once", async () => {
    const fields = await problemsOf({ sender: "abc", number: undefined, message: "" });
    expect(Object.keys(fields).toSorted()).toEqual(["message", "number", "sender"]);
  });

  it.each([
    ["an empty message", { message: "" }, "message"],
    ["a blank message", { message: " \n\t " }, "message"],
    ["no message", { message: undefined }, "message"],
    ["null", { message: null }, "message"],
    ["an object", { message: { text: "hi" } }, "message"],
    ["a list", { message: ["hi"] }, "message"],
    ["a message of 65,537 characters", { message: "x".repeat(65_537) }, "message"],
    ["a lone surrogate", { message: "\uD83D" }, "message"],
    ["a lone surrogate in the number", { number: "49151\uDE00" }, "number"],
    ["a sender that is no number", { sender: "me" }, "sender"],
    ["a sender that is a group", { sender: "120363041234567890@g.us" }, "sender"],
    ["a sender that is a list", { sender: `${SENDER}|${SENDER}` }, "sender"],
    ["a destination that is none", { number: "4915100000001|nobody" }, "number"],
    ["a destination that starts with 0", { number: "0151234567" }, "number"],
    ["no destination", { number: "|" }, "number"],
    [
      "eleven destinations",
      { number: Array.from({ length: 11 }, (_, n) => 4915100000001 + n).join("|") },
      "number",
    ],
    ["a number that JSON cannot hold", { number: 2 ** 60 }, "number"],
  ])("refuses %s", async (_, change, field) => {
    expect(Object.keys(await problemsOf(change))).toEqual([field]);
  });

  it.each([
    ["numbers for text", { sender: 4915112345678, number: 4915100000001, message: 42 }],
    ["a boolean for text", { message: true }],
    ["65,536 characters", { message: "x".repeat(65_536) }],
    ["65,536 units of emoji", { message: "😀".repeat(32_768) }],
    [
      "ten destinations and duplicates",
      { number: Array.from({ length: 20 }, (_, n) => 4915100000001 + (n % 10)).join("|") },
    ],
    ["unknown fields", { colour: "red", __proto__x: 1, constructor: "x", full: 1 }],
    ["null for an optional field", { msgid: null }],
    ["every spelling of the sender", { sender: "+49 (151) 1234-5678" }],
  ])("takes %s", async (_, change) => {
    expect(await gateway.post("/send-message", { ...send(), ...change })).toMatchObject(SENDER_UNKNOWN);
  });
});

describe("keys", () => {
  const unauthorized = {
    status: 401,
    body: { status: false, msg: "Invalid data!", errors: { code: "INVALID_API_KEY" } },
  };

  it.each([
    ["none", {}],
    ["an empty one", { api_key: "" }],
    ["an unknown one", { api_key: "parley_000000000000000000000000000000000000" }],
    ["a number", { api_key: 12345 }],
    ["an object", { api_key: { $ne: null } }],
    ["a list", { api_key: ["x"] }],
    ["the operator's token", {}],
  ])("refuses %s with 401", async (name, field) => {
    const options = name.startsWith("the operator") ? { key: gateway.adminToken } : {};
    const { api_key: _, ...rest } = send();
    expect(await gateway.post("/send-message", { ...rest, ...field }, options)).toMatchObject(unauthorized);
  });

  it("takes it in the header, in the body, and in both when they are the same", async () => {
    const { api_key: _, ...rest } = send();
    expect(await gateway.post("/send-message", rest, { key })).toMatchObject(SENDER_UNKNOWN);
    expect(await gateway.post("/send-message", send(), { key })).toMatchObject(SENDER_UNKNOWN);
    const lower = await gateway.post("/send-message", rest, { headers: { authorization: `bearer ${key}` } });
    expect(lower).toMatchObject(SENDER_UNKNOWN);
  });

  it("refuses two different ones, though both are valid", async () => {
    const other = await gateway.createAccount("Other");
    expect(await gateway.post("/send-message", send(), { key: other.key })).toMatchObject(unauthorized);
  });

  it("leaves the header of another scheme to whoever it is for", async () => {
    const answer = await gateway.post("/send-message", send(), { headers: { authorization: "Basic eDp5" } });
    expect(answer).toMatchObject(SENDER_UNKNOWN);
  });

  it("counts a key in the query of GET sends only", async () => {
    expect(await gateway.get(`/send-message?api_key=${key}`)).toMatchObject(
      refused(400, "INVALID_PARAMETERS"),
    );
    expect(await gateway.get(`/account?api_key=${key}`)).toMatchObject(unauthorized);
    expect(await gateway.get(`/devices?api_key=${key}`)).toMatchObject(unauthorized);
    const { api_key: _, ...rest } = send();
    expect(await gateway.post(`/send-message?api_key=${key}`, rest)).toMatchObject(unauthorized);
  });

  it("counts a key in the body of POST only", async () => {
    const answer = await gateway.put(`/devices/${SENDER}/webhook`, {
      api_key: key,
      url: "http://example.org",
    });
    expect(answer).toMatchObject(unauthorized);
  });
});

describe("order of checks", () => {
  it("is route, size, type, JSON, key, permission, fields, sender", async () => {
    const created = await gateway.post(
      "/api-keys",
      { name: "Groups only", permissions: ["groups"] },
      { key },
    );
    const weak = created.body["api_key"];
    const huge = "x".repeat(MEBIBYTE + 1);
    const xml = { headers: { "content-type": "application/xml" } };

    expect(await gateway.post("/nope", huge, xml)).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await gateway.post("/send-message", huge, xml)).toMatchObject(refused(413, "BODY_TOO_LARGE"));
    expect(await gateway.post("/send-message", "{", xml)).toMatchObject(
      refused(415, "UNSUPPORTED_CONTENT_TYPE"),
    );
    expect(await gateway.post("/send-message", "{")).toMatchObject(refused(400, "INVALID_JSON"));
    expect(await gateway.post("/send-message", {})).toMatchObject(refused(401, "INVALID_API_KEY"));
    const denied = await gateway.post("/send-message", {}, { key: weak });
    expect(denied).toMatchObject({
      ...refused(403, "PERMISSION_DENIED"),
      body: { errors: { permission: "messages" } },
    });
    expect(await gateway.post("/send-message", {}, { key })).toMatchObject(
      refused(400, "INVALID_PARAMETERS"),
    );
    expect(await gateway.post("/send-message", send())).toMatchObject(SENDER_UNKNOWN);
  });

  it("answers a foreign sender, an unknown one and one outside the key's devices with the same bytes", async () => {
    const created = await gateway.post(
      "/api-keys",
      { name: "One number", permissions: ["messages"], devices: ["4915199999999"] },
      { key },
    );
    const outside = await gateway.post("/send-message", { ...send(), api_key: created.body["api_key"] });
    const unknown = await gateway.post("/send-message", { ...send(), sender: "4915155555555" });

    expect(unknown).toMatchObject(SENDER_UNKNOWN);
    expect(outside.text).toBe(unknown.text);
  });
});

describe("an idempotency key that is none", () => {
  it.each([
    ["", "1 to 255"],
    ["x".repeat(256), "1 to 255"],
    [[], "1 to 255"],
    [{ toString: "x" }, "1 to 255"],
    // As everywhere: what was meant cannot be told from it.
    [1.5, "1 to 255"],
    [2 ** 60, "1 to 255"],
    ["\ud800", "lone surrogate"],
    ["a\udc00b", "lone surrogate"],
  ])("is refused with 400: %j", async (name, why) => {
    const answer = await gateway.post("/send-message", { ...send(), idempotency_key: name });
    expect(answer).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    expect(answer.body["errors"].fields["idempotency_key"].join()).toContain(why);
  });

  it.each(["a", "0", " ", "\u0000", "ü", 7, true])("and one that is one is taken: %j", async (name) => {
    expect(await gateway.post("/send-message", { ...send(), idempotency_key: name })).toMatchObject(
      SENDER_UNKNOWN,
    );
  });
});

describe("a key that is no text", () => {
  it.each([[{ toString: "x" }], [{}], [[]], [["a"]], [{ valueOf: 1 }], [true], [7], [{ toJSON: null }]])(
    "is refused like any wrong one: %j",
    async (api_key) => {
      expect(await gateway.post("/send-message", { ...send(), api_key })).toMatchObject(
        refused(401, "INVALID_API_KEY"),
      );
      // Also beside a right one.
      expect(await gateway.post("/send-message", { ...send(), api_key }, { key })).toMatchObject(
        refused(401, "INVALID_API_KEY"),
      );
    },
  );
});

describe("GET /", () => {
  it("leads people to the documentation, and tells programs that there is nothing", async () => {
    const ask = (accept: string) => fetch(`${gateway.url}/`, { headers: { accept }, redirect: "manual" });
    const person = await ask("text/html,application/xhtml+xml,*/*;q=0.8");
    expect([person.status, person.headers.get("location")]).toEqual([302, "/docs"]);
    expect(person.headers.get("x-request-id")).toBeTruthy();
    const program = await ask("*/*");
    expect([program.status, (await program.json()).errors.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("a key that may do more than the one that asks", () => {
  it("is seen by id, name and prefix alone, and can neither be changed nor deleted", async () => {
    const made = await gateway.post("/api-keys", { name: "Keys only", permissions: ["keys"] }, { key });
    const weak = made.body["api_key"];
    const strong = (await gateway.get("/api-keys", { key })).body["data"].find(
      (one: { permissions: string[] }) => one.permissions.includes("*"),
    );

    const seen = (await gateway.get("/api-keys", { key: weak })).body["data"];
    const deleted = await gateway.delete(`/api-keys/${strong.id}`, { key: weak });
    const rotated = await gateway.post(`/api-keys/${strong.id}/rotate`, {}, { key: weak });

    expect(seen.find((one: { id: string }) => one.id === strong.id)).toEqual({
      id: strong.id,
      name: strong.name,
      prefix: strong.prefix,
    });
    expect(seen.find((one: { id: string }) => one.id === made.body["data"].id)).toMatchObject({
      permissions: ["keys"],
    });
    expect(deleted).toMatchObject(refused(403, "PERMISSION_DENIED"));
    expect(rotated).toMatchObject(refused(403, "PERMISSION_DENIED"));
    expect((await gateway.get("/account", { key })).status).toBe(200);
  });
});

describe("the end of a key's life", () => {
  it("lies in the future, else no key is made", async () => {
    const at = (expires_at: string) =>
      gateway.post("/api-keys", { name: "Short", permissions: ["messages"], expires_at }, { key });
    const past = await at("2020-01-01T00:00:00Z");
    expect(past).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    expect(past.body["errors"].fields).toEqual({ expires_at: ["Must be in the future."] });
    expect((await at("2999-01-01T00:00:00Z")).status).toBe(200);
  });
});

describe("every list that has pages", () => {
  const [OLDEST, ...OTHERS] = ["4915110000001", "4915110000002", "4915110000003"] as const;
  const ACCOUNTS = "/admin/accounts";
  let lister: { id: string; key: string };
  let lists: { path: string; key: string }[];
  beforeAll(async () => {
    lister = await gateway.createAccount("Lists", "pro");
    await gateway.createAccount("The newest");
    for (const device of [OLDEST, ...OTHERS]) await gateway.post("/devices", { device }, { key: lister.key });
    for (const name of ["B", "C", "D"])
      await gateway.post("/api-keys", { name, permissions: ["messages"] }, { key: lister.key });
    const { paths } = (await gateway.get("/openapi.json")).body as {
      paths: Record<string, Record<string, { parameters?: { name: string }[]; security: object[] }>>;
    };
    lists = Object.entries(paths).flatMap(([path, { get }]) =>
      get?.parameters?.some(({ name }) => name === "before")
        ? [
            {
              path: path.replace("{id}", lister.id).replace("{number}", OLDEST),
              key: get.security.some((scheme) => "operator" in scheme) ? gateway.adminToken : lister.key,
            },
          ]
        : [],
    );
  });

  const OF_A_NUMBER = ["/channels", "/contacts"];
  const page = ({ path, key: whose }: { path: string; key: string }, query: string) =>
    gateway.get(`${path}?${OF_A_NUMBER.includes(path) ? `sender=${OLDEST}&` : ""}${query}`, { key: whose });

  it("are those of what people make and of what comes and goes", () => {
    expect(lists.map(({ path }) => path).toSorted()).toEqual(
      [
        ACCOUNTS,
        `${ACCOUNTS}/${lister.id}/api-keys`,
        `${ACCOUNTS}/${lister.id}/devices`,
        `${ACCOUNTS}/${lister.id}/links`,
        "/admin/devices",
        "/admin/log",
        "/api-keys",
        "/channels",
        "/chats",
        "/contacts",
        "/deliveries",
        "/devices",
        `/devices/${OLDEST}/decisions`,
        `/devices/${OLDEST}/dialogues`,
        "/links",
        "/log",
        "/messages",
        "/scheduled",
      ].toSorted(),
    );
  });

  it.each([
    ["limit", ["0", "101", "-1", "1.5", "many", "", "1e2"]],
    [
      "before",
      [
        "nonsense",
        "1.2.3",
        "%00",
        "99999999999999999999.1",
        "2026-01-01",
        "2026-01-01junk",
        "2026-01-01T00:00:00",
        "2026-02-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
      ],
    ],
  ])("refuse a %s that is none, and name it in the same words", async (field, values) => {
    const said = new Set<string>();
    for (const list of lists)
      for (const value of values) {
        const answer = await page(list, `${field}=${value}`);
        expect([list.path, value, answer.status]).toEqual([list.path, value, 400]);
        expect(Object.keys(answer.body["errors"].fields)).toEqual([field]);
        for (const text of answer.body["errors"].fields[field])
          said.add(text.replace(", the id of a record, or", ", or"));
      }
    expect([...said]).toEqual(
      field === "limit"
        ? ["Must be at least 1.", "Must be at most 100.", "Must be a number."]
        : [
            expect.stringMatching(
              /^Must be `next` of the previous page, or a time in ISO 8601 with a time zone/,
            ),
          ],
    );
  });

  it("tell each record once, newest first, whatever the size of a page", async () => {
    for (const list of lists) {
      const { data, total, next } = (await page(list, "")).body as {
        data: object[];
        total: number;
        next: string | null;
      };
      expect([list.path, total, next]).toEqual([list.path, data.length, null]);
      for (const limit of [1, 2, 100]) {
        const seen: object[] = [];
        for (let before = ""; ;) {
          const { body } = await page(list, `limit=${limit}${before}`);
          expect(body["data"].length).toBeLessThanOrEqual(limit);
          seen.push(...body["data"]);
          if (body["next"] === null) break;
          before = `&before=${encodeURIComponent(body["next"])}`;
        }
        expect(seen).toEqual(data);
      }
    }
    const names = async (path: string, field: string, whose: string): Promise<string[]> =>
      (await gateway.get(path, { key: whose })).body["data"].map((one: Record<string, string>) => one[field]);
    expect((await names(ACCOUNTS, "name", gateway.adminToken)).slice(0, 2)).toEqual(["The newest", "Lists"]);
    expect(await names("/devices", "device", lister.key)).toEqual([...OTHERS.toReversed(), OLDEST]);
    expect(await names("/api-keys", "name", lister.key)).toEqual(["D", "C", "B", "First key"]);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    expect(
      (
        await page(
          lists.find(({ path }) => path === "/devices")!,
          `before=${tomorrow}`,
        )
      ).body["total"],
    ).toBe(3);
  });
});
