import { describe, expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";
import { asNodes } from "../_setup/node-services.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function linkedWorld(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: true, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA);
  await world.sim.addContact(BEN);
  return world;
}

const text = (message: string, number = ANA) => ({ sender: SHOP, number, message });
const under = (world: World, name: string) => ({ key: world.key, headers: { "idempotency-key": name } });

describe("a send with an idempotency key", () => {
  it("sent 200 times at once is one message", async () => {
    const world = await linkedWorld({ API_RATE_PER_MINUTE: "0" });

    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        world.gateway.post("/send-message", text("once"), under(world, "k1")),
      ),
    );

    const first = answers.filter(
      ({ status, headers }) => status === 200 && !headers.has("idempotency-replayed"),
    );
    expect(first).toHaveLength(1);
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(accepted.map((answer) => answer.text))).toEqual(new Set([first[0]!.text]));
    for (const { status, body } of refused)
      expect([status, body.errors.code]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
    const later = await world.gateway.post("/send-message", text("once"), under(world, "k1"));
    expect(later.text).toBe(first[0]!.text);
    expect(later.headers.get("idempotency-replayed")).toBe("true");
    await world.gateway.post("/send-message", text("twice"), { key: world.key });
    await until(async () => (await world.sim.messages(ANA)).some((message) => message.text === "twice"));
    expect((await world.sim.messages(ANA)).map((message) => message.text)).toEqual(["once", "twice"]);
  });

  it("whose first request is still running is told when to ask again, whatever it is sent by; then it has the first answer", async () => {
    const world = await linkedWorld();
    const { gateway, sim, key } = world;
    await sim.faults.holdAcks({ number: SHOP });
    // A receipt of the contact says as much as an ack does.
    await sim.faults.holdDeliveries({ number: SHOP });
    const first = gateway.post("/send-message", text("once"), under(world, "slow"));
    await sim.waitForMessage(ANA, { text: "once" });
    const field = { ...text("once"), idempotency_key: "slow" };
    const query = new URLSearchParams({ api_key: key, ...field });
    const early = [
      await gateway.post("/send-message", text("once"), under(world, "slow")),
      await gateway.post("/send-message", field, { key }),
      await gateway.get(`/send-message?${query}`),
      await gateway.get(`/v1/send-message?${query}`),
    ];
    for (const { status, headers, body } of early) {
      expect([status, body["errors"].code]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
      expect(headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
      expect(headers.has("idempotency-replayed")).toBe(false);
    }
    await sim.faults.clear();
    const { text: answer } = await first;
    const again = await gateway.post("/send-message", field, { key });
    expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([
      200,
      answer,
      "true",
    ]);
  });

  it("is compared by its body without api_key and the key itself, in header or field, by POST or GET", async () => {
    const world = await linkedWorld();
    const first = await world.gateway.post("/send-message", { ...text("hello"), idempotency_key: 7 }, world);
    const { message, number, sender } = text("hello");
    const same = { message, number, sender, api_key: world.key };

    const byHeader = await world.gateway.post("/send-message", same, under(world, "7"));
    const byGet = await world.gateway.get(
      `/v1/send-message?${new URLSearchParams({ ...same, idempotency_key: "7" })}`,
    );
    const other = await world.gateway.post("/send-message", text("hello!"), under(world, "7"));
    const otherRoute = await world.gateway.post("/groups", { sender: SHOP }, under(world, "7"));

    expect(first.headers.has("idempotency-replayed")).toBe(false);
    for (const answer of [byHeader, byGet]) {
      expect(answer.text).toBe(first.text);
      expect(answer.headers.get("idempotency-replayed")).toBe("true");
    }
    expect(other).toMatchObject({ status: 422, body: { errors: { code: "IDEMPOTENCY_KEY_REUSED" } } });
    expect(otherRoute.status).toBe(200);
    expect(await world.sim.messages(ANA)).toHaveLength(1);
  });

  it("belongs to one API key: another key's request is another request", async () => {
    const world = await linkedWorld();
    const made = await world.gateway.post("/api-keys", { name: "B", permissions: ["messages"] }, world);

    const first = await world.gateway.post("/send-message", text("hello"), under(world, "k"));
    const second = await world.gateway.post("/send-message", text("hello"), {
      key: made.body.api_key,
      headers: { "idempotency-key": "k" },
    });

    expect(second.status).toBe(200);
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.headers.has("idempotency-replayed")).toBe(false);
  });

  it("does not remember what was refused before anything was stored", async () => {
    const world = await linkedWorld();
    const wrong = { ...text("hello"), sender: "31600000009" };

    const unknown = await world.gateway.post("/send-message", wrong, under(world, "k"));
    const invalid = await world.gateway.post("/send-message", { sender: SHOP }, under(world, "k"));
    const right = await world.gateway.post("/send-message", text("hello"), under(world, "k"));

    expect([unknown.status, invalid.status, right.status]).toEqual([404, 400, 200]);
    expect(right.headers.has("idempotency-replayed")).toBe(false);
  });

  it("remembers a failure after messages were stored, word for word", async () => {
    const world = await linkedWorld();
    const nobody = text("hello", "4915100000099");

    const first = await world.gateway.post("/send-message", nobody, under(world, "k"));
    const again = await world.gateway.post("/send-message", nobody, under(world, "k"));

    expect(first.status).toBeGreaterThanOrEqual(400);
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  it("keeps its ids over kill -9 between the commit and the answer, and sends nothing new", async () => {
    const world = await linkedWorld();
    const before = await world.gateway.post("/send-message", text("answered"), under(world, "a"));
    await world.gateway.restart({ CRASH_AT: "before-ack" });
    await until(
      async () => (await world.gateway.get(`/devices/${SHOP}`, world)).body.data.state === "connected",
    );
    const both = text("crash", `${ANA}|${BEN}`);

    const cut = await world.gateway.post("/send-message", both, under(world, "b")).catch(() => "cut off");
    expect(cut).toBe("cut off");
    expect((await world.gateway.exited()).signal).toBe("SIGKILL");
    await world.gateway.restart({ CRASH_AT: "" });
    // A node that died is taken for one that is at work until its lease is over.
    if (asNodes)
      await until(
        async () => (await world.gateway.post("/send-message", both, under(world, "b"))).status !== 409,
      );

    const retried = await world.gateway.post("/send-message", both, under(world, "b"));
    const answered = await world.gateway.post("/send-message", text("answered"), under(world, "a"));
    expect(retried.headers.get("idempotency-replayed")).toBe("true");
    expect(retried.body.results.map(({ number }: { number: string }) => number)).toEqual([ANA, BEN]);
    expect(answered.text).toBe(before.text);
    for (const [index, person] of [ANA, BEN].entries()) {
      const { id } = retried.body.results[index];
      const arrived = await world.sim.waitForMessage(person, { from: SHOP, text: "crash" });
      expect(arrived.id).toBe(id);
      await until(
        async () => (await world.gateway.get(`/messages/${id}`, world)).body.data.state !== "queued",
      );
    }
    const again = await world.gateway.post("/send-message", both, under(world, "b"));
    expect(again.text).toBe(retried.text);
    for (const person of [ANA, BEN])
      expect((await world.sim.messages(person)).filter((message) => message.text === "crash")).toHaveLength(
        1,
      );
  });

  it.each([
    ["an empty one", "", undefined],
    ["a list", undefined, ["a"]],
    ["256 characters", "x".repeat(256), undefined],
    ["two different ones", "a", "b"],
  ])("is refused when it is %s", async (_, header, field) => {
    const world = await openWorld({ again: true });
    const answer = await world.gateway.post(
      "/send-message",
      { ...text("hello"), ...(field === undefined ? {} : { idempotency_key: field }) },
      { key: world.key, headers: header === undefined ? {} : { "idempotency-key": header } },
    );
    expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_PARAMETERS" } } });
    expect(answer.body.errors.fields).toHaveProperty("idempotency_key");
  });
});
