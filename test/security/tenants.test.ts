import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import type { Answer } from "../_setup/client.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";
import {
  demandedBy,
  isStream,
  keyEndpoints,
  nameOf,
  parametersOf,
  requestOf,
  rightFields,
  type Request,
} from "./requests.ts";
import { addTenant, placesOf, unlike, type Belongings, type Place, type Tenant } from "./tenants.ts";

/**
 * Every route × {own, another account's, unknown}: what belongs to others cannot be told from what does not exist. The
 * same for a key that may use one number of its account: the other numbers do not exist for it.
 */

let world: World;
let owner: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  // Room for what POST /devices and /generate-qr register on the way.
  const PLAN_PRO = '{"devices":100,"keys":100,"sends_per_day":null}';
  world = await keepWorld({ env: { API_RATE_PER_MINUTE: "0", PLAN_PRO, SEND_WAIT_MS: "3000" } });
  owner = await addTenant(world, "3160000000", "491510000000");
  stranger = await addTenant(world, "3161111111", "491520000000");
});
afterAll(() => closeWorld(world));

/** Whose things are asked for, and by whom. */
const CALLERS = [
  { who: "another account", key: () => stranger.key, theirs: () => owner.first },
  { who: "a key for another number", key: () => owner.limitedKey, theirs: () => owner.first },
] as const;
type Caller = (typeof CALLERS)[number];

/** Keys belong to the account, whichever numbers a key may use. */
const isAsked = ({ who }: Caller, { path }: Endpoint): boolean =>
  who === "another account" || !path.startsWith("/api-keys/");

/** Those that know only chats in which something was written. */
const OF_KNOWN_CHATS = new Set(["PATCH /chats/{chat}", "POST /chats/{chat}/presence"]);

/** How an endpoint refuses what is not there; undefined where it registers it. */
function refusalAt(endpoint: Endpoint, place: Place, caller: Caller): string | undefined {
  // A chat is nobody's: people are there whether the number has written to them or not.
  if (place.name === "chat" && !OF_KNOWN_CHATS.has(nameOf(endpoint))) return undefined;
  if (place.in === "path") return "NOT_FOUND";
  return registers(endpoint) && caller.who === "another account" ? undefined : "SENDER_NOT_FOUND";
}

/** Registers a number that the account has not got: what it leaves is the account's own from then on. */
const registers = (endpoint: Endpoint): boolean => demandedBy(endpoint).includes("device");

const asked = keyEndpoints
  .filter((endpoint) => placesOf(endpoint).length > 0)
  .toSorted((a, b) => Number(registers(a)) - Number(registers(b)))
  .flatMap((endpoint) =>
    CALLERS.filter((caller) => isAsked(caller, endpoint)).map(
      (caller) => [nameOf(endpoint), caller.who, endpoint, caller] as const,
    ),
  );

function ask({ method, path, body }: Request, key: string): Promise<Answer> {
  return world.gateway.request(method, path, {
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** A right request, but for one place. */
function requestWith(endpoint: Endpoint, own: Belongings, place: Place, value: string): Request {
  const all = placesOf(endpoint);
  const params = Object.fromEntries(
    parametersOf(endpoint).map((name) => [name, all.find((other) => other.name === name)!.of(own)]),
  );
  const fields = rightFields(endpoint);
  for (const other of all)
    if (other.in === "field" && other.name in fields) fields[other.name] = other.of(own);
  if (place.in === "path") params[place.name] = value;
  else fields[place.name] = value;
  return requestOf(endpoint, params, fields);
}

/** Everything of an answer but what no two answers share: its id, its time, and the caller's own words. */
function bytesOf({ status, headers, text }: Answer, value: string): string {
  const shown = [...headers]
    .filter(([name]) => !["date", "x-request-id", "keep-alive", "content-length"].includes(name))
    .map(([name, header]) => `${name}: ${header}`);
  const said = text
    .replaceAll(value, "‹asked›")
    .replace(/"(since|taken_over_until)":"[^"]+"/, '"$1":"‹time›"')
    // A number of one's own may have any digits, and a QR is never the same twice.
    .replace(/"(qr|qrcode)":"[^"]+"/g, '"$1":"‹qr›"')
    .replace(/"expires_in":\d+/, '"expires_in":0')
    // A link is another one each time.
    .replace(/\/console\/link#[\w-]+/, "/console/link#‹secret›")
    .replace(/"data":\{"id":"[\w-]+","device"/, '"data":{"id":"‹id›","device"')
    .replace(/"(created_at|expires_at)":"[^"]+"/g, '"$1":"‹time›"');
  return [status, ...shown.toSorted(), said].join("\n");
}

const written = async (): Promise<number> =>
  (await world.sim.countStanzas({ tag: "message", direction: "in", device: 1 })) +
  (await world.sim.transcript({ direction: "to_contact" })).length;

describe("what belongs to others", () => {
  it.each(CALLERS.map((caller) => [caller.who, caller] as const))(
    "stands in no list that %s asks for",
    async (_, caller) => {
      const { number, ids, lid, group } = caller.theirs();
      const lists = keyEndpoints.filter(
        (endpoint) => endpoint.method === "GET" && parametersOf(endpoint).length === 0 && !isStream(endpoint),
      );
      expect(lists.length).toBeGreaterThan(3);
      for (const endpoint of lists) {
        const { text } = await ask(requestOf(endpoint, {}), caller.key());
        const secrets =
          caller.who === "another account"
            ? Object.values(ids)
            : [ids["messages"]!, ids["scheduled"]!, ids["deliveries"]!, ids["channels"]!];
        const found = [number, lid, group, ...secrets].filter((secret) => text.includes(secret));
        // The account's keys name the numbers that they may use.
        expect([nameOf(endpoint), endpoint.path === "/api-keys" ? [] : found]).toEqual([
          nameOf(endpoint),
          [],
        ]);
      }
    },
  );

  it("is not found by what a request names beside its number", async () => {
    const { key, first: own } = stranger;
    const theirs = owner.first;
    const before = await written();
    const alike = async (fields: (value: string) => object, path: string, value: string, method = "POST") => {
      const answers = [];
      for (const named of [value, unlike(value)]) {
        const request =
          method === "POST" ? { method, path, body: { ...fields(named) } } : { method, path: path + named };
        answers.push(bytesOf(await ask(request, key), named));
      }
      expect(answers[0]).toBe(answers[1]);
    };
    await alike((lid) => ({ sender: own.number, lid }), "/resolve-lid", theirs.lid);
    await alike((number) => ({ sender: own.number, number, message: "hi" }), "/send-message", theirs.group);
    await alike(() => ({}), "/deliveries?device=", theirs.number, "GET");
    await alike(() => ({}), "/deliveries?before=", theirs.ids["deliveries"]!, "GET");
    expect(await written()).toBe(before);
  });

  it.each(asked)(
    "is answered by %s to %s like what does not exist, and nothing is sent",
    async (_, __, endpoint, caller) => {
      const own = caller.who === "another account" ? stranger.first : owner.second;
      const before = await written();
      for (const place of placesOf(endpoint)) {
        const theirs = place.of(caller.theirs());
        const nobodys = unlike(theirs);
        const others = await ask(requestWith(endpoint, own, place, theirs), caller.key());
        const unknown = await ask(requestWith(endpoint, own, place, nobodys), caller.key());
        expect(bytesOf(others, theirs)).toBe(bytesOf(unknown, nobodys));
        expect(others.body["errors"]?.code).toEqual(refusalAt(endpoint, place, caller));
      }
      expect(await written()).toBe(before);
    },
  );
});

describe("a recipient that the key may not write to", () => {
  // What is handed on is looked for first: see e2e/forward.
  const sends = keyEndpoints.filter(
    (endpoint) => demandedBy(endpoint).includes("number") && parametersOf(endpoint).length === 0,
  );

  it.each(sends.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "refuses the whole request at %s before anything is sent",
    async (_, endpoint) => {
      const before = await written();
      const options = { key: stranger.key };
      const limits = { name: "few", permissions: ["*"], recipients: ["4915100000001", "4917*"] };
      const { body } = await world.gateway.post("/api-keys", limits, options);
      for (const number of [
        "4915100000002",
        "4915100000001|4915100000002",
        "49151200",
        "4915100000001@lid",
      ]) {
        const fields = { ...rightFields(endpoint), sender: stranger.first.number, number };
        const answer = await ask(requestOf(endpoint, {}, fields), body["api_key"]);
        expect(answer).toMatchObject({ status: 403, body: { errors: { code: "RECIPIENT_NOT_ALLOWED" } } });
      }
      expect(await written()).toBe(before);
    },
  );
});

describe("a contact who is known by LID and number", () => {
  const limited = async (...recipients: string[]): Promise<string> => {
    const limits = { name: "few", permissions: ["messages", "keys"], recipients };
    const { body } = await world.gateway.post("/api-keys", limits, { key: owner.key });
    return body["api_key"];
  };

  it("is judged by the number, groups and LIDs by patterns of their own kind, and reading like sending", async () => {
    const { number: sender, lid, group, ids } = owner.first;
    const person = "4915100000001";
    const send = async (key: string, number: string) => {
      const message = { sender, number, message: "hello" };
      return (await world.gateway.post("/send-message", message, { key })).status;
    };
    const read = async (key: string) =>
      (await world.gateway.get(`/messages/${ids["messages"]}`, { key })).status;
    const digitsOnly = await limited("1*", "4916*", `${group.slice(0, 6)}*`);
    const lids = await limited("*@lid");
    const numbers = await limited("49151*");
    const groups = await limited(`${group.slice(0, 6)}*@g.us`);

    expect([await send(digitsOnly, lid), await send(digitsOnly, group), await read(digitsOnly)]).toEqual([
      403, 403, 404,
    ]);
    expect([await send(lids, lid), await send(lids, person), await read(lids)]).toEqual([403, 403, 404]);
    expect([await send(groups, lid), await read(groups)]).toEqual([403, 404]);
    expect([await send(numbers, group), await read(numbers)]).toEqual([403, 200]);
    expect([await send(numbers, lid), await send(groups, group)]).toEqual([200, 200]);
  });
});

describe("what is one's own", () => {
  it("stands in the list of what is to be sent later, for each key as far as it goes", async () => {
    const waiting = async (key: string): Promise<string[]> =>
      (await world.gateway.get("/scheduled", { key })).body["data"].map(({ id }: { id: string }) => id);
    const [first, second] = [owner.first.ids["scheduled"]!, owner.second.ids["scheduled"]!];
    expect((await waiting(owner.key)).toSorted()).toEqual([first, second].toSorted());
    expect(await waiting(owner.limitedKey)).toEqual([second]);
    for (const key of [stranger.key, stranger.limitedKey]) {
      const answer = await world.gateway.delete(`/messages/${first}`, { key });
      expect(answer).toMatchObject({ status: 404, body: { errors: { code: "NOT_FOUND" } } });
    }
    expect(await waiting(owner.key)).toContain(first);
  });

  const inOrder = keyEndpoints
    .filter((endpoint) => placesOf(endpoint).length > 0)
    .toSorted((a, b) => order(a) - order(b) || b.path.length - a.path.length);

  it.each(inOrder.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "is found by %s",
    async (_, endpoint) => {
      // All its places at once: what is asked for twice may be gone at the second time.
      const [place] = placesOf(endpoint);
      const request = requestWith(endpoint, owner.first, place!, place!.of(owner.first));
      const answer = await ask(request, owner.key);
      expect(answer.status).not.toBe(404);
      expect(answer.status).toBeLessThan(500);
    },
  );

  it("is still there after everything that others have tried", async () => {
    const own = await world.gateway.get("/devices", { key: stranger.key });
    const numbers = own.body["data"].map(({ device }: { device: string }) => device);
    expect(numbers).toEqual(expect.arrayContaining([stranger.first.number, stranger.second.number]));
  });
});

/** The most destructive at the end: after this the numbers are gone. */
function order({ method, path }: Endpoint): number {
  if (method === "DELETE") return path === "/devices/{number}" ? 3 : 1;
  if (path.endsWith("/leave")) return 1;
  return path.endsWith("/logout") ? 2 : 0;
}
