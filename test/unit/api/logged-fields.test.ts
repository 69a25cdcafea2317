import { describe, expect, it } from "vitest";
import { isLogged } from "../../../src/api/audit/audit-log.ts";
import { endpoints } from "../../../src/api/endpoints/index.ts";
import { loggedFields } from "../../../src/api/audit/logged-fields.ts";

const SECRET = "s3cret-of-somebody";
const shown = (input: Record<string, unknown>) => loggedFields(input, input);

describe("what of a request stands in the log of changes", () => {
  it.each(
    endpoints.filter(isLogged).map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const),
  )("of %s no secret, whatever its fields hold", (_, { input }) => {
    const secrets = /key|token|secret|header|config|assertion|link|password|text|message/i;
    const names = Object.keys(input.shape);
    const told = shown(Object.fromEntries(names.map((name) => [name, SECRET]))) ?? {};
    expect(Object.keys(told)).toEqual(names);
    for (const name of names.filter((one) => secrets.test(one)))
      expect([name, told[name]]).toEqual([name, "(given)"]);
  });

  it("is the value of what is on the list, and the name alone of everything else, however deep", () => {
    expect(
      shown({
        enabled: false,
        url: `https://crm.example:8443/hook/${SECRET}?token=${SECRET}`,
        headers: { authorization: SECRET },
        bots: [{ id: "menu", enabled: true, config: { password: SECRET } }],
        added_later: SECRET,
      }),
    ).toEqual({
      enabled: false,
      url: "https://crm.example:8443/…",
      headers: "(given)",
      bots: [{ id: "menu", enabled: true, config: "(given)" }],
      added_later: "(given)",
    });
  });

  it("is short, tells times as times, and says nothing of what was not given", () => {
    const given = { devices: [], expires_at: "", name: "" };
    const input = {
      devices: Array.from({ length: 1000 }, (_, index) => String(index)),
      expires_at: 0,
      name: "x".repeat(5000),
      enabled: true,
    };
    const told = loggedFields(given, input)!;
    expect(told["devices"]).toHaveLength(21);
    expect((told["devices"] as string[]).at(-1)).toBe("and 980 more");
    expect(told["expires_at"]).toBe("1970-01-01T00:00:00.000Z");
    expect(told["name"]).toHaveLength(200);
    expect(told).not.toHaveProperty("enabled");
    expect(loggedFields({}, { enabled: true })).toBeNull();
  });
});

it("everything that is no GET and no send is logged, unless it says why it changes nothing", () => {
  const silent = endpoints.filter(
    (endpoint) => endpoint.method !== "GET" && !endpoint.sends && !isLogged(endpoint),
  );
  expect(silent.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    "POST /admin/alerts/test",
    "POST /chats/{chat}/presence",
    "POST /chats/{chat}/read",
    "POST /chats/{chat}/typing",
    "POST /check-numbers",
    "POST /devices/{number}/webhook/test",
    "POST /generate-qr",
    "POST /groups",
    "POST /mcp",
    "POST /resolve-lid",
    "POST /uploads",
  ]);
});
