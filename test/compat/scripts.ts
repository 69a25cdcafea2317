import { expect } from "vitest";
import { until } from "../_setup/world.ts";
import { renamed, rowsOf, type Call } from "./renamed.ts";
import { openShop, SHOP, type Shop } from "./shop.ts";

/** Scripts as the documentation of other gateways writes them, run after renaming what docs/migrating.md says, and nothing else. */

interface Own {
  method: string;
  path: string;
}

/** A shop, and what the documentation of its gateway says. */
export interface ScriptedShop extends Shop {
  /** Whether a call here has a field of this name. */
  knows(own: Own, field: string): boolean;
  /** A customer writes to the shop; resolves with the message's id once it can be quoted. */
  received(customer: string): Promise<string>;
}

export async function openScriptedShop(): Promise<ScriptedShop> {
  const shop = await openShop();
  const { paths, components } = (await shop.gateway.get("/openapi.json")).body;
  /** `POST /send-message number`, for every field that the documentation has. */
  const documented = new Set(
    Object.entries<Record<string, any>>(paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).flatMap(([method, { parameters = [], requestBody }]) => {
        const schema = requestBody?.content["application/json"].schema ?? {};
        const { properties = {} } = schema.$ref ? components.schemas[schema.$ref.split("/").at(-1)] : schema;
        const names = [...Object.keys(properties), ...parameters.map(({ name }: { name: string }) => name)];
        return names.map((name) => `${method.toUpperCase()} ${shapeOf(path)} ${name}`);
      }),
    ),
  );
  // The same object: what closes a shop looks it up.
  return Object.assign(shop, {
    knows: ({ method, path }: Own, field: string) => documented.has(`${method} ${shapeOf(path)} ${field}`),
    async received(customer: string): Promise<string> {
      const { id } = await shop.sim.sendText(customer, SHOP, "Hello");
      await until(async () => (await shop.gateway.get(`/messages/${id}`, { key: shop.key })).status === 200);
      return id;
    },
  });
}

const shapeOf = (path: string): string => path.replaceAll(/\{[^}]*\}/g, "{}");

/** Runs calls, and remembers which rows of the page they need. @param opened once `beforeAll` has run */
export function scriptOf(gateway: string, opened: () => ScriptedShop) {
  const rows = rowsOf(gateway);
  const used = new Set<string>();

  /** @param key null: none in a header, because a field has it */
  async function send(own: Own, fields: Record<string, unknown>, key: string | null) {
    const shop = opened();
    const really = JSON.parse(shop.really(JSON.stringify(fields)));
    const query = new URLSearchParams(really as Record<string, string>).toString();
    const { get, delete: remove, post, put, patch } = shop.gateway;
    const options = key === null ? {} : { key };
    const asking = {
      GET: () => get(`${own.path}?${query}`, options),
      DELETE: () => remove(`${own.path}?${query}`, options),
      POST: () => post(own.path, really, options),
      PUT: () => put(own.path, really, options),
      PATCH: () => patch(own.path, really, options),
    }[own.method]!;
    return asking();
  }

  async function ran(call: string, answering: ReturnType<typeof send>) {
    const answer = await answering;
    expect([call, answer.status, JSON.stringify(answer.body)]).toEqual([
      call,
      expect.toSatisfy((status: number) => status >= 200 && status < 300),
      expect.stringContaining('"status":true'),
    ]);
    return answer.body;
  }

  return {
    rows,
    used,
    /** The key is in the header, as the page says; fields that have no counterpart are left out. */
    async run(call: string, params: Call["params"] = {}, body: Call["body"] = {}) {
      used.add(call);
      const { knows, key } = opened();
      const { method, path, fields } = renamed(rows, { call, params, body }, knows);
      return ran(call, send({ method, path }, fields, key));
    },
    /**
     * The key stays in the field `api_key`, unless the page says that a call takes it in the header. A call that is the same
     * here is sent as it is, with every field that it has.
     *
     * @param token the operator's, for what only operators may do
     */
    async runAsWritten(call: string, theirs: Record<string, unknown> = {}, token?: string) {
      used.add(call);
      const { knows, key } = opened();
      const { own } = rows.get(call) ?? {};
      const isSame = own !== undefined && `${own.method} ${own.path}` === call;
      const { method, path, fields } = renamed(rows, { call, body: theirs }, (...asked) =>
        isSame ? true : knows(...asked),
      );
      const takesField = method === "POST" || path.startsWith("/send-");
      if (token !== undefined) return ran(call, send({ method, path }, fields, token));
      if (takesField) return ran(call, send({ method, path }, { ...fields, api_key: key }, null));
      return ran(call, send({ method, path }, fields, key));
    },
  };
}
