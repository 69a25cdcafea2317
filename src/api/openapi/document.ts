import { giveWay } from "../../model/give-way.ts";
import type { Endpoint } from "../endpoint.ts";
import { endpoints } from "../endpoints/index.ts";
import { EXAMPLES } from "./examples.ts";
import { HEADERS } from "./headers.ts";
import type { NamedSchemas } from "./json-schema.ts";
import { operationOf } from "./operation.ts";
import { collectFailures, failureExamples } from "./responses.ts";
import { TAGS } from "./texts.ts";
import type { OpenApiDocument } from "./types.ts";
import { webhooksOf } from "./webhooks.ts";

let built: Promise<OpenApiDocument> | undefined;

/** The OpenAPI 3.1 document of every endpoint, made once, when somebody first asks for it. */
export function openApiDocument(): Promise<OpenApiDocument> {
  return (built ??= makeDocument());
}

/**
 * Makes the document of the schemas that check requests and, in tests, answers. An endpoint at a time: all of them take a
 * tenth of a second, and nobody else waits for it.
 */
export async function makeDocument(): Promise<OpenApiDocument> {
  const named: NamedSchemas = new Map();
  const failures = collectFailures();
  const paths: OpenApiDocument["paths"] = {};
  for (const endpoint of inReadingOrder(endpoints)) {
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operationOf(endpoint, named, failures);
    await giveWay();
  }
  const webhooks = webhooksOf(named);
  const used = new Set(
    [...JSON.stringify(failures.all()).matchAll(/#\/components\/examples\/(\w+)/g)].map(([, code]) => code!),
  );
  const examples = Object.entries(failureExamples()).filter(([code]) => used.has(code));
  return {
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version: "1",
      description:
        "Messages from and to WhatsApp numbers. Every answer has `status`, and the same text as `msg` and `message`; failures have `errors.code`. These paths are version 1 forever; `/v1/…` answers the same.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The gateway that served this document" }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses: failures.all(),
      headers: HEADERS,
      examples: Object.fromEntries(examples),
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key. Its permissions are the scopes." },
        keyInQuery: { type: "apiKey", in: "query", name: "api_key", description: "GET sends only." },
        operator: { type: "http", scheme: "bearer", description: "PARLEY_ADMIN_TOKEN." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "parley",
          description:
            "The cookie that `POST /console/session` sets (`__Host-parley` when PUBLIC_URL is https). It stands for the key or the operator's token that signed in, on every endpoint. Every method but GET, and a GET that sends, then needs the header `X-CSRF-Token`.",
        },
      },
    },
  };
}

/** As the examples are written: what most callers want first. */
function inReadingOrder(all: Endpoint[]): Endpoint[] {
  const order = Object.keys(EXAMPLES);
  const place = ({ method, path }: Endpoint): number => {
    const index = order.indexOf(`${method} ${path}`);
    return index < 0 ? order.length : index;
  };
  return all.toSorted((a, b) => place(a) - place(b));
}
