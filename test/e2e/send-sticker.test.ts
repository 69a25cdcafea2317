import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { gif, pdf, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: Object.keys(env).length === 0, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

const send = ({ gateway, key }: World, fields: Record<string, unknown>) =>
  gateway.post("/send-sticker", { sender: SHOP, number: ANA, ...fields }, { key });

/** What a phone shows: loaded, decrypted, and looked at. */
async function shown({ sim }: World, id: string, person = ANA) {
  const { kind, media, quoted } = await sim.waitForMessage(person, { id });
  const { bytes } = await sim.mediaOf(person, id);
  const { format, width, height } = await sharp(bytes).metadata();
  return { kind, quoted, ...media!, bytes: Buffer.from(bytes), format, look: [width, height] };
}

const sticker = (): Promise<Buffer> => sharp(png(512, 512)).webp({ quality: 42 }).toBuffer();
const STICKER = {
  kind: "sticker",
  mimetype: "image/webp",
  width: 512,
  height: 512,
  format: "webp",
  look: [512, 512],
};

describe("POST /send-sticker", () => {
  it("shows pictures and GIFs as stickers, in chats and groups, and sends a sticker as it is", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
    const asIs = await sticker();
    const host = await startFileHost({ "/as-is": asIs, "/picture": png(300, 100), "/gif": gif(64, 36, 1) });

    const first = await send(world, { url: host.url("/as-is") });
    expect(first).toMatchObject({ status: 200, body: { state: "sent" } });
    expect(await shown(world, first.body.id)).toMatchObject({ ...STICKER, bytes: asIs });

    const picture = await send(world, { url: host.url("/picture"), number: `${ANA}|${group}` });
    const [toAna, toGroup] = picture.body.results;
    expect(await shown(world, toAna.id)).toMatchObject(STICKER);
    expect(await shown(world, toGroup.id, BEN)).toMatchObject(STICKER);

    const moving = await send(world, { url: host.url("/gif"), number: BEN });
    expect(await shown(world, moving.body.id, BEN)).toMatchObject({ ...STICKER, animated: true });

    const sent = await sim.stanzas({ number: SHOP, device: 1, tag: "message", direction: "in" });
    expect(sent.find(({ attrs }) => attrs.id === first.body.id)?.attrs.type).toBe("media");
    const { data } = (await gateway.get(`/messages?sender=${SHOP}&direction=out`, { key })).body;
    expect(new Set(data.map(({ type }: { type: string }) => type))).toEqual(new Set(["sticker"]));
    const file = await fetch(data.at(-1).media.url);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(asIs);
    expect(readdirSync(join(gateway.dataDir, "tmp"))).toEqual([]);
  });

  it("takes the fields of every send, and a sticker is not edited but taken back", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const host = await startFileHost({ "/a.png": png(30, 30) });
    const url = host.url("/a.png");
    const asked = await sim.sendText(ANA, SHOP, "Well?");
    await until(async () => (await gateway.get(`/messages/${asked.id}`, { key })).status === 200);
    const answer = await send(world, { url, quote: asked.id, idempotency_key: "s-1" });
    expect(await shown(world, answer.body.id)).toMatchObject({ quoted: { id: asked.id } });
    const again = await send(world, { url, quote: asked.id, idempotency_key: "s-1" });
    expect(again.body).toEqual(answer.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(host.requests).toHaveLength(1);

    const later = await send(world, { url, send_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(later).toMatchObject({ status: 202, body: { state: "scheduled" } });
    expect(await send(world, { url, view_once: true })).toMatchObject({
      status: 400,
      body: { errors: { fields: { view_once: ["Is for images, videos and voice notes."] } } },
    });

    for (const id of [answer.body.id, later.body.id])
      expect(await gateway.patch(`/messages/${id}`, { message: "x" }, { key })).toMatchObject({
        status: 409,
        body: { errors: { code: "NOT_EDITABLE" } },
      });
    const gone = await gateway.delete(`/messages/${answer.body.id}`, { key });
    expect(gone).toMatchObject({ status: 200, body: { data: { revoked: true } } });
    const forwarded = await gateway.post(`/messages/${later.body.id}/forward`, { number: BEN }, { key });
    expect(await shown(world, forwarded.body.id, BEN)).toMatchObject(STICKER);
  });

  it("says what came instead of a picture, and sends nothing", async () => {
    const world = await openShop();
    const texts = { name: "texts", permissions: ["messages"] };
    const key = (await world.gateway.post("/api-keys", texts, { key: world.key })).body.api_key as string;
    const host = await startFileHost({ "/a.pdf": pdf(), "/long.gif": gif(16, 16, 11) });
    expect(await send(world, { url: host.url("/a.pdf") })).toMatchObject({
      status: 422,
      body: {
        errors: {
          code: "FILE_NOT_USABLE",
          message:
            "The link answered with a PDF file (application/pdf), which cannot be sent as sticker. The link must answer with the file itself.",
        },
      },
    });
    const long = await send(world, { url: host.url("/long.gif") });
    expect(long).toMatchObject({ status: 422, body: { errors: { code: "FILE_NOT_USABLE" } } });
    expect(long.body.errors.message).toContain("It moves for longer than 10 s.");
    expect(await send(world, { url: "ftp://example.com/a" })).toMatchObject({ status: 400 });
    expect(await send({ ...world, key }, { url: host.url("/a.pdf") })).toMatchObject({
      status: 403,
      body: { errors: { code: "PERMISSION_DENIED", permission: "media" } },
    });
    expect(await world.sim.messages(ANA, { from: SHOP })).toEqual([]);
  });

  it.each(["after-accept", "after-upload", "after-ack"])(
    "leaves once and under one id, though the process dies %s",
    async (point) => {
      const world = await openShop();
      const host = await startFileHost({ "/a.gif": gif(20, 20, 1) });
      const fields = { url: host.url("/a.gif"), idempotency_key: point };
      await world.gateway.restart({ CRASH_AT: point });
      await world.online(SHOP);
      await send(world, fields).catch(() => undefined);
      expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
      await world.gateway.restart({ CRASH_AT: "" });
      await world.online(SHOP);
      const { id } = await world.sim.waitForMessage(ANA, { from: SHOP });
      expect((await send(world, fields)).body.id).toBe(id);
      await world.sim.settle();
      const messages = await world.sim.messages(ANA, { from: SHOP });
      expect(new Set(messages.map((message) => message.id))).toEqual(new Set([id]));
      expect(await shown(world, id)).toMatchObject({ ...STICKER, animated: true });
    },
  );
});

it("a webhook and a bot answer with stickers", async () => {
  const host = await startFileHost({ "/a.png": png(30, 30) });
  const bots = mkdtempSync(join(tmpdir(), "parley-bots-"));
  onTestFinished(() => removeFolder(bots));
  writeFileSync(
    join(bots, "wave.ts"),
    `import { defineBot } from "parley";
export default defineBot({ enable: "all" }, (b) => {
  b.keyword("wave", (ctx) => { ctx.sticker(${JSON.stringify(host.url("/a.png"))}, { quote: true }); });
});`,
  );
  const world = await openShop({ BOTS_DIR: bots });
  const { sim, gateway, key } = world;
  const receiver = await startReceiver(() => ({ sticker: { url: host.url("/a.png") } }));
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
  const wave = await sim.sendText(ANA, SHOP, "wave");
  expect(await sim.waitForMessage(ANA, { kind: "sticker" })).toMatchObject({ quoted: { id: wave.id } });
  await sim.sendText(BEN, SHOP, "Hello");
  const { id } = await sim.waitForMessage(BEN, { kind: "sticker" });
  expect(await shown(world, id, BEN)).toMatchObject(STICKER);
});
