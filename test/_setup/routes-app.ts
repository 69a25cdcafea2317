import { H3, type EventHandler } from "h3";
import { loadConfig } from "../../src/config.ts";
import { createDrain } from "../../src/api/drain.ts";
import { createLogger } from "../../src/log.ts";
import { createRateLimit } from "../../src/api/access/rate-limit.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import type { App } from "../../src/api/services.ts";
import type { DeviceRecord } from "../../src/numbers/numbers.ts";
import { checkAnswer, type Answer } from "./client.ts";
import routes from "./routes.ts";

/**
 * All routes with parts that tests hand in: for what parts say that cannot be brought about from outside (what WhatsApp
 * refuses, a full disk, a fault of ours). Everything else is tested against the built gateway.
 */

export type Parts = { [Name in keyof App]?: { [Member in keyof App[Name]]?: AtOnce<App[Name][Member]> } };

/** What a part promises it may also have at once. */
type AtOnce<T> = T extends (...args: infer A) => Promise<infer R> ? (...args: A) => R | Promise<R> : T;

export interface RoutesApp {
  /** Checked against the endpoint's schema like every answer. */
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** Everything that was logged. */
  logged(): string;
}

export const OWN_NUMBER = "4915112345678";

export const caller: Caller = {
  accountId: "a1",
  keyId: "k1",
  permissions: ["*"],
  devices: null,
  recipients: null,
  account: { id: "a1", name: "Test", plan: "basic", enabled: true, createdAt: 0 },
};

export const device: DeviceRecord = {
  id: 7,
  accountId: "a1",
  number: OWN_NUMBER,
  createdAt: 1_700_000_000_000,
  state: "connected",
  since: 1_700_000_000_000,
  lid: null,
  name: null,
  platform: null,
  lastIn: null,
  lastOut: null,
  lastClose: null,
  wrongNumber: null,
  calls: "ignore",
  callsText: null,
  proxy: null,
};

const handlers = await Promise.all(
  routes.map(async (route) => {
    const { default: handler } = (await import(/* @vite-ignore */ route.path)) as { default: EventHandler };
    return { ...route, handler };
  }),
);

/** @param parts what differs from a gateway with one linked number; a part that is asked and not given throws */
export function createRoutesApp(parts: Parts = {}): RoutesApp {
  let log = "";
  const config = loadConfig({ API_RATE_PER_MINUTE: "0" });
  const known: Record<string, object> = {
    keys: { authenticate: () => caller },
    numbers: {
      find: (_: string, number: string) => (number === OWN_NUMBER ? device : null),
      current: async (some: DeviceRecord[]) => some,
      catchUp: async () => undefined,
      isLinked: () => true,
    },
    metrics: { authFailed: () => undefined },
    health: { longestStallMs: () => 0 },
    accounts: { takeSends: () => null },
    lids: { aliasesOf: async () => [] },
    webhookTroubles: { of: async () => null },
  };
  const app = new Proxy(
    {
      config,
      log: createLogger(config, { write: (line: string) => void (log += line) }),
      isAdminToken: (token: string) => token === "operator",
      settle: async () => undefined,
    } as Partial<App>,
    {
      get: (target, name: string) =>
        Reflect.get(target, name) ?? { ...known[name], ...parts[name as keyof App] },
    },
  ) as App;
  const h3 = new H3({
    onRequest: (event) => {
      event.context.app = app;
      event.context.drain = createDrain();
      event.context.cameWhileDraining = false;
      event.context.rateLimit = createRateLimit(0);
    },
  });
  for (const { route, method, handler } of handlers) h3.on(method as "GET", route, handler);

  return {
    logged: () => log,
    async ask(method, path, body) {
      const response = await h3.request(path, {
        method,
        headers: {
          authorization: `Bearer ${path.startsWith("/admin") ? "operator" : "key"}`,
          ...(body ? { "content-type": "application/json" } : {}),
        },
        body: body && JSON.stringify(body),
      });
      const text = await response.text();
      const answer = {
        status: response.status,
        headers: response.headers,
        text,
        body: text === "" ? {} : JSON.parse(text),
      };
      checkAnswer(method, path, answer);
      return answer;
    },
  };
}
