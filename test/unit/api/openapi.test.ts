import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { docsHtml, docsPolicy } from "../../../src/api/docs/page.ts";
import { endpoints } from "../../../src/api/endpoints/index.ts";
import { makeDocument, openApiDocument } from "../../../src/api/openapi/document.ts";
import { responsesIn } from "../../../src/api/openapi/responses.ts";
import { failure } from "../../../src/api/schemas/answer.ts";
import { EXAMPLES } from "../../../src/api/openapi/examples.ts";
import { ERROR_STATUS } from "../../../src/model/errors/errors.ts";
import { undocumented } from "../../_setup/documented.ts";
import routes from "../../_setup/routes.ts";
import { createRoutesApp } from "../../_setup/routes-app.ts";

const document = await openApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
    responses: responsesIn(document, operation),
  })),
);
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

/** Names of the lists of records in what an answer has as `data`; those within the records of a list are the records' own. */
function listsOf(schema: Record<string, unknown>): string[] {
  const resolved = (one: Record<string, unknown>): Record<string, unknown> => {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(String(one["$ref"] ?? ""))?.[1];
    return name === undefined ? one : (document.components.schemas[name] as Record<string, unknown>);
  };
  const within = (name: string, given: unknown): string[] => {
    const one = resolved(given as Record<string, unknown>);
    if (one["type"] === "array") {
      const items = resolved(one["items"] as Record<string, unknown>);
      return items["type"] === "string" ? [] : [name];
    }
    return Object.entries((one["properties"] ?? {}) as object).flatMap(([field, value]) =>
      within(field, value),
    );
  };
  const { data } = (resolved(schema)["properties"] ?? {}) as { data?: unknown };
  return data === undefined ? [] : within("data", data);
}

describe("the OpenAPI document", () => {
  it("is made an endpoint at a time: whoever asks for it first holds up nobody else", async () => {
    let turns = 0;
    const turn = (): void => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    expect(await makeDocument()).toEqual(document);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(endpoints.length - 1);
  });

  it("has every route, and nothing that is no route", () => {
    const served = routes
      .filter(({ method }) => method !== "HEAD")
      .map(({ method, route }) => `${method} ${route.replace(/:(\w+)/g, "{$1}")}`);
    expect(operations.map(nameOf).toSorted()).toEqual(served.toSorted());
  });

  it("is OpenAPI 3.1 with schemas that JSON Schema 2020-12 takes, and references that lead somewhere", () => {
    expect(document.openapi).toBe("3.1.0");
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $id: "api" });
    const schemas = operations.flatMap(({ operation, responses }) => [
      ...(operation.parameters ?? []).map(({ schema }) => schema),
      ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
      ...Object.values(responses).flatMap(({ content }) =>
        Object.values(content).map(({ schema }) => schema),
      ),
    ]);
    expect(schemas.length).toBeGreaterThan(300);
    // Many are the same.
    const texts = new Set(schemas.map((schema) => JSON.stringify(schema)));
    for (const text of texts) {
      const known = text.replaceAll('"#/components', '"api#/components');
      expect(() => ajv.compile(JSON.parse(known))).not.toThrow();
    }
  });

  it("gives each operation a name of its own that says what it does, and says who may call it", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(["sendMessage", "listMessages", "putWebhook", "rotateKey"]));
    for (const { operation } of operations) expect(operation.description).toMatch(/^.{20,}\.$/s);
    const security = (name: string) => operations.find((known) => nameOf(known) === name)!.operation.security;
    expect(security("POST /groups")).toEqual([{ key: ["groups"] }]);
    expect(security("GET /send-message")).toEqual([{ key: ["messages"] }, { keyInQuery: ["messages"] }]);
    expect(security("GET /account")).toEqual([{ key: [] }]);
    expect(security("GET /admin/accounts")).toEqual([{ operator: [] }]);
    expect(security("GET /docs")).toEqual([]);
  });

  it("says what a request needs, with the key's place and the idempotency key of sends", () => {
    const { operation } = operations.find((known) => nameOf(known) === "POST /send-message")!;
    const { schema } = operation.requestBody!.content["application/json"]!;
    expect(schema["required"]).toEqual(["sender", "number", "message"]);
    expect(Object.keys(schema["properties"] as object)).toEqual([
      "api_key",
      "sender",
      "number",
      "quote",
      "msgid",
      "mentions",
      "mention_all",
      "send_at",
      "expires",
      "typing",
      "view_once",
      "message",
      "idempotency_key",
    ]);
    expect(operation.parameters).toMatchObject([{ name: "Idempotency-Key", in: "header", required: false }]);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["200", "202", "409", "422"]));
  });

  it("has every code of the catalogue under its status, but for what belongs to no endpoint", () => {
    const told = new Map<string, Set<string>>();
    for (const { responses } of operations)
      for (const [status, response] of Object.entries(responses))
        for (const code of Object.keys(response["x-codes"] ?? {}))
          told.set(code, (told.get(code) ?? new Set()).add(status));
    const { METHOD_NOT_ALLOWED: _, ...expected } = ERROR_STATUS;
    const documented = Object.fromEntries(
      [...told].map(([code, statuses]) => [code, [...statuses].map(Number)]),
    );
    expect(documented).toEqual(
      Object.fromEntries(Object.entries(expected).map(([code, status]) => [code, [status]])),
    );
  });

  it.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "shows an example of %s that its own schemas accept",
    (name, { input, output, path }) => {
      const example = EXAMPLES[name];
      expect(example).toBeDefined();
      const parsed = input.safeParse(example!.input ?? {});
      expect(parsed.error?.issues).toBeUndefined();
      const shown = example!.output === undefined ? undefined : output.safeParse(example!.output);
      expect(shown?.error?.issues).toBeUndefined();
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      expect(Object.keys(example!.path ?? {}).toSorted()).toEqual(named.toSorted());
    },
  );

  it("has no example of an endpoint that does not exist", () => {
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(endpoints.map(nameOf).toSorted());
  });

  it("names what clients work with, and refers to it", () => {
    const named = [
      "Device",
      "Key",
      "Webhook",
      "Delivery",
      "Message",
      "Event",
      "Reply",
      "Failure",
      "SendAnswer",
    ];
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(named));
    for (const name of named) expect(JSON.stringify(document)).toContain(`"#/components/schemas/${name}"`);
    expect(document.servers).toEqual([{ url: "/", description: expect.any(String) }]);
    for (const { description } of document.tags) expect(description).toMatch(/\.$/);
    const used = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(document.tags.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  it("says of each failure what its codes are, with an example, and of each answer its headers", () => {
    const { schema, examples } = operations.find((known) => nameOf(known) === "POST /send-message")!
      .responses["404"]!.content["application/json"]!;
    expect(schema["allOf"]).toEqual([
      { $ref: "#/components/schemas/SendFailure" },
      expect.objectContaining({ required: ["errors"] }),
    ]);
    expect(Object.keys(examples!)).toEqual(["SENDER_NOT_FOUND"]);
    for (const { value } of Object.values(document.components.examples))
      expect(failure.safeParse(value).error?.issues).toBeUndefined();
    for (const { responses } of operations)
      for (const [status, { headers }] of Object.entries(responses)) {
        expect(Object.keys(headers!)).toContain("X-Request-Id");
        if (status === "429") expect(Object.keys(headers!)).toContain("Retry-After");
      }
  });

  it("costs a client at most 4 KB an endpoint: failures that endpoints share are written once", () => {
    expect(JSON.stringify(document).length).toBeLessThan(operations.length * 4096);
    const texts = Object.values(document.components.responses).map((response) => JSON.stringify(response));
    expect(new Set(texts).size).toBe(texts.length);
    const used = new Set(JSON.stringify(document.paths).match(/(?<=#\/components\/responses\/)\w+/g));
    expect(Object.keys(document.components.responses).toSorted()).toEqual([...used].toSorted());
    for (const { operation } of operations)
      for (const response of Object.values(operation.responses))
        expect(response).not.toHaveProperty("x-codes");
  });

  it("has defaults, and says that flags and numbers may be text", () => {
    const fields = (name: string) =>
      operations.find((known) => nameOf(known) === name)!.operation.requestBody!.content["application/json"]!
        .schema["properties"] as Record<string, Record<string, unknown>>;
    expect(fields("PUT /devices/{number}/webhook")["mode"]).toMatchObject({ default: "fallback" });
    expect(fields("PUT /devices/{number}/webhook")["read"]).toMatchObject({ default: false });
    expect(fields("POST /generate-qr")["force"]!["anyOf"]).toMatchObject([
      { type: "boolean" },
      { type: "string" },
      { type: "integer" },
    ]);
    const { parameters } = operations.find((known) => nameOf(known) === "GET /messages")!.operation;
    expect(parameters!.find(({ name }) => name === "limit")!.schema).toMatchObject({
      default: 50,
      anyOf: [{ type: "integer", minimum: 1, maximum: 100 }, { type: "string" }],
    });
  });

  it("gives every list its pages, or says how long it gets", () => {
    const unpaged: string[] = [];
    for (const { method, path, operation, responses } of operations) {
      const { schema } = responses["200"]?.content["application/json"] ?? {};
      const lists = schema === undefined ? [] : listsOf(schema);
      if (lists.length === 0) continue;
      const { properties } = schema as { properties: Record<string, unknown> };
      const asked = operation.parameters?.map(({ name }) => name) ?? [];
      if (
        asked.includes("limit") &&
        asked.includes("before") &&
        "next" in properties &&
        "total" in properties
      )
        continue;
      expect([method, path, operation.description]).toEqual([
        method,
        path,
        expect.stringMatching(/No pages: .{10,}\./),
      ]);
      unpaged.push(`${method} ${path}`);
    }
    expect(unpaged).toEqual([
      "GET /messages/{id}",
      "PATCH /messages/{id}",
      "DELETE /messages/{id}",
      "GET /messages/{id}/trace",
      "POST /messages/{id}/forward",
      "POST /messages/{id}/reaction",
      "POST /groups",
      "GET /groups/{id}",
      "PATCH /groups/{id}",
      "POST /groups/create",
      "GET /groups/{id}/requests",
      "POST /check-numbers",
      "GET /devices/{number}/audit",
      "POST /devices/{number}/webhook/test",
      "GET /devices/{number}/webhooks",
      "GET /deliveries/{id}",
      "GET /bots",
      "GET /devices/{number}/bots",
      "PUT /devices/{number}/bots",
      "PATCH /devices/{number}/bots",
      "POST /bots/fork",
      "GET /bots/routes",
      "GET /devices/{number}/bots/routes",
      "GET /console/sessions",
      "GET /admin/alerts",
      "GET /admin/nodes",
      "GET /admin/health",
      "POST /admin/bots/reload",
      "GET /stats",
      "GET /admin/stats",
    ]);
  });

  it("is what GET /openapi.json answers, without a key", async () => {
    const answer = await createRoutesApp().ask("GET", "/openapi.json");
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

describe("the page of the documentation", () => {
  const page = docsHtml(document);

  it("shows every endpoint with its fields, codes and a command", () => {
    for (const { operation, path, responses } of operations) {
      const [, article] = page.split(`<article id="${operation.operationId}">`);
      expect(article).toContain(path);
      const end = article!.slice(0, article!.indexOf("</article>"));
      expect(end).toContain("curl ");
      for (const { name } of operation.parameters ?? []) expect(end).toContain(`<code>${name}</code>`);
      for (const response of Object.values(responses))
        for (const code of Object.keys(response["x-codes"] ?? {}))
          expect(end).toContain(`<code>${code}</code>`);
    }
  });

  it("loads nothing, and lets nothing run but itself", () => {
    expect(page.match(/\s(src|srcset|action)=/g)).toBeNull();
    expect(page.match(/href="(?!#|data:,|openapi\.json)[^"]*"/g)).toBeNull();
    expect(page).not.toMatch(/@import|url\(|\son\w+=|\sstyle=/);
    expect(docsPolicy()).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; /,
    );
  });
});

const failed = (code: string) => ({ status: false, msg: "x", message: "x", errors: { code } });

describe("the check of every answer against the document", () => {
  const json = new Headers({ "content-type": "application/json" });
  const alive = { status: true, msg: "Alive.", message: "Alive." };
  const check = (method: string, path: string, status: number, body: unknown, headers = json) =>
    undocumented(method, path, { status, headers, body });

  it("lets through what is documented", () => {
    expect(check("GET", "/health/live", 200, alive)).toBeNull();
    expect(check("POST", "/groups", 403, failed("PERMISSION_DENIED"))).toBeNull();
    expect(check("GET", "/nowhere", 404, failed("NOT_FOUND"))).toBeNull();
  });

  it("finds a field, a status, a code and a media type that are not", () => {
    expect(check("GET", "/health/live", 200, { ...alive, more: 1 })).toContain("additional properties");
    expect(check("GET", "/health/live", 201, alive)).toContain("documents no 201");
    expect(check("POST", "/groups", 403, failed("WRONG_NUMBER"))).toContain("allowed values");
    expect(check("GET", "/nowhere", 404, failed("SENDER_NOT_FOUND"))).toContain("no endpoint");
    expect(check("GET", "/health/live", 200, alive, new Headers({ "content-type": "text/html" }))).toContain(
      "documents no text/html",
    );
  });
});
