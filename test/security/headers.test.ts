import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { endpoints, isStream, nameOf, parametersOf, requestOf, type Request } from "./requests.ts";

/** What every answer says about itself, and does not say about the program. */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { WHATSAPP_WS_URL: "ws://127.0.0.1:9/ws/chat" } });
});
afterAll(() => gateway?.dispose());

function ask({ method, path, body }: Request): Promise<Response> {
  return fetch(gateway.url + path, {
    method,
    ...(body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
  });
}

/** Names of programs, versions and frameworks, and a browser's leave to read it from other pages. */
const TELLING = [
  "server",
  "x-powered-by",
  "via",
  "x-aspnet-version",
  "access-control-allow-origin",
  "set-cookie",
];
const named = endpoints
  .filter((endpoint) => !isStream(endpoint))
  .map((endpoint) => [nameOf(endpoint), endpoint] as const);

describe("every answer", () => {
  it.each(named)(
    "of %s without a key has an id, is kept by nobody, and names no program",
    async (_, endpoint) => {
      const params = Object.fromEntries(parametersOf(endpoint).map((name) => [name, "1"]));
      const response = await ask(requestOf(endpoint, params, {}));
      const text = await response.text();

      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(TELLING.filter((name) => response.headers.has(name))).toEqual([]);
      expect(text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(|SQLITE/);
      // What nobody needs a key for may be kept; whatever belongs to an account may not.
      const mayBeKept = endpoint.access.by === "everybody" && response.ok;
      expect(mayBeKept || response.headers.get("cache-control") === "no-store").toBe(true);
      expect(response.status === 401).toBe(endpoint.access.by !== "everybody");
    },
  );

  it("is a refusal in the same few words on paths and methods that are none", async () => {
    const wrong: Request[] = [
      { method: "GET", path: "/.git/config" },
      { method: "GET", path: "/node_modules/h3/package.json" },
      { method: "PROPFIND", path: "/account" },
      { method: "GET", path: "/%2e%2e/%2e%2e/etc/passwd" },
    ];
    for (const request of wrong) {
      const response = await ask(request);
      expect([404, 405]).toContain(response.status);
      expect(await response.json()).toEqual({
        status: false,
        msg: expect.any(String),
        message: expect.any(String),
        errors: { code: expect.stringMatching(/^(NOT_FOUND|METHOD_NOT_ALLOWED)$/) },
      });
    }
  });
});
