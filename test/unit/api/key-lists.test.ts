import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/api/endpoint.ts";
import { endpoints } from "../../../src/api/endpoints/index.ts";
import { EXAMPLES } from "../../../src/api/openapi/examples.ts";
import { caller, createRoutesApp, device, type Parts } from "../../_setup/routes-app.ts";

const ALLOWED = "31600000001";
const OUTSIDE = "31600000002";
const UNKNOWN = "31600000003";

const byKey = endpoints.filter(({ access }) => access.by === "key");
const named = (list: Endpoint[]) =>
  list.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

/** An account with two numbers and a key that may use the first. Whatever asks further than that fails the test. */
function appFor(grants: object, parts: Parts = {}) {
  const numbers = [ALLOWED, OUTSIDE].map((number, index) => ({ ...device, id: index + 1, number }));
  return createRoutesApp({
    keys: { authenticate: () => ({ ...caller, ...grants }) },
    numbers: {
      list: () => numbers,
      find: (_, number) => numbers.find((known) => known.number === number) ?? null,
      isLinked: () => true,
    },
    bots: {
      list: () => [{ id: "menu", priority: 10, warnings: [], schema: null, enable: "all", routes: [] }],
    },
    ...parts,
  });
}

/** The endpoint's example with another number of ours in it. */
function requestFor({ method, path, input: { shape } }: Endpoint, number: string) {
  const { input = {}, path: inPath = {} } = EXAMPLES[`${method} ${path}`]!;
  const fields: Record<string, unknown> = { ...input };
  // Also where the number may be left out, as in the example.
  if ("sender" in shape) fields["sender"] = number;
  if ("device" in fields) fields["device"] = number;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === "number" ? number : (inPath[name] ?? "x"),
  );
  const bodyless = method === "GET" || method === "DELETE";
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return bodyless ? ([`${filled}?${query}`, undefined] as const) : ([filled, fields] as const);
}

const naming = byKey.filter(
  ({ path, input }) => path.includes("{number}") || "sender" in input.shape || path === "/generate-qr",
);

describe("a key's list of devices", () => {
  it("is looked at by every endpoint that names a number", () => {
    expect(naming.length).toBeGreaterThanOrEqual(20);
  });

  it.each(named(naming))(
    "hides the others from %s: the same bytes as a number that does not exist",
    async (_, endpoint) => {
      const app = appFor({ devices: [ALLOWED] });
      const answers = [];
      for (const number of [OUTSIDE, UNKNOWN]) {
        const [path, body] = requestFor(endpoint, number);
        answers.push(await app.ask(endpoint.method, path, body));
      }
      const [outside, unknown] = answers;
      expect(outside!.status).toBe(404);
      expect(outside!.text).toBe(unknown!.text);
    },
  );

  it("hides the others from the list, and keeps the key from registering them", async () => {
    const app = appFor({ devices: [ALLOWED] });
    const list = await app.ask("GET", "/devices");
    expect(list.body["data"].map((entry: { device: string }) => entry.device)).toEqual([ALLOWED]);
    expect((await app.ask("POST", "/devices", { device: UNKNOWN })).status).toBe(404);
  });

  it("hides messages and deliveries of the others", async () => {
    const app = appFor(
      { devices: [ALLOWED] },
      {
        conversations: {
          lookUp: async (devices: readonly { number: string }[]) =>
            devices
              .filter(({ number }) => number === OUTSIDE)
              .map(({ number }) => ({
                sender: number,
                deviceId: 2,
                id: "m",
                chat: "1",
                jid: "1",
                type: "text" as const,
                by: "gateway" as const,
                participant: null,
                at: null,
                content: null,
                edited: false,
                revoked: false,
                imported: false,
              })),
        },
        deliveries: {
          find: () => ({
            id: "d",
            device: OUTSIDE,
            listener: null,
            messageId: "m",
            type: "text",
            url: "http://x",
            state: "delivered",
            attempts: [],
            nextAt: null,
            reply: null,
          }),
        },
      },
    );
    for (const [method, path] of [
      ["GET", "/messages/m"],
      ["GET", "/deliveries/d"],
      ["POST", "/deliveries/d/replay"],
    ] as const)
      expect(await app.ask(method, path)).toMatchObject({
        status: 404,
        body: { errors: { code: "NOT_FOUND" } },
      });
  });
});

describe("a key's list of recipients", () => {
  // What acts on a message looks for it first.
  const sends = endpoints.filter(
    ({ sends: isSend, input, path }) => isSend && "number" in input.shape && !path.includes("{id}"),
  );

  it.each(named(sends))("refuses the whole request of %s for one that is not in it", async (_, endpoint) => {
    const app = appFor({ recipients: ["4915*", "120363000000000001@g.us"] });
    const [path, body] = requestFor(endpoint, ALLOWED);
    const number = "4915112345678|120363000000000001@g.us|31612345678";
    const changed =
      body === undefined ? path.replace(/number=[^&]*/, `number=${encodeURIComponent(number)}`) : path;

    const answer = await app.ask(endpoint.method, changed, body && { ...body, number });

    expect(answer).toMatchObject({ status: 403, body: { errors: { code: "RECIPIENT_NOT_ALLOWED" } } });
    expect(answer.body["msg"]).toContain("31612345678");
  });
});
