import { describe, expect, it } from "vitest";
import { reply, verifyWebhook, type WebhookEvent, type WebhookReply } from "../../../src/client/index.ts";
import { parseReply } from "../../../src/webhooks/replies/reply.ts";
import { createSecret, signedHeaders } from "../../../src/webhooks/events/sign.ts";

const AT = Date.parse("2026-11-22T10:00:00Z");
const now = () => AT;
const body = JSON.stringify({ type: "text", text: "Grüße 😀", message: "Grüße 😀" });
const [old, present, foreign] = [createSecret(), createSecret(), createSecret()];
const signed = (...secrets: string[]) => signedHeaders(secrets, "msg_1", AT, body);

describe("an event", () => {
  it("of the gateway is believed and read", async () => {
    const { id, at, event } = await verifyWebhook(present, { headers: signed(present), body }, { now });

    expect({ id, at: at.getTime() }).toEqual({ id: "msg_1", at: AT });
    expect(event).toMatchObject({ type: "text", text: "Grüße 😀" });
  });

  it("may come as bytes, and its headers as the platform has them", async () => {
    const bytes = new TextEncoder().encode(body);
    const node = Object.fromEntries(Object.entries(signed(present)).map(([k, v]) => [k.toUpperCase(), [v]]));

    for (const headers of [new Headers(signed(present)), node])
      expect((await verifyWebhook(present, { headers, body: bytes }, { now })).id).toBe("msg_1");
  });

  it("is believed by the old and by the new secret while they are exchanged", async () => {
    const both = { headers: signed(present, old), body };
    const before = { headers: signed(old), body };

    for (const secret of [old, present, [old, present], [foreign, old]])
      expect((await verifyWebhook(secret, both, { now })).id).toBe("msg_1");
    expect((await verifyWebhook([old, present], before, { now })).id).toBe("msg_1");
  });

  const wrong = { headers: signed(present), body };
  it.each([
    ["another secret signed", "signature", { ...wrong, headers: signed(foreign) }],
    ["a byte was changed", "signature", { ...wrong, body: body.replace("text", "test") }],
    ["the id was changed", "signature", { ...wrong, headers: { ...signed(present), "webhook-id": "msg_2" } }],
    [
      "the signature is none",
      "signature",
      { ...wrong, headers: { ...signed(present), "webhook-signature": "v1,? v0,YQ== v1a,YQ==" } },
    ],
    [
      "the time was changed",
      "timestamp",
      { ...wrong, headers: { ...signed(present), "webhook-timestamp": "1" } },
    ],
    [
      "the time is none",
      "timestamp",
      { ...wrong, headers: { ...signed(present), "webhook-timestamp": "NaN" } },
    ],
    [
      "a header is missing",
      "headers",
      { ...wrong, headers: { ...signed(present), "webhook-id": undefined } },
    ],
  ])("is not believed when %s", async (_, reason, request) => {
    await expect(verifyWebhook(present, request, { now })).rejects.toMatchObject({
      name: "WebhookError",
      reason,
    });
  });

  it("is believed for five minutes, or as long as one says, to both sides", async () => {
    const at = (seconds: number, toleranceSeconds?: number) =>
      verifyWebhook(
        present,
        { headers: signed(present), body },
        { now: () => AT + seconds * 1000, ...(toleranceSeconds && { toleranceSeconds }) },
      );

    for (const seconds of [-300, 300]) expect((await at(seconds)).id).toBe("msg_1");
    for (const seconds of [-301, 301])
      await expect(at(seconds)).rejects.toMatchObject({ reason: "timestamp" });
    await expect(at(11, 10)).rejects.toMatchObject({ reason: "timestamp" });
  });

  it("is checked with a secret, or the caller is told that it is none", async () => {
    for (const secret of ["", "whsec_", "whsec_?", "C2FVsBQIhrscChlQIMV"])
      await expect(verifyWebhook(secret, wrong, { now })).rejects.toThrow(TypeError);
    await expect(verifyWebhook([], wrong, { now })).rejects.toMatchObject({ reason: "signature" });
  });

  it("has by its type what cannot be null", () => {
    const told = (event: WebhookEvent): string | number => {
      switch (event.type) {
        case "poll_vote":
          return event.poll.id;
        case "location":
          return event.location.latitude;
        case "status":
          return event.target_id + event.state;
        case "device":
          return event.state;
        case "image":
          return event.media?.url ?? "";
        default:
          return event.text;
      }
    };
    expect(told(JSON.parse(body))).toBe("Grüße 😀");
  });
});

describe("a reply", () => {
  const understood = (answer: WebhookReply) => parseReply(Buffer.from(JSON.stringify(answer)));
  const url = "https://example.com/menu.pdf";

  it.each<[string, WebhookReply, object[], number | null]>([
    ["nothing", reply.none(), [], null],
    ["a text", reply.text("Hi"), [{ kind: "text", text: "Hi", quoted: false }], null],
    ["a quoted one", reply.quoted(reply.text("Hi")), [{ text: "Hi", quoted: true }], null],
    [
      "a poll",
      reply.poll("When?", ["Mon", "Tue"]),
      [{ kind: "poll", name: "When?", options: ["Mon", "Tue"], selectable: 1 }],
      null,
    ],
    ["one of several answers", reply.poll("When?", ["Mon", "Tue"], true), [{ selectable: 0 }], null],
    [
      "a picture",
      reply.media("image", url, { caption: "Menu" }),
      [{ kind: "media", mediaType: "image", url, caption: "Menu" }],
      null,
    ],
    [
      "a document with its name",
      reply.media("pdf", url, { caption: "Menu" }),
      [{ fileName: "Menu", caption: null }],
      null,
    ],
    [
      "a document with a text",
      reply.media("document", url, { caption: "Our menu", filename: "menu.pdf" }),
      [{ fileName: "menu.pdf", caption: "Our menu" }],
      null,
    ],
    [
      "a voice note",
      reply.quoted(reply.media("audio", url, { voice: true })),
      [{ voice: true, quoted: true }],
      null,
    ],
    [
      "several",
      reply.several(reply.text("a"), reply.media("pdf", url)),
      [{ text: "a" }, { mediaType: "pdf" }],
      null,
    ],
    ["several that keep the chat", reply.hold(60, reply.several(reply.text("a"))), [{ text: "a" }], 60],
    ["one that keeps the chat", reply.hold(60, reply.text("a")), [{ text: "a" }], 60],
    ["keeping the chat alone", reply.hold(0), [], 0],
  ])("says %s as the gateway understands it", (_, answer, replies, hold) => {
    expect(understood(answer)).toMatchObject({ understood: true, ignored: [], replies, hold });
    expect(understood(answer).replies).toHaveLength(replies.length);
  });

  it("of more than ten is refused where it is written", () => {
    expect(() => reply.several(...Array.from({ length: 11 }, () => reply.text("a")))).toThrow(RangeError);
  });
});
