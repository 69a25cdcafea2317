import { endpoints } from "../../src/api/endpoints/index.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";

/** Requests for any endpoint, made of its description: an endpoint that is added is asked by every test here. */

export interface Request {
  method: string;
  /** With its query. */
  path: string;
  /** Absent for GET and DELETE. */
  body?: Record<string, unknown>;
}

/** A value that is right for each field that some endpoint demands, unless the test says another. */
export const RIGHT: Record<string, unknown> = {
  sender: "4915112345678",
  device: "4915112345678",
  number: "4915100000001",
  chat: "4915100000001",
  message: "hi",
  lid: "123456789@lid",
  media_type: "image",
  // Nobody listens there, and what is asked there says so at once.
  url: "http://127.0.0.1:9/file.png",
  data: "aGVsbG8=",
  name: "Lunch?",
  option: ["yes", "no"],
  latitude: 52.3731,
  longitude: 4.8926,
  contacts: [{ name: "Ana", numbers: ["4915100000001"] }],
  channel: "120363000000000001@newsletter",
  state: "typing",
  emoji: "👍",
  numbers: ["4915100000001"],
  participants: ["4915100000001"],
  action: "add",
  invite: "AbCdEfGhIjKlMnOpQrStUv",
  jsonrpc: "2.0",
  method: "tools/list",
  id: 1,
  permissions: ["keys"],
  bots: [],
  assertion: {
    id: "AbCdEfGhIjKlMnOpQrStUw",
    rawId: "AbCdEfGhIjKlMnOpQrStUw",
    type: "public-key",
    response: { clientDataJSON: "e30", authenticatorData: "AAAA", signature: "AAAA" },
  },
};

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

/** Names of the parameters in a path, in their order. */
export const parametersOf = ({ path }: Endpoint): string[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);

export const fieldsOf = (endpoint: Endpoint): string[] => Object.keys(endpoint.input.shape);

/** Where a field has other values than elsewhere. */
const RIGHT_AT: Record<string, Record<string, unknown>> = {
  "POST /groups/{id}/requests": { action: "approve" },
};

/** Of several fields one is enough, or without one there is nothing to see: this one. */
const CHOSEN: Record<string, string[]> = { "POST /send-media": ["url"], "POST /mcp": ["id"] };

/** The fields without which an endpoint refuses. */
export function demandedBy(endpoint: Endpoint): string[] {
  const demanded = Object.entries(endpoint.input.shape)
    .filter(
      ([, field]) =>
        !(field as { safeParse(value: unknown): { success: boolean } }).safeParse(undefined).success,
    )
    .map(([name]) => name);
  return [...demanded, ...(CHOSEN[nameOf(endpoint)] ?? [])];
}

/** Every demanded field with a value that is right. */
export function rightFields(endpoint: Endpoint): Record<string, unknown> {
  const right = { ...RIGHT, ...RIGHT_AT[nameOf(endpoint)] };
  return Object.fromEntries(demandedBy(endpoint).map((name) => [name, right[name]]));
}

/** @param params one for each parameter of the path, already escaped */
export function requestOf(
  endpoint: Endpoint,
  params: Record<string, string>,
  fields: Record<string, unknown> = rightFields(endpoint),
): Request {
  const { method } = endpoint;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!);
  if (method !== "GET" && method !== "DELETE") return { method, path, body: fields };
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((entry) => [name, String(entry)]) : [[name, String(value)]],
    ),
  );
  return { method, path: query.size === 0 ? path : `${path}?${query}` };
}

/** A stream has no end to wait for. */
export const isStream = ({ produces }: Endpoint): boolean => produces === "text/event-stream";

/** What needs a key, and so belongs to one account. */
export const keyEndpoints = endpoints.filter(({ access }) => access.by === "key");
export { endpoints };
