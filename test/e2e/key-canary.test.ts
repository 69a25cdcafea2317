import { connect } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

/** Every file that the gateway keeps, as it lies on the disk. */
function bytesIn(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
}

/** As a client that breaks the rules of HTTP. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(text));
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

describe("a key in the address of a GET send", () => {
  it("stands in no log, metric, answer, delivery, event or file, whatever became of the request", async () => {
    const world = await openWorld({ env: { LOG_LEVEL: "trace", SEND_WAIT_MS: "300" } });
    const { gateway, sim, key } = world;
    const receiver = await startReceiver("");
    await world.link(SHOP);
    await sim.addContact(ANA);
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    const made = await gateway.post("/api-keys", { name: "canary", permissions: ["*"] }, { key });
    const canary: string = made.body.api_key;
    const answers: string[] = [];
    const get = async (path: string, fields: Record<string, string>) => {
      const query = new URLSearchParams({ api_key: canary, sender: SHOP, number: ANA, ...fields });
      answers.push(JSON.stringify(await gateway.get(`${path}?${query}`)));
    };

    await get("/send-message", { message: "it works" });
    await get("/v1/send-message/", { message: "again", idempotency_key: "k" });
    await get("/v1/send-message/", { message: "again", idempotency_key: "k" });
    await get("/send-message", { message: "to nobody", number: "4915100000099" });
    await get("/send-message", { message: "" });
    await get("/send-message", { message: "x", sender: "1" });
    await get("/send-message", { message: "x", sender: "31600000009" });
    await get("/send-poll", { name: "Which?", option: "a,b" });
    await get("/send-media", { media_type: "image", url: "http://127.0.0.1:9/none.jpg" });
    await get("/groups", {});
    await get("/nowhere", {});
    await get("/metrics", {});
    await get("/events", {});
    await get(`/messages/${canary}`, {});
    answers.push(
      await sendRaw(gateway.port, `GET /send-message?api_key=${canary}&message=a b HTTP/9\r\n\r\n`),
    );
    answers.push(
      await sendRaw(gateway.port, `GET /send-message?api_key=${canary} HTTP/1.1\r\nBad Header\r\n\r\n`),
    );
    // A caller who goes away while the send is waiting.
    const leaving = new AbortController();
    const left = fetch(
      `${gateway.url}/send-message?${new URLSearchParams({ api_key: canary, sender: SHOP, number: ANA, message: "gone" })}`,
      { signal: leaving.signal },
    ).catch(() => null);
    leaving.abort();
    await left;
    await sim.sendText(ANA, SHOP, "hello");
    await until(() => receiver.events.length > 0);
    answers.push((await gateway.get("/metrics", { key: gateway.adminToken })).text);
    answers.push(
      (await gateway.get("/deliveries", { key })).text,
      (await gateway.get("/api-keys", { key })).text,
    );
    await gateway.stop();

    const secret = canary.slice("parley_".length);
    expect(gateway.output()).toContain("listening");
    expect(gateway.output()).not.toContain(secret);
    expect(answers.join("\n")).not.toContain(secret);
    expect(JSON.stringify(receiver.events)).not.toContain(secret);
    expect(bytesIn(gateway.dataDir).includes(secret)).toBe(false);
    for (const person of [ANA]) expect(JSON.stringify(await sim.messages(person))).not.toContain(secret);
  });
});
