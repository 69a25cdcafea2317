import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const folder = mkdtempSync(join(tmpdir(), "parley-traces-"));
const file = join(folder, "spans");
afterAll(() => removeFolder(folder));

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parent: string | null;
  attributes: Record<string, unknown>;
  links: string[];
}

const spans = (): Span[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Span);

it("without an SDK nothing is posted of a trace, and a caller's is not handed on", async () => {
  const receiver = await startReceiver();
  const { gateway, sim, key, link } = await openWorld();
  await link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  const events = ["message", "status"];
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, mode: "always", events }, { key });
  const body = { sender: SHOP, number: ANA, message: "Until six." };
  const headers = {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "a=b",
  };
  const sent = await gateway.post("/send-message", body, { key, headers });
  expect(sent.status).toBe(200);

  await sim.sendText(ANA, SHOP, "Open?");

  const posted = (text: string): boolean => receiver.events.some((event) => event.text.includes(text));
  await until(() => posted("Open?") && posted(String(sent.body["id"])));
  const told = receiver.events.flatMap(({ headers }) => Object.keys(headers));
  expect(told.filter((name) => name.startsWith("trace"))).toEqual([]);
});

it("one trace leads from a message to its receiver, and from a caller's trace to the request", async () => {
  const sdk = fileURLToPath(new URL("../_setup/trace-sdk.mjs", import.meta.url));
  const world = await openWorld({ env: { NODE_OPTIONS: `--import ${sdk}`, TRACES: file } });
  const answering = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const receiver = await startReceiver((_, response) => {
    response.setHeader("traceparent", answering);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ message: "Until six." }));
  });
  const { gateway, sim, key } = world;
  await world.link(SHOP);
  await world.bindBots(SHOP, "ping");
  await sim.addContact(ANA, { name: "Ana" });
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });

  const { id } = await sim.sendText(ANA, SHOP, "Open on the day of the strawberries?");
  await sim.waitForMessage(ANA, { from: SHOP });
  const header = String(receiver.events[0]!.headers["traceparent"]);
  const [, traceId, posted] = header.split("-");
  await until(() => spans().some((span) => span.name === "decide message" && span.traceId === traceId));

  const found = spans().filter((span) => span.traceId === traceId);
  const named = (name: string): Span => found.find((span) => span.name === name)!;
  expect(named("POST webhook")).toMatchObject({
    spanId: posted,
    links: [answering.split("-")[2]],
    attributes: { "http.response.status_code": 200, "parley.delivery.result": "accepted" },
  });
  const asked = found.find(({ spanId }) => spanId === named("POST webhook").parent)!;
  expect(asked).toMatchObject({ name: "ask webhook", parent: named("decide message").spanId });
  expect(named("decide message")).toMatchObject({
    parent: named("receive message").spanId,
    attributes: { "parley.message.id": id, "parley.message.type": "text" },
  });
  expect(named("receive message").parent).toBeNull();

  await gateway.get("/account", { key, headers: { traceparent: answering } });
  await until(() =>
    spans().some(({ name, parent }) => name === "GET /account" && parent === "b7ad6b7169203331"),
  );
  const told = readFileSync(file, "utf8");
  for (const secret of [SHOP, ANA, "strawberries", "six", world.account, key, receiver.url])
    expect(told).not.toContain(secret);
});
