import * as fc from "fast-check";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { demandedBy, endpoints, fieldsOf, isStream, nameOf, rightFields } from "./requests.ts";

/** Requests that nobody should make, to every endpoint. None of them may send anything. */

export interface BadRequest {
  endpoint: Endpoint;
  /** Of the endpoint, with its parameters filled in and its query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Who asks; the keys are filled in when the test runs. */
export interface Credentials {
  key: string;
  operator: string;
  ownNumber: string;
}

const FORM = "application/x-www-form-urlencoded";
const MEGABYTE = 1_000_000;
const ELEVEN = Array.from({ length: 11 }, (_, last) => 4_915_100_000_001 + last).join("|");

/** JSON texts of values that are strange everywhere. */
const strange = fc.constantFrom(
  "null",
  "true",
  "false",
  "0",
  "-0",
  "1.5",
  "1e999",
  "-1e999",
  "123456789012345678901234567890",
  "9e15",
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud83d"',
  '"\\udc00x"',
  '"\\u202e"',
  '"\\r\\nX-Evil: 1"',
  '"NaN"',
  '"1"',
  "{}",
  "[]",
  "[[]]",
  "[null]",
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{}}}',

  '"__proto__"',
  '{"length":-1}',
  '{"$ne":null}',
  `"' OR 1=1 --"`,
  '"../../etc/passwd"',
  '"${jndi:ldap://x}"',
  '"http://127.0.0.1:9/x"',
  '"file:///etc/passwd"',
  '"http://[::1]:9/"',
  '"2030-01-01"',
  '"-1"',
  '"*"',

  `"${ELEVEN}"`,
  `"${"|".repeat(5000)}"`,
  '"@g.us"',
  '"1@lid@lid"',
  '"٤٩١٥١٠٠٠٠٠٠٠١"',
  '"4915100000001,4915100000002"',
);
const nested = fc
  .tuple(fc.integer({ min: 10, max: 3000 }), fc.boolean())
  .map(([depth, lists]) =>
    lists ? "[".repeat(depth) + "]".repeat(depth) : '{"a":'.repeat(depth) + "1" + "}".repeat(depth),
  );
const huge = fc.constantFrom(
  `"${"x".repeat(MEGABYTE)}"`,
  `"${"|".repeat(MEGABYTE)}"`,
  `"${"4915100000001|".repeat(70_000)}"`,
  `[${"1,".repeat(250_000)}1]`,
  "[".repeat(250_000) + "]".repeat(250_000),
  '{"a":'.repeat(120_000) + "1" + "}".repeat(120_000),
  "9".repeat(MEGABYTE),
);
const value = fc.oneof(
  { weight: 60, arbitrary: strange },
  { weight: 16, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 16, arbitrary: fc.string({ unit: "binary", maxLength: 40 }).map((text) => JSON.stringify(text)) },
  { weight: 6, arbitrary: nested },
  { weight: 1, arbitrary: huge },
);

/** What no destination can be, as JSON and as text. */
const NO_DESTINATION = [
  ELEVEN,
  "|".repeat(3000),
  "",
  "0151234567",
  "nobody",
  "4915100000001|nobody",
  "49151\u000000000001",
  "-",
  "4915100000001@evil.example",
  "9".repeat(400),
  "+",
];
/** What is right in no field that a send demands. */
const WRONG_EVERYWHERE = ["null", "{}", "[[]]", '"\\ud83d"', '{"0":"a"}', `"${"x".repeat(100_000)}"`];

const segment = fc.oneof(
  fc.constantFrom("%00", "%E0%A4%A", "%", "..%2f..%2fetc%2fpasswd", "__proto__", "constructor", "null", "-1"),
  fc.constantFrom(
    "1e309",
    "%F0%9F%98%80",
    "%ED%A0%80",
    "a%7Cb",
    "'%20OR%201=1--",
    "%0d%0aX-Evil:1",
    "*",
    "x".repeat(5000),
  ),
  fc.constantFrom(
    "4915199999999",
    "msg_0",
    "3EB000000000000000",
    "\u00ff\u00fe",
    "00",
    "%2e%2e",
    "9".repeat(300),
  ),
  fc
    .string({ unit: "binary", minLength: 1, maxLength: 30 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
);

const contentType = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("application/json", "application/json; charset=utf-8") },
  { weight: 2, arbitrary: fc.constantFrom("text/plain", "", FORM) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "application/xml",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "APPLICATION/JSON;;;",

      "application/json, text/html",
      "*/*",
      "/",
      ";",
      "\u00ff",
      "x".repeat(5000),
      "application/octet-stream",
    ),
  },
);

type Field = [name: string, json: string];

/** Names that the endpoint knows, and some that no endpoint does. */
const nameFor = (endpoint: Endpoint): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...fieldsOf(endpoint), "msgid", "refresh", "limit") },
    {
      weight: 2,
      arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "[]", "a[b"),
    },
    { weight: 1, arbitrary: fc.constantFrom("idempotency_key", "api_key") },
  );

/** A send is spoilt for certain: what it demands is there, and the last that is said of one field is wrong. */
function fieldsFor(endpoint: Endpoint, { ownNumber }: Credentials): fc.Arbitrary<Field[]> {
  const demanded = demandedBy(endpoint);
  const right = Object.entries({
    ...rightFields(endpoint),
    ...(demanded.includes("sender") ? { sender: ownNumber } : {}),
  }).map(([name, field]): Field => [name, JSON.stringify(field)]);
  const junk = fc.array(fc.tuple(nameFor(endpoint), value), { maxLength: 4 });
  if (!demanded.includes("number"))
    return fc.tuple(fc.subarray(right), junk).map(([some, more]) => [...some, ...more]);
  const spoilt = fc.oneof(
    fc.constantFrom(...NO_DESTINATION).map((text): Field => ["number", JSON.stringify(text)]),
    fc
      .constantFrom(...WRONG_EVERYWHERE)
      .chain((json) => fc.constantFrom(...demanded).map((name): Field => [name, json])),
  );
  return fc.tuple(junk, spoilt).map(([more, last]) => [...right, ...more, last]);
}

const jsonOf = (fields: Field[]): string =>
  `{${fields.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;

/** Values as forms have them; a send's destination is never right in one, whatever is cut off. */
const formFor = (endpoint: Endpoint): fc.Arbitrary<string> => {
  const text = fc.oneof(
    fc.constantFrom(
      "%ff",
      "%C3%28",
      "%",
      "%00",
      "+",
      "%u0041",
      "=",
      "a=b",
      "",
      "x".repeat(3000),
      "%F0%9F%98%80",
    ),
    strange.map(encodeURIComponent),
    fc.string({ unit: "binary", maxLength: 20 }).map((some) => encodeURIComponent(some.toWellFormed())),
  );
  const key = fc
    .tuple(
      nameFor(endpoint),
      fc.constantFrom("", "", "", "[]", "[0]", "[x]", "[999999999]", "[a][b]", "[", "]", "%5B%5D"),
    )
    .map(([name, brackets]) => `${name}${brackets}`);
  const pair = fc.tuple(key, text).map(([name, some]) => `${name}=${some}`);
  const many = fc.constantFrom(
    "a[]&".repeat(200_000),
    "option[]=x&".repeat(90_000),
    "=&".repeat(400_000),
    "a[1]=1&".repeat(140_000),
  );
  const soup = fc.oneof(
    { weight: 60, arbitrary: fc.array(pair, { maxLength: 8 }).map((pairs) => pairs.join("&")) },
    { weight: 1, arbitrary: many },
  );
  if (!demandedBy(endpoint).includes("number")) return soup;
  const destination = fc.constantFrom(...NO_DESTINATION).map((none) => `&number=${encodeURIComponent(none)}`);
  return fc.tuple(soup, destination).map(([some, none]) => some + none);
};

/** What happens to a body on a bad line. Only of JSON: half a form may be a right one. */
const damage = fc.oneof(
  { weight: 20, arbitrary: fc.constant((body: Buffer) => body) },
  { weight: 1, arbitrary: fc.constant((body: Buffer) => body.subarray(0, Math.floor(body.length / 2))) },
  { weight: 1, arbitrary: fc.constant((body: Buffer) => Buffer.concat([body, Buffer.from([0xff, 0xfe])])) },
  { weight: 1, arbitrary: fc.constant((body: Buffer) => Buffer.from(body.toString(), "utf16le")) },
  { weight: 1, arbitrary: fc.constant((body: Buffer) => Buffer.concat([Buffer.from([0, 0xc3]), body])) },
);

function bodyFor(
  endpoint: Endpoint,
  credentials: Credentials,
): fc.Arbitrary<{ type: string; body: Buffer | null }> {
  const json = fc
    .tuple(fieldsFor(endpoint, credentials), contentType, damage)
    .map(([fields, type, hurt]) => ({ type, body: hurt(Buffer.from(jsonOf(fields))) }));
  const form = formFor(endpoint).map((text) => ({ type: FORM, body: Buffer.from(text) }));
  const other = fc
    .tuple(contentType, fc.oneof(value, fc.constantFrom("", "{", "null{", "\uFEFF", "\uFEFF{}")))
    .map(([type, text]) => ({ type, body: Buffer.from(text) }));
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 2, arbitrary: form },
    { weight: 1, arbitrary: other },
  );
}

function keyFor(endpoint: Endpoint, { key, operator }: Credentials): fc.Arbitrary<Record<string, string>> {
  const right = endpoint.access.by === "operator" ? operator : key;
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant({ authorization: `Bearer ${right}` }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { authorization: "Bearer" },
        { authorization: `Bearer ${"x".repeat(10_000)}` },
        { authorization: "Bearer \u00ff\u0080" },
        { authorization: "Basic eDp5" },
        { authorization: `Bearer ${right}`, "content-encoding": "gzip" },
        { authorization: `Bearer ${right}`, "x-request-id": "\u00ff".repeat(200) },
        { authorization: `Bearer ${right}`, "idempotency-key": "x".repeat(300), cookie: "a".repeat(4000) },
      ),
    },
  );
}

function pathFor(endpoint: Endpoint, { ownNumber }: Credentials): fc.Arbitrary<string> {
  // Not of one's own where that would take the number away.
  const ends = endpoint.method === "DELETE" || endpoint.path.endsWith("/logout");
  const filled = endpoint.path.split(/(\{\w+\})/).map((part) => {
    if (!part.startsWith("{")) return fc.constant(part);
    return part === "{number}" && !ends ? fc.oneof(fc.constant(ownNumber), segment) : segment;
  });
  return fc.tuple(fc.constantFrom("", "", "", "/v1"), ...filled).map((parts) => parts.join(""));
}

/** @returns any request to any of the endpoints, all of them equally often */
export function badRequest(credentials: Credentials): fc.Arbitrary<BadRequest> {
  // A backup takes no field that could be wrong, and every right request makes a copy of all data.
  const asked = endpoints.filter(
    (endpoint) => !isStream(endpoint) && endpoint.produces !== "application/x-tar",
  );
  return fc.constantFrom(...asked).chain((endpoint): fc.Arbitrary<BadRequest> => {
    const path = pathFor(endpoint, credentials);
    const headers = keyFor(endpoint, credentials);
    const takesBody = endpoint.method !== "GET" && endpoint.method !== "DELETE";
    if (!takesBody)
      return fc.record({
        endpoint: fc.constant(endpoint),
        path: fc.tuple(path, formFor(endpoint)).map(([way, soup]) => `${way}?${soup}`),
        headers,
        body: fc.constant(null),
      });
    return fc.tuple(path, headers, bodyFor(endpoint, credentials)).map(([way, more, { type, body }]) => ({
      endpoint,
      path: way,
      headers: { ...more, ...(type === "" ? {} : { "content-type": type }) },
      body,
    }));
  });
}

/** For the message of a failure. */
export function show({ endpoint, path, headers, body }: BadRequest): string {
  const lines = Object.entries(headers).map(([name, header]) => `${name}: ${short(JSON.stringify(header))}`);
  return [nameOf(endpoint), short(path), ...lines, short(JSON.stringify(body?.toString() ?? null))].join(
    "\n",
  );
}

function short(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length})` : text;
}
