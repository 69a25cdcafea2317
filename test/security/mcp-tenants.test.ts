import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOOLS } from "../../src/mcp/tools.ts";
import type { Tool } from "../../src/mcp/tool.ts";
import { postMcp } from "../_setup/mcp.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";
import { RIGHT } from "./requests.ts";
import { addTenant, unlike, type Belongings, type Tenant } from "./tenants.ts";

/** Every tool × {another account's, another number's, nobody's}: by a tool nobody learns or does what he may not over REST. */

let world: World;
let owner: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  world = await keepWorld({ env: { API_RATE_PER_MINUTE: "0", SEND_WAIT_MS: "3000" } });
  owner = await addTenant(world, "3160000000", "491510000000");
  stranger = await addTenant(world, "3161111111", "491520000000");
});
afterAll(() => closeWorld(world));

const CALLERS = [
  { who: "another account", key: () => stranger.key, own: () => stranger.first },
  { who: "a key for another number", key: () => owner.limitedKey, own: () => owner.second },
];

const fieldsOf = ({ inputSchema }: Tool): string[] => Object.keys(inputSchema["properties"] as object);
const demandedBy = ({ inputSchema }: Tool): string[] =>
  (inputSchema["required"] as string[] | undefined) ?? [];

interface Place {
  field: string;
  code: "SENDER_NOT_FOUND" | "NOT_FOUND";
  of(belongings: Belongings): string;
}

/** Where a tool names what belongs to an account. A chat is nobody's. */
function placesOf(tool: Tool): Place[] {
  const message: Place = { field: "id", code: "NOT_FOUND", of: ({ ids }) => ids["messages"]! };
  const number: Place = { field: "number", code: "NOT_FOUND", of: ({ number }) => number };
  const sender: Place = { field: "sender", code: "SENDER_NOT_FOUND", of: ({ number }) => number };
  if (tool.name === "why") return [message, number];
  return [message, sender].filter(({ field }) => fieldsOf(tool).includes(field));
}

async function call(tool: Tool, key: string, given: object): Promise<{ text: string; body: any }> {
  const params = { name: tool.name, arguments: given };
  const { body } = await postMcp({ ...world, key }, { id: 1, method: "tools/call", params });
  return { text: body.result.content[0].text, body: body.result.structuredContent };
}

/** A right call, but for one place. */
function givenWith(tool: Tool, own: Belongings, { field }: Place, value: string): Record<string, unknown> {
  const right = Object.fromEntries(demandedBy(tool).map((name) => [name, RIGHT[name]]));
  const media = tool.name === "send_media" ? { url: RIGHT["url"] } : {};
  const sender = demandedBy(tool).includes("sender") ? { sender: own.number } : {};
  return { ...right, ...media, ...sender, [field]: value };
}

const written = async (): Promise<number> => (await world.sim.transcript({ direction: "to_contact" })).length;
const rows = TOOLS.flatMap((tool) => CALLERS.map((caller) => [tool.name, caller.who, tool, caller] as const));

describe("what belongs to others", () => {
  it.each(rows.filter(([, , tool]) => placesOf(tool).length > 0))(
    "is answered by %s to %s like what does not exist, and nothing is sent",
    async (_, __, tool, { key, own }) => {
      const before = await written();
      for (const place of placesOf(tool)) {
        const theirs = place.of(owner.first);
        const nobodys = unlike(theirs);
        const others = await call(tool, key(), givenWith(tool, own(), place, theirs));
        const unknown = await call(tool, key(), givenWith(tool, own(), place, nobodys));
        expect(others.text.replaceAll(theirs, "‹asked›")).toBe(unknown.text.replaceAll(nobodys, "‹asked›"));
        expect([place.field, others.body.errors]).toMatchObject([place.field, { code: place.code }]);
      }
      expect(await written()).toBe(before);
    },
  );

  it.each(rows.filter(([name]) => /^(?:list_|read_)/.test(name)))(
    "stands in nothing that %s tells %s",
    async (_, __, tool, { key }) => {
      const { number, ids, lid, group } = owner.first;
      const { text, body } = await call(tool, key(), { chat: ids["chats"] });
      expect(body.status).toBe(true);
      const asked = text.replaceAll(ids["chats"]!, "");
      expect([number, ids["messages"]!, lid, group].filter((secret) => asked.includes(secret))).toEqual([]);
    },
  );
});

describe("a recipient that the key may not write to", () => {
  it.each(
    TOOLS.filter((tool) => demandedBy(tool).includes("number")).map((tool) => [tool.name, tool] as const),
  )("is refused by %s before anything is sent", async (_, tool) => {
    const before = await written();
    const limits = { name: "few", permissions: ["*"], recipients: ["4915200000009"] };
    const { body } = await world.gateway.post("/api-keys", limits, stranger);
    const place = { field: "number", code: "NOT_FOUND", of: () => "" } as const;
    const given = givenWith(tool, stranger.first, place, `4915200000009|${stranger.first.ids["chats"]}`);
    const refused = await call(tool, body.api_key, given);
    expect(refused.body.errors.code).toBe("RECIPIENT_NOT_ALLOWED");
    expect(await written()).toBe(before);
  });

  it("is not read, reacted to, or taken over either", async () => {
    const limits = { name: "few", permissions: ["*"], recipients: ["4915200000009"] };
    const { body } = await world.gateway.post("/api-keys", limits, owner);
    const { ids, number: sender } = owner.first;
    const named = (name: string): Tool => TOOLS.find((tool) => tool.name === name)!;
    const ask = (name: string, given: object) => call(named(name), body.api_key, given);
    expect((await ask("read_chat", { sender, chat: ids["chats"] })).body.data).toEqual([]);
    expect((await ask("list_chats", { sender })).body.data).toEqual([]);
    for (const [name, given, code] of [
      ["react", { id: ids["messages"], emoji: "👍" }, "NOT_FOUND"],
      ["why", { id: ids["messages"] }, "NOT_FOUND"],
      ["take_over", { sender, chat: ids["chats"] }, "RECIPIENT_NOT_ALLOWED"],
      ["hand_back", { sender, chat: ids["chats"] }, "RECIPIENT_NOT_ALLOWED"],
    ] as const)
      expect([name, (await ask(name, given)).body.errors.code]).toEqual([name, code]);
  });
});
