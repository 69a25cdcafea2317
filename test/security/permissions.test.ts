import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../src/accounts/caller.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { endpoints, keyEndpoints, nameOf, parametersOf, requestOf, rightFields } from "./requests.ts";

/** Every route × every permission: what an endpoint says of its access is all that decides. */

let gateway: Gateway;
/** A key of one account for each permission, with this one alone. */
const keys = new Map<string, string>();
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      API_RATE_PER_MINUTE: "0",
      WRONG_KEYS_PER_MINUTE: "0",
      PLAN_PRO: '{"devices":9,"keys":99,"sends_per_day":null}',
      ALLOW_PRIVATE_NETWORK: "1",
      WHATSAPP_WS_URL: "ws://127.0.0.1:9/ws/chat",
    },
  });
  const { key } = await gateway.createAccount();
  for (const permission of PERMISSIONS) {
    const { body } = await gateway.post(
      "/api-keys",
      { name: permission, permissions: [permission] },
      { key },
    );
    keys.set(permission, body["api_key"]);
  }
});
afterAll(() => gateway?.dispose());

/** A right request for what does not exist, so that nothing is done whoever asks. */
function ask(endpoint: Endpoint, key: string | null) {
  const params = Object.fromEntries(parametersOf(endpoint).map((name) => [name, "4915199999999"]));
  const { method, path, body } = requestOf(endpoint, params, { ...rightFields(endpoint) });
  return answerTo(method, path, body, key);
}

/** Only its beginning: a stream has no end. */
async function answerTo(method: string, path: string, body: object | undefined, key: string | null) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const errors = isJson ? ((await response.json()).errors ?? {}) : {};
  await response.body?.cancel().catch(() => undefined);
  return { status: response.status, errors };
}

/** What an endpoint asks for besides, once it is known that the number is the caller's to ask for. */
const FURTHER: Record<string, string> = { "POST /bots/fork": "messages" };

/** Any of these will do; a key with none of them is told of the first. */
const ONE_OF: Record<string, string[]> = {
  "GET /events": ["messages", "devices", "bots", "webhooks", "groups"],
};

/** Sends say it in a sentence as well. */
const denied = (permission: string) => ({
  status: 403,
  errors: expect.objectContaining({ code: "PERMISSION_DENIED", permission }),
});

describe("a key with one permission", () => {
  it.each(keyEndpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "may call %s only when it is the one that the endpoint names",
    async (_, endpoint) => {
      const needed = endpoint.access.by === "key" ? endpoint.access.permission : null;
      for (const permission of PERMISSIONS) {
        const answer = await ask(endpoint, keys.get(permission)!);
        const may = needed === null || permission === needed || permission === "*";
        const anyOf = ONE_OF[nameOf(endpoint)];
        const further = anyOf?.includes(permission) ? undefined : (anyOf?.[0] ?? FURTHER[nameOf(endpoint)]);
        const lacking = permission === "*" || further === undefined ? null : denied(further);
        expect({ permission, denied: answer.errors.code === "PERMISSION_DENIED" ? answer : null }).toEqual({
          permission,
          denied: may ? lacking : denied(needed),
        });
        expect(answer.status).toBeLessThan(500);
      }
    },
  );

  it.each(keyEndpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "or none, or the operator's token, is not let in by %s",
    async (_, endpoint) => {
      for (const key of [null, gateway.adminToken, "parley_nonsense"])
        expect(await ask(endpoint, key)).toMatchObject({ status: 401, errors: { code: "INVALID_API_KEY" } });
    },
  );
});

describe("the operator's endpoints", () => {
  const operators = endpoints.filter(({ access }) => access.by === "operator");

  it.each(operators.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "do not let any key call %s",
    async (_, endpoint) => {
      for (const key of [null, ...keys.values()])
        expect(await ask(endpoint, key)).toMatchObject({
          status: 401,
          errors: { code: "INVALID_ADMIN_TOKEN" },
        });
    },
  );
});

describe("a key with numbers and recipients", () => {
  it("cannot make, or take over by rotating, a key that may do more", async () => {
    const { key } = await gateway.createAccount();
    const limits = {
      name: "small",
      permissions: ["keys", "messages"],
      devices: ["4915100000001"],
      recipients: ["49*"],
    };
    const { body } = await gateway.post("/api-keys", limits, { key });
    const small = { key: body["api_key"] as string };
    const wider = [
      { permissions: ["*"] },
      { permissions: ["media"] },
      { devices: undefined },
      { devices: ["4915100000001", "4915100000002"] },
      { recipients: undefined },
      { recipients: ["4*"] },
    ];
    for (const change of wider)
      expect(await gateway.post("/api-keys", { ...limits, ...change }, small)).toMatchObject({
        status: 403,
        body: { errors: { code: "PERMISSION_DENIED" } },
      });
    expect(await gateway.post("/api-keys", { ...limits, recipients: ["4917*"] }, small)).toMatchObject({
      status: 200,
    });
    const all = await gateway.get("/api-keys", { key });
    const strongest = all.body["data"].find(({ permissions }: { permissions: string[] }) =>
      permissions.includes("*"),
    );
    expect(await gateway.post(`/api-keys/${strongest.id}/rotate`, {}, small)).toMatchObject({
      status: 403,
      body: { errors: { code: "PERMISSION_DENIED" } },
    });
    expect((await gateway.get("/account", { key })).status).toBe(200);
  });
});
