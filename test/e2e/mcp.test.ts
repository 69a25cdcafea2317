import { mannerFields } from "../../src/model/content/manner.ts";
import { expect, it } from "vitest";
import { connectMcp } from "../_setup/mcp.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const NOBODY = "4915199999999";
const ALL = [
  "list_numbers",
  "list_chats",
  "read_chat",
  "send_text",
  "send_media",
  "send_poll",
  "react",
  "check_numbers",
  "take_over",
  "hand_back",
  "why",
];
/** By the permission that a key has. */
const TOOLS_OF: Record<string, string[]> = {
  messages: ["list_chats", "read_chat", "send_text", "react", "why"],
  media: ["send_media"],
  polls: ["send_poll"],
  lid: ["check_numbers"],
  bots: ["take_over", "hand_back"],
  devices: ["list_numbers", "why"],
  webhooks: [],
};

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

const keyWith = async ({ gateway, key }: World, limits: object): Promise<string> =>
  (await gateway.post("/api-keys", { name: "model", permissions: ["*"], ...limits }, { key })).body.api_key;

it("shows each key the tools that it has a right to, and lets it call no other", async () => {
  const world = await openShop();
  const all = await connectMcp(world);
  expect(await all.tools()).toEqual(ALL);
  for (const [permission, tools] of Object.entries(TOOLS_OF)) {
    const few = await connectMcp({ ...world, key: await keyWith(world, { permissions: [permission] }) });
    expect([permission, await few.tools()]).toEqual([permission, tools]);
    for (const name of ALL.filter((other) => !tools.includes(other))) {
      const refused = await few.call(name, { sender: SHOP, number: ANA, message: "no", id: "x", chat: ANA });
      expect([name, refused]).toMatchObject([
        name,
        { isError: true, body: { status: false, errors: { code: "PERMISSION_DENIED" } } },
      ]);
    }
  }
  expect(await world.sim.transcript({ direction: "to_contact" })).toEqual([]);
  expect((await all.call("send_everything")).body.errors.code).toBe("NOT_FOUND");
});

it("describes each tool by its endpoint's fields, and says which of them write", async () => {
  const { client } = await connectMcp(await openShop());
  const { tools } = await client.listTools();
  const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  const fields = (name: string) => Object.keys(named[name]!.inputSchema.properties!);
  expect(fields("send_text")).toEqual([
    "sender",
    "number",
    "quote",
    "msgid",
    ...Object.keys(mannerFields),
    "message",
    "idempotency_key",
  ]);
  expect(named["send_text"]!.inputSchema.required).toEqual(["sender", "number", "message"]);
  expect(named["read_chat"]!.inputSchema.required).toEqual(["chat"]);
  expect(named["react"]!.inputSchema.required).toEqual(["id", "emoji"]);
  expect(fields("take_over")).toEqual(["chat", "sender", "minutes"]);
  for (const { description, inputSchema, annotations } of tools) {
    expect(description).toMatch(/.{40,}\.$/s);
    expect(JSON.stringify(inputSchema)).not.toContain("$ref");
    expect(Object.values(annotations!).map((hint) => typeof hint)).toEqual(Array(4).fill("boolean"));
  }
  const writing = tools.filter(({ annotations }) => annotations!.readOnlyHint === false);
  expect(writing.map(({ name }) => name)).toEqual([
    "send_text",
    "send_media",
    "send_poll",
    "react",
    "take_over",
    "hand_back",
  ]);
  expect(named["send_text"]!.annotations).toMatchObject({ destructiveHint: true, idempotentHint: false });
});

it("sends, reacts and reads on the wire", async () => {
  const world = await openShop();
  const { sim } = world;
  const { call } = await connectMcp(world);
  expect((await call("list_numbers")).body.data).toMatchObject([{ device: SHOP, state: "connected" }]);

  const text = await call("send_text", { sender: SHOP, number: `${ANA}|${BEN}`, message: "We are open." });
  expect(text).toMatchObject({ isError: false, body: { status: true } });
  for (const { number, id } of text.body.results)
    expect(await sim.waitForMessage(number, { id })).toMatchObject({ kind: "text", text: "We are open." });

  const poll = { sender: SHOP, number: ANA, name: "When?", option: ["Today", "Tomorrow"] };
  const asked = await call("send_poll", poll);
  expect(await sim.waitForMessage(ANA, { id: asked.body.id })).toMatchObject({
    kind: "poll",
    poll: { name: "When?" },
  });

  const data = Buffer.from("name,price\ncoffee,3\n").toString("base64");
  const file = { sender: SHOP, number: ANA, media_type: "document", filename: "prices.csv", data };
  const sent = await call("send_media", file);
  expect(await sim.waitForMessage(ANA, { id: sent.body.id })).toMatchObject({ kind: "document" });

  const question = await sim.sendText(ANA, SHOP, "Until when?");
  await until(async () => (await call("why", { id: question.id })).body.status);
  const reacted = await call("react", { id: question.id, emoji: "👍" });
  expect(reacted.body).toMatchObject({ state: "sent", data: { id: question.id, origin: "contact" } });
  expect(await sim.waitForMessage(ANA, { id: reacted.body.id })).toMatchObject({
    kind: "reaction",
    text: "👍",
    target: question.id,
  });

  const { body } = await call("read_chat", { sender: SHOP, chat: ANA, direction: "in" });
  expect(body.data).toMatchObject([
    { id: question.id, direction: "in", untrusted: true, from_contact: { message: "Until when?" } },
  ]);
  const chats = await call("list_chats", { sender: SHOP });
  expect(chats.body.data.map(({ chat }: { chat: string }) => chat).toSorted()).toEqual([ANA, BEN]);
  const own = await call("read_chat", { chat: BEN });
  expect(own.body.data).toMatchObject([{ direction: "out", message: "We are open." }]);
  expect(own.body.data[0]).not.toHaveProperty("untrusted");
});

it("checks numbers, takes chats over, and explains", async () => {
  const world = await openShop();
  const { gateway, key } = world;
  const { call } = await connectMcp(world);
  const checked = await call("check_numbers", { sender: SHOP, numbers: [ANA, NOBODY] });
  expect(checked.body.data).toMatchObject([
    { number: ANA, exists: true },
    { number: NOBODY, exists: false },
  ]);

  const asked = await world.sim.sendText(ANA, SHOP, "Hello");
  await until(async () => (await gateway.get(`/messages/${asked.id}`, { key })).status === 200);
  const taken = await call("take_over", { sender: SHOP, chat: ANA, minutes: 5 });
  const listed = async () => (await gateway.get("/chats", { key })).body.data[0].taken_over_until;
  expect(await listed()).toBe(taken.body.data.taken_over_until);
  expect((await call("hand_back", { sender: SHOP, chat: ANA })).body.data.taken_over_until).toBeNull();
  expect(await listed()).toBeNull();
  // What changes something stands in the log, as by its endpoint.
  const log = await gateway.get("/log", { key });
  expect(log.body.data.slice(0, 2)).toMatchObject([
    { what: "handChatBack", target: ANA },
    { what: "takeChatOver", target: ANA, changes: { sender: SHOP, minutes: 5 } },
  ]);

  expect((await call("why", { id: asked.id })).body.data).toMatchObject({ id: asked.id, outcome: "silent" });
  for (const number of [{ number: SHOP }, { sender: SHOP }])
    expect((await call("why", number)).body.data).toMatchObject({ state: "connected" });
});

it("says each error by the code of its endpoint, in a result", async () => {
  const world = await openShop();
  const { gateway, key } = world;
  const text = { sender: SHOP, number: ANA, message: "no" };
  const { call } = await connectMcp(world);
  const cases: [string, Record<string, unknown>, object][] = [
    ["send_text", { ...text, sender: NOBODY }, { code: "SENDER_NOT_FOUND" }],
    [
      "send_text",
      { ...text, number: "nobody" },
      { code: "INVALID_PARAMETERS", fields: { number: [expect.anything()] } },
    ],
    ["send_text", { ...text, number: NOBODY }, { code: "NOT_ON_WHATSAPP" }],
    ["send_text", {}, { code: "INVALID_PARAMETERS", fields: { message: ["Is required."] } }],
    ["send_text", { ...text, idempotency_key: "" }, { code: "INVALID_PARAMETERS" }],
    [
      "send_media",
      { ...text, media_type: "image" },
      { code: "INVALID_PARAMETERS", fields: { url: [expect.anything()] } },
    ],
    ["send_poll", { ...text, name: "?", option: ["one"] }, { code: "INVALID_PARAMETERS" }],
    ["read_chat", { sender: SHOP }, { code: "INVALID_PARAMETERS", fields: { chat: ["Is required."] } }],
    ["react", { emoji: "👍" }, { code: "INVALID_PARAMETERS", fields: { id: ["Is required."] } }],
    [
      "react",
      { id: { a: 1 }, emoji: "ok" },
      { code: "INVALID_PARAMETERS", fields: { id: ["Must be text."] } },
    ],
    ["react", { id: "3A00000000000000", emoji: "👍" }, { code: "NOT_FOUND" }],
    ["take_over", { sender: SHOP, chat: "../../admin" }, { code: "NOT_FOUND" }],
    ["why", {}, { code: "INVALID_PARAMETERS", fields: { number: ["Is required."] } }],
    ["why", { number: NOBODY }, { code: "NOT_FOUND" }],
  ];
  for (const [name, given, errors] of cases) {
    const answer = await call(name, given);
    expect([name, given, answer]).toMatchObject([
      name,
      given,
      { isError: true, body: { status: false, errors } },
    ]);
    expect(JSON.parse(answer.text)).toEqual(answer.body);
  }

  const narrow = await connectMcp({ ...world, key: await keyWith(world, { recipients: [BEN] }) });
  expect((await narrow.call("send_text", text)).body.errors.code).toBe("RECIPIENT_NOT_ALLOWED");
  await gateway.post(`/devices/${SHOP}/logout`, {}, { key });
  expect((await call("send_text", text)).body.errors).toMatchObject({
    code: "SENDER_NOT_CONNECTED",
    message: expect.stringContaining("not linked"),
  });
  expect(await world.sim.transcript({ direction: "to_contact" })).toEqual([]);
});

it("offers the documentation to read, and nothing beside it", async () => {
  const world = await openShop();
  const { client } = await connectMcp(world);
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  expect(uris).toEqual(expect.arrayContaining(["parley://docs/bots.md", "parley://openapi.json"]));
  expect(uris.filter((uri) => /decisions|passkey|architecture/.test(uri))).toEqual([]);
  const read = async (uri: string) => (await client.readResource({ uri })).contents[0]!;
  const textOf = async (uri: string) => ((await read(uri)) as { text: string }).text;
  expect(await read("parley://docs/webhooks.md")).toMatchObject({
    mimeType: "text/markdown",
    text: expect.stringMatching(/^# \w+/),
  });
  expect(JSON.parse(await textOf("parley://openapi.json"))).toEqual(
    (await world.gateway.get("/openapi.json")).body,
  );
  for (const uri of ["parley://docs/../package.json", "parley://docs//etc/passwd", "file:///etc/passwd"])
    await expect(read(uri)).rejects.toThrow("There is no such resource");
});
