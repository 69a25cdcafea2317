import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { pdf, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const CSV = Buffer.from("name,price\ncoffee,3\n");
const PAGE = Buffer.from("<!doctype html><html><body>The menu</body></html>");

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const send = ({ gateway, key }: World, fields: Record<string, unknown>) =>
  gateway.post("/send-media", { sender: SHOP, number: ANA, ...fields }, { key });

const inBase64 = (bytes: Buffer): string => bytes.toString("base64");
const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What a phone has got: loaded and decrypted. */
async function arrived({ sim }: World, id: string) {
  const { kind, text = "" } = await sim.waitForMessage(ANA, { id });
  const { bytes, mimetype, fileName } = await sim.mediaOf(ANA, id);
  return { kind, text, mimetype, fileName, sha: sha(bytes) };
}

describe("POST /send-media with the file itself", () => {
  it("sends it as what it is, named and captioned as asked", async () => {
    const world = await openShop();
    const picture = png(40, 20);
    const cases: [Record<string, unknown>, Buffer, object][] = [
      [
        { media_type: "image", caption: "Look" },
        picture,
        { kind: "image", text: "Look", mimetype: "image/png" },
      ],
      [
        { media_type: "document", filename: "prices.csv", caption: "Our prices" },
        CSV,
        { kind: "document", fileName: "prices.csv", text: "Our prices", mimetype: "text/plain" },
      ],
      [
        { media_type: "document", caption: "prices" },
        CSV,
        { kind: "document", fileName: "prices.txt", text: "", mimetype: "text/plain" },
      ],
      [{ media_type: "pdf" }, pdf(), { kind: "document", fileName: "file.pdf", mimetype: "application/pdf" }],
      // A link that answers with a page has led to the wrong place; this is the page that is meant.
      [
        { media_type: "document", filename: "menu.html" },
        PAGE,
        { kind: "document", fileName: "menu.html", mimetype: "text/html" },
      ],
    ];
    for (const [fields, bytes, expected] of cases) {
      const { status, body } = await send(world, { ...fields, data: inBase64(bytes) });
      expect({ status, state: body["state"] }).toEqual({ status: 200, state: "sent" });
      expect(await arrived(world, body["id"])).toMatchObject({ ...expected, sha: sha(bytes) });
    }
  });

  it("of a link takes any kind of file as a document, with a name and a caption", async () => {
    const world = await openShop();
    const host = await startFileHost({ "/export": CSV });
    const fields = { media_type: "document", url: host.url("/export"), filename: "a.csv", caption: "Here" };
    const { body } = await send(world, fields);
    expect(await arrived(world, body["id"])).toMatchObject({
      kind: "document",
      fileName: "a.csv",
      text: "Here",
      sha: sha(CSV),
    });
    const asked = new URLSearchParams({ ...fields, sender: SHOP, number: ANA, api_key: world.key });
    const byGet = await world.gateway.get(`/send-media?${asked}`);
    expect(await arrived(world, byGet.body["id"])).toMatchObject({ fileName: "a.csv", text: "Here" });
  });

  it("takes a link or the file, and says of a file that does not fit what it is", async () => {
    const world = await openShop();
    const data = inBase64(CSV);
    const refused = async (fields: Record<string, unknown>) => {
      const { status, body } = await send(world, { media_type: "document", ...fields });
      return { status, ...body["errors"] };
    };
    expect(await refused({})).toMatchObject({
      status: 400,
      fields: { url: ["Is required, unless data or a part called file holds the file itself."] },
    });
    expect(await refused({ data, url: "https://example.com/a" })).toMatchObject({
      status: 400,
      fields: { data: ["Cannot be given together with url."] },
    });
    expect(await refused({ data: "no base64!" })).toMatchObject({
      status: 400,
      fields: { data: ["Must be base64."] },
    });
    expect(await refused({ data, media_type: "pdf" })).toMatchObject({
      status: 422,
      code: "FILE_NOT_USABLE",
      message: "The file is a plain text, which cannot be sent as pdf.",
    });
    expect(await refused({ data: inBase64(Buffer.alloc(1_000_000)) })).toMatchObject({
      status: 413,
      code: "BODY_TOO_LARGE",
    });
    expect(await world.sim.messages(ANA, { from: SHOP })).toEqual([]);
  });

  it("compares the file's bytes when an idempotency key comes again", async () => {
    const world = await openShop();
    const fields = { media_type: "document", idempotency_key: "prices-1" };
    const first = await send(world, { ...fields, data: inBase64(Buffer.from("A")) });
    // Other characters for the same byte: the last of them has bits that mean nothing.
    for (const data of ["QQ==", "QR=="]) {
      const again = await send(world, { ...fields, data });
      expect(again.body["id"]).toBe(first.body["id"]);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    }
    const other = await send(world, { ...fields, data: inBase64(Buffer.from("B")) });
    expect(other).toMatchObject({ status: 422, body: { errors: { code: "IDEMPOTENCY_KEY_REUSED" } } });
    expect(await world.sim.messages(ANA, { from: SHOP })).toHaveLength(1);
  });

  it.each(["after-accept", "after-upload", "before-ack", "after-ack"])(
    "leaves once and under one id, though the process dies %s",
    async (point) => {
      const world = await openShop();
      const fields = { media_type: "document", data: inBase64(CSV), idempotency_key: point };
      await world.gateway.restart({ CRASH_AT: point });
      await world.online(SHOP);
      await send(world, fields).catch(() => undefined);
      expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
      await world.gateway.restart({ CRASH_AT: "" });
      await world.online(SHOP);
      const { id } = await world.sim.waitForMessage(ANA, { from: SHOP });
      const again = await send(world, fields);
      expect(again.body["id"]).toBe(id);
      await until(async () => {
        const { body } = await world.gateway.get(`/messages/${id}`, { key: world.key });
        return body["data"].state !== "queued";
      });
      await world.sim.settle();
      const messages = await world.sim.messages(ANA, { from: SHOP });
      expect(new Set(messages.map((message) => message.id))).toEqual(new Set([id]));
      expect((await arrived(world, id)).sha).toBe(sha(CSV));
    },
  );
});
