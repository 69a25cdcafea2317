import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

/** Samples by their name with labels, without that of the node where the gateway is one. */
function samples(text: string): Map<string, number> {
  const lines = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replace(/,?node="[^"]*"/, "").replace("{}", ""));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

describe("GET /metrics", () => {
  it("counts what happened, under names that begin with parley_, and names nobody", async () => {
    const world = await openWorld();
    const { gateway, sim, key } = world;
    const receiver = await startReceiver({ message: "Until six." });
    await world.link(SHOP);
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    await sim.addContact(ANA, { name: "Ana" });
    await sim.sendText(ANA, SHOP, "Open?");
    await sim.waitForMessage(ANA, { from: SHOP });
    await gateway.get("/account", { key: "wrong" });
    const read = async () => samples((await gateway.get("/metrics", { key: gateway.adminToken })).text);
    // That a reply was acknowledged is stored a tenth of a second later.
    await until(async () => {
      const counted = await read();
      const sent = counted.get('parley_messages_sent_total{kind="text",result="sent"}') === 1;
      return sent && counted.get("parley_outbox_pending") === 0;
    });

    const answer = await gateway.get("/metrics", { key: gateway.adminToken });
    const found = samples(answer.text);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(found.get('parley_messages_received_total{type="text"}')).toBe(1);
    expect(found.get("parley_send_duration_seconds_count")).toBe(1);
    expect(found.get('parley_webhook_attempts_total{result="accepted",code_class="2xx"}')).toBe(1);
    expect(found.get("parley_webhook_duration_seconds_count")).toBe(1);
    expect(found.get('parley_sessions{state="connected"}')).toBe(1);
    expect(found.get('parley_auth_failures_total{reason="invalid_api_key"}')).toBe(1);
    expect(found.get("parley_db_commit_seconds_count")).toBeGreaterThan(3);
    for (const name of [
      "inbox_pending",
      "outbox_pending",
      "inbox_oldest_age_seconds",
      "outbox_oldest_age_seconds",
    ])
      expect(found.get(`parley_${name}`)).toBe(0);
    // The first message of a contact opens a session: Baileys' affair. Its reply and the receipts for that are ours.
    // What the owner's phone says to its new device is no message of anybody.
    const ways = [...found].filter(
      ([name]) => name.startsWith("parley_everyday_total") && !name.includes('reason="peer"'),
    );
    expect(new Map(ways).get('parley_everyday_total{direction="in",reason="ciphertext"}')).toBe(1);
    const counted = (direction: string): number =>
      ways.reduce((sum, [name, count]) => (name.includes(`direction="${direction}"`) ? sum + count : sum), 0);
    expect(counted("in")).toBe(1);
    expect(counted("out")).toBe(1);
    expect(counted("receipt")).toBeGreaterThan(0);
    expect(found.has("parley_process_cpu_seconds_total")).toBe(true);
    for (const name of found.keys()) expect(name).toMatch(/^parley_/);
    for (const secret of [SHOP, ANA, world.account, key, "127.0.0.1"])
      expect(answer.text).not.toContain(secret);
  });

  it("is the operator's: a customer's key does not open it", async () => {
    const { gateway, key } = await openWorld();
    expect(await gateway.get("/metrics", { key })).toMatchObject({
      status: 401,
      body: { errors: { code: "INVALID_ADMIN_TOKEN" } },
    });
  });
});
