import { describe, expect, it } from "vitest";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";

describe("MPWA_COMPAT", () => {
  it("answers every failure with 400, and keeps its code", async () => {
    const { gateway, key } = await openWorld({ env: { MPWA_COMPAT: "1", API_RATE_PER_MINUTE: "6" } });
    const send = { sender: SHOP, number: "4915100000001", message: "hi" };
    const answers = [
      await gateway.post("/send-message", send),
      await gateway.post("/send-message", send, { key }),
      await gateway.post("/send-message", {}, { key }),
      await gateway.post("/send-message", "{", { key }),
      await gateway.get("/nowhere"),
      await gateway.get("/groups"),
      await gateway.get("/admin/accounts", { key: "wrong" }),
      await gateway.post("/send-message", "x".repeat(1_048_577), { key }),
    ];
    let limited = answers[0]!;
    for (let request = 0; request < 7; request++) limited = await gateway.get("/account", { key });

    expect([...answers, limited].map(({ status, body }) => [status, body.errors.code])).toEqual([
      [400, "INVALID_API_KEY"],
      [400, "SENDER_NOT_FOUND"],
      [400, "INVALID_PARAMETERS"],
      [400, "INVALID_JSON"],
      [400, "NOT_FOUND"],
      [400, "METHOD_NOT_ALLOWED"],
      [400, "INVALID_ADMIN_TOKEN"],
      [400, "BODY_TOO_LARGE"],
      [400, "RATE_LIMITED"],
    ]);
    expect(answers[5]!.headers.get("allow")).toBe("POST, OPTIONS");
    expect(limited.headers.has("retry-after")).toBe(true);
    expect((await gateway.get("/health/live")).status).toBe(200);
  });

  it("speaks of linking as the old gateway did", async () => {
    const { gateway, key, sim } = await openWorld({ env: { MPWA_COMPAT: "1" } });
    const owner = await sim.addNumber(SHOP);
    const told: Record<string, any>[] = [];
    const ask = async () => {
      const { status, body } = await gateway.post("/generate-qr", { device: SHOP }, { key });
      expect(status).toBe(200);
      if (told.at(-1)?.["message"] !== body["message"]) told.push(body);
      return body;
    };
    let scanned = "";
    await until(async () => {
      const body = await ask();
      if (body["qr"] && body["qr"] !== scanned) await owner.scan((scanned = body["qr"]));
      return body["message"] === "Device already connected!";
    });

    const statuses = told.map(({ message, status }) => [message, status]);
    expect(statuses).toEqual(
      told.map(({ message }) => [message, message === "Processing" ? "processing" : false]),
    );
    const code = told.find((body) => "qrcode" in body)!;
    expect(code).toMatchObject({ status: false, message: "Please scann qrcode", msg: "Please scann qrcode" });
    expect(code["qrcode"]).toMatch(/^data:image\/png;base64,/);
    expect(told.at(-1)).toMatchObject({ status: false, message: "Device already connected!" });
  });
});
