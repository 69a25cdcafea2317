import { endpoints } from "../../../src/api/endpoints/index.ts";
import { MESSAGE_STATES } from "../../../src/model/messages.ts";
import { DELIVERY_STATES } from "../../../src/webhooks/rows.ts";
import type { BenchGateway } from "../processes.ts";
import type { Json } from "../gateway-client.ts";
import { asOperator, type Work } from "./gateway.ts";
import type { Facts } from "./data.ts";
import { callForKey } from "./tenants.ts";

const DAY_MS = 86_400_000;
/** Where else than at its beginning a list is looked into: days ago. */
const DEPTHS = [150, 299];
/** A page of a large folder is asked for so often, and the quickest counts: others have the machine as well. */
const TIMES = 3;
const LARGE = 200_000;

/** GET endpoints that no step asks for, and why. */
const NOT_ASKED: Record<string, string> = {
  "/send-message": "sends",
  "/send-media": "sends",
  "/send-poll": "sends",
  "/devices/{number}/profile": "asks WhatsApp",
  "/groups/{id}": "asks WhatsApp",
  "/groups/{id}/invite": "asks WhatsApp",
  "/groups/{id}/requests": "asks WhatsApp",
  "/contacts/{contact}": "asks WhatsApp",
  "/media/{token}": "the folder has no files",
  "/console/session": "tells of the browser's own session alone",
};

type Ask = (method: string, path: string) => Promise<Json>;

/** What the busy number has of each kind, to ask for. */
interface Some {
  number: string;
  account: string;
  /** Id of a message that came, and the number of who wrote it. */
  message: string;
  chat: string;
  /** Id of one that the gateway sent. */
  sent: string;
  delivery: string;
}

/**
 * Everything that can be read, each list with each of its filters: its first three pages, and pages far down.
 *
 * @throws when there is a GET that is neither asked nor named as not asked
 */
export async function readings(
  gateway: BenchGateway,
  { busy, size, someMessage, someChat }: Facts,
  token: string,
): Promise<[what: string, Work][]> {
  const key = callForKey(gateway, busy.key);
  const newest = async (list: string): Promise<string> => (await key("GET", `${list}&limit=1`)).data[0].id;
  const some: Some = {
    number: busy.number,
    account: busy.account,
    message: someMessage,
    chat: someChat,
    sent: await newest("/messages?direction=out"),
    delivery: await newest("/deliveries?state=delivered"),
  };
  const times = size.messages < LARGE ? 1 : TIMES;
  const asked = new Set<string>();
  const path = (template: string, values: Record<string, string> = {}): string => {
    asked.add(template);
    return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!);
  };
  const operator = asOperator(gateway, token);
  const events = path("/events");
  const { account, number, chat } = some;
  const contact = path("/admin/accounts/{id}/devices/{number}/contacts/{contact}", {
    id: account,
    number,
    contact: chat,
  });
  const texts = ["/metrics", "/docs", "/openapi.json", "/health/live", "/health/ready"].map((text) =>
    path(text),
  );
  const all: [string, Work][] = [
    ...listsOf(some, path).map((list): [string, Work] => [list, () => pages(key, list, times)]),
    ...recordsOf(some, path).map((record): [string, Work] => [record, () => one(key, record)]),
    ...ofOperators(some, path).map((record): [string, Work] => [record, () => one(operator, record)]),
    // Lines of JSON.
    [contact, () => plain(gateway, token, contact)],
    ...texts.map((text): [string, Work] => [text, () => plain(gateway, token, text)]),
    [events, () => plain(gateway, busy.key, events, { "last-event-id": "1" })],
  ];
  const forgotten = endpoints
    .filter((endpoint) => endpoint.method === "GET" && !(endpoint.path in NOT_ASKED))
    .filter((endpoint) => !asked.has(endpoint.path));
  if (forgotten.length > 0)
    throw new Error(`No step asks for GET ${forgotten.map((e) => e.path).join(", ")}`);
  return all.map(([what, work]) => [`GET ${what}`, work]);
}

type Path = (template: string, values?: Record<string, string>) => string;

function listsOf({ number, message, chat }: Some, path: Path): string[] {
  const decisions = path("/devices/{number}/decisions", { number });
  const [messages, chats, deliveries] = ["/messages", "/chats", "/deliveries"].map((list) => path(list));
  const since = new Date(Date.now() - 200 * DAY_MS).toISOString();
  const filtered = (list: string, filters: string[]): string[] => [
    list,
    ...filters.map((filter) => `${list}?${filter}`),
  ];
  return [
    ...filtered(messages!, [
      `sender=${number}`,
      `chat=${chat}`,
      "direction=in",
      "direction=out",
      ...MESSAGE_STATES.map((state) => `state=${state}`),
      `since=${since}`,
      "q=hello",
      `sender=${number}&chat=${chat}&direction=out&state=sent&since=${since}`,
    ]),
    path("/scheduled"),
    ...filtered(chats!, [`sender=${number}`, "q=Ana", "q=nobody", `q=${chat.slice(-6)}`]),
    ...filtered(`${path("/contacts")}?sender=${number}`, []),
    `/contacts?sender=${number}&q=nobody`,
    ...filtered(deliveries!, [
      `device=${number}`,
      ...DELIVERY_STATES.map((state) => `state=${state}`),
      `device=${number}&state=delivered`,
    ]),
    ...["/console/sessions", "/links", "/log"].map((list) => path(list)),
    path("/devices/{number}/dialogues", { number }),
    ...filtered(decisions, [`message=${message}`, `chat=${chat}`, `message=${message}&chat=${chat}`]),
  ];
}

function recordsOf({ number, message, sent, delivery }: Some, path: Path): string[] {
  const since = new Date(Date.now() - 200 * DAY_MS).toISOString();
  const audit = path("/devices/{number}/audit", { number });
  const trace = (id: string): string => `${path("/messages/{id}/trace", { id })}?sender=${number}`;
  const ofNumber = ["", "/why", "/webhook", "/webhooks", "/bots", "/bots/routes"];
  return [
    path("/messages/{id}", { id: sent }),
    trace(sent),
    trace(message),
    `${path("/stats")}?hours=2160`,
    path("/deliveries/{id}", { id: delivery }),
    ...["/account", "/api-keys", "/devices", "/bots", "/bots/routes"].map((record) => path(record)),
    ...ofNumber.map((what) => path(`/devices/{number}${what}`, { number })),
    audit,
    `${audit}?since=${since}`,
    `${path("/channels")}?sender=${number}`,
  ];
}

function ofOperators({ account }: Some, path: Path): string[] {
  const whats = ["", "/{id}", "/{id}/api-keys", "/{id}/devices", "/{id}/links"];
  const admin = ["/nodes", "/log", "/health", "/devices", "/stats", "/alerts"];
  return [
    ...whats.map((what) => path(`/admin/accounts${what}`, { id: account })),
    ...admin.map((what) => path(`/admin${what}`)),
  ];
}

/** @returns how long its slowest page took */
async function pages(key: Ask, list: string, times: number): Promise<number> {
  const url = `${list}${list.includes("?") ? "&" : "?"}limit=100`;
  let slowest = 0;
  const page = async (before: string): Promise<Json> => {
    const { answer, tookMs } = await quickest(() => key("GET", `${url}${before}`), times);
    slowest = Math.max(slowest, tookMs);
    return answer;
  };
  for (let before = "", count = 0; count < 3; count++) {
    const { next } = await page(before);
    if (!next) break;
    before = `&before=${encodeURIComponent(String(next))}`;
  }
  for (const days of DEPTHS) await page(`&before=${new Date(Date.now() - days * DAY_MS).toISOString()}`);
  return slowest;
}

async function one(ask: Ask, record: string): Promise<void> {
  await ask("GET", record);
}

async function quickest<T>(ask: () => Promise<T>, times: number): Promise<{ answer: T; tookMs: number }> {
  let tookMs = Infinity;
  let answer: T;
  for (let time = 0; time < times; time++) {
    const started = performance.now();
    answer = await ask();
    tookMs = Math.min(tookMs, performance.now() - started);
  }
  return { answer: answer!, tookMs };
}

/** What is no JSON, or has no end: its beginning is waited for. */
async function plain(
  { url }: BenchGateway,
  token: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const over = new AbortController();
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: over.signal,
  });
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}`);
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    await answer.body!.getReader().read();
    over.abort();
  } else await answer.text();
}
