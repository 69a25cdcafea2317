import { createHash, randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import type { FileContent } from "../../src/simulator/types.ts";
import { openWorld, until, type World, type WorldOptions } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const CLEO = "4915100000003";
/** When files were made of which nobody takes for granted that WhatsApp has them. */
const LONG_AGO = Math.floor(Date.now() / 1000) - 40 * 86_400;
const PICTURE = png(40, 20);

async function openShop(options: WorldOptions = { again: true }): Promise<World> {
  const world = await openWorld(options);
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  await world.sim.addContact(CLEO, { name: "Cleo" });
  return world;
}

const forward = ({ gateway, key }: World, id: string, number: string, fields: object = {}) =>
  gateway.post(`/messages/${id}/forward`, { number, ...fields }, { key });
const stateOf = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;
const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const uploads = async ({ sim }: World): Promise<string[]> =>
  (await sim.mediaRequests({ direction: "upload" })).map(({ type }) => type);
/** What the gateway has asked for of pictures. */
const asked = ({ sim }: World) => sim.mediaRequests({ direction: "download", type: "image" });

const picture = (more: object = {}): FileContent => ({
  kind: "image",
  bytes: PICTURE,
  caption: "Mine",
  width: 40,
  height: 20,
  madeAt: LONG_AGO,
  ...more,
});

async function receive(world: World, content: FileContent): Promise<{ id: string }> {
  const sent = await world.sim.send(ANA, SHOP, content);
  await until(
    async () => (await world.gateway.get(`/messages/${sent.id}`, { key: world.key })).status === 200,
  );
  return sent;
}

/** What a phone has got: loaded, checked and decrypted. */
async function arrived({ sim }: World, person: string, id: string) {
  const message = await sim.waitForMessage(person, { id });
  return { ...message, sha: sha((await sim.mediaOf(person, id)).bytes) };
}

/** Has the gateway load and keep the file. */
async function keep({ gateway, key }: World, id: string): Promise<void> {
  const { data } = (await gateway.get("/messages", { key })).body;
  const { media } = data.find((message: { id: string }) => message.id === id);
  expect((await fetch(media.url)).status).toBe(200);
}

describe("a file that WhatsApp has", () => {
  it("is not asked for while it is young, and goes on as it came when it is old and still there", async () => {
    const world = await openShop();
    const young = await receive(world, picture({ madeAt: undefined }));
    const first = (await forward(world, young.id, BEN)).body.id;
    expect(await arrived(world, BEN, first)).toMatchObject({ forwarded: 1, sha: sha(PICTURE) });
    expect(await asked(world)).toEqual([]);

    const old = await receive(world, picture());
    const second = (await forward(world, old.id, BEN)).body.id;
    expect(await arrived(world, BEN, second)).toMatchObject({ forwarded: 1, sha: sha(PICTURE) });
    // One byte is asked for, which phones do with films, and nothing is stored.
    expect(await asked(world)).toMatchObject([{ status: 200, bytes: 1 }]);
    expect(await uploads(world)).toEqual([]);
  });
});

describe("a file that WhatsApp has no more", () => {
  it("is stored again from what Parley keeps, once for all who get it", async () => {
    const world = await openShop();
    const { id } = await receive(world, picture());
    await keep(world, id);
    await world.sim.faults.mediaGone({ id, status: 410, reupload: "not_found" });
    const { body } = await forward(world, id, `${BEN}|${CLEO}`);
    expect(body.results).toMatchObject([{ state: "sent" }, { state: "sent" }]);
    for (const [index, person] of [BEN, CLEO].entries()) {
      const got = await arrived(world, person, body.results[index].id);
      expect(got).toMatchObject({ kind: "image", text: "Mine", forwarded: 1, sha: sha(PICTURE) });
      expect(got.media).toMatchObject({ encrypted: true, mimetype: "image/jpeg", width: 40, height: 20 });
    }
    const onward = (await forward(world, body.results[0].id, ANA)).body.id;
    expect((await arrived(world, ANA, onward)).sha).toBe(sha(PICTURE));
    expect(await uploads(world)).toEqual(["image"]);
  });

  it("is stored again by the owner's phone, whatever kind of file it is", async () => {
    const world = await openShop();
    const madeAt = LONG_AGO;
    const contents: [FileContent, object][] = [
      [
        { kind: "video", bytes: randomBytes(70_000), seconds: 4, gif: true, caption: "Look", madeAt },
        { text: "Look", media: { seconds: 4, gif: true } },
      ],
      [
        { kind: "voice", bytes: randomBytes(15), seconds: 3, waveform: Buffer.alloc(64, 7), madeAt },
        { media: { ptt: true, seconds: 3 } },
      ],
      [
        { kind: "document", bytes: randomBytes(2_000), fileName: "a.pdf", caption: "For you", madeAt },
        { text: "For you", media: { fileName: "a.pdf" } },
      ],
      [{ kind: "sticker", bytes: randomBytes(1), animated: true, madeAt }, { media: { animated: true } }],
    ];
    for (const [content, expected] of contents) {
      const { id } = await receive(world, content);
      await world.sim.faults.mediaGone({ id });
      const { body } = await forward(world, id, BEN);
      const got = await arrived(world, BEN, body.id);
      expect(got).toMatchObject({ kind: content.kind, forwarded: 1, sha: sha(content.bytes!), ...expected });
    }
    expect(await uploads(world)).toEqual(["video", "audio", "document", "image"]);
  });

  it("and the phone has it neither: the message fails, and says why", async () => {
    const world = await openShop();
    const { id } = await receive(world, picture());
    await world.sim.faults.mediaGone({ id, reupload: "not_found" });
    const answer = await forward(world, id, BEN);
    expect(answer).toMatchObject({ status: 422, body: { errors: { code: "FILE_UNREACHABLE" } } });
    expect(answer.body.errors.message).toContain("phone");
    expect(await stateOf(world, answer.body.id)).toMatchObject({ state: "failed" });
    await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: BEN, message: "x" },
      { key: world.key },
    );
    await world.sim.waitForMessage(BEN, { text: "x" });
    expect(await world.sim.messages(BEN, { from: SHOP })).toHaveLength(1);
    expect(await uploads(world)).toEqual([]);
  });

  it("and the phone is silent: other chats do not wait for it", async () => {
    const world = await openShop();
    const { id } = await receive(world, picture());
    await world.sim.faults.mediaGone({ id, reupload: "silent" });
    let isOver = false;
    const handing = forward(world, id, BEN).finally(() => (isOver = true));
    const phone = {
      number: SHOP,
      device: 0,
      tag: "receipt",
      type: "server-error",
      direction: "out",
    } as const;
    await until(async () => (await world.sim.countStanzas(phone)) > 0);
    const text = { sender: SHOP, number: CLEO, message: "Meanwhile" };
    expect((await world.gateway.post("/send-message", text, { key: world.key })).body.state).toBe("sent");
    expect(isOver).toBe(false);
    const { body } = await handing;
    await until(async () => (await stateOf(world, body.id)).state === "failed", 30_000);
  });

  it("and the host is in trouble: it is asked again until it answers", async () => {
    const world = await openShop();
    const { id } = await receive(world, picture());
    await world.sim.faults.mediaStatus({ direction: "download", type: "image", status: 503, times: 2 });
    const { body } = await forward(world, id, BEN);
    expect((await arrived(world, BEN, body.id)).sha).toBe(sha(PICTURE));
    expect((await asked(world)).map(({ status }) => status)).toEqual([503, 503, 200]);
  });

  it.each(["after-upload", "before-ack"])(
    "arrives once, as one file, though the process dies %s",
    async (point) => {
      const world = await openShop({});
      const { id } = await receive(world, picture());
      await world.sim.faults.mediaGone({ id });
      await world.gateway.restart({ CRASH_AT: point });
      await world.online(SHOP);
      await forward(world, id, BEN, { idempotency_key: point }).catch(() => undefined);
      expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
      await world.gateway.restart({ CRASH_AT: "" });
      await world.online(SHOP);
      const got = await world.sim.waitForMessage(BEN, { from: SHOP });
      expect((await forward(world, id, BEN, { idempotency_key: point })).body.id).toBe(got.id);
      expect((await arrived(world, BEN, got.id)).sha).toBe(sha(PICTURE));
      await until(async () => (await stateOf(world, got.id)).state !== "queued");
      await world.sim.settle();
      const ids = (await world.sim.messages(BEN, { from: SHOP })).map((message) => message.id);
      expect(new Set(ids)).toEqual(new Set([got.id]));
      const kept = readdirSync(join(world.gateway.dataDir, "media")).filter((name) => name.startsWith("mf_"));
      expect(kept).toHaveLength(1);
    },
  );
});

describe("a channel", () => {
  it("gets a forwarded file as it is, not encrypted", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
    await world.gateway.post("/channels", { sender: SHOP, channel: channel.id }, { key: world.key });
    const { id } = await receive(world, picture({ madeAt: undefined }));
    const { body } = await forward(world, id, channel.id);
    expect(body).toMatchObject({ state: "sent" });
    const { media, ...post } = await world.sim.waitForPost(channel.id, { id: body.id });
    expect(post).toMatchObject({ kind: "image", text: "Mine" });
    expect(media).toMatchObject({ encrypted: false, sha256: sha(PICTURE), mimetype: "image/jpeg" });
    const stored = (world.sim as LibrarySimulator).server.media.find(media!.directPath)!;
    expect(sha(stored.bytes)).toBe(sha(PICTURE));
    expect(await uploads(world)).toEqual(["newsletter-image"]);
  });

  it("has posted a file: whoever gets it by forwarding gets it encrypted", async () => {
    const world = await openShop();
    const channel = await world.sim.addChannel({ name: "City news", followers: [SHOP] });
    const { id } = await world.sim.postInChannel(channel.id, picture());
    await until(async () => (await world.gateway.get(`/messages/${id}`, { key: world.key })).status === 200);
    const { body } = await forward(world, id, BEN);
    const got = await arrived(world, BEN, body.id);
    expect(got).toMatchObject({ text: "Mine", sha: sha(PICTURE), media: { encrypted: true } });
    expect(await uploads(world)).toEqual(["image"]);
  });
});

it("what came for one look is handed on to nobody", async () => {
  const world = await openShop();
  const contents: FileContent[] = [
    { kind: "image", bytes: PICTURE, viewOnce: true },
    { kind: "video", bytes: randomBytes(100), viewOnce: true },
    { kind: "voice", bytes: randomBytes(100), viewOnce: true },
  ];
  for (const content of contents) {
    const { id } = await receive(world, content);
    const refused = { status: 409, body: { errors: { code: "NOT_EDITABLE" } } };
    expect(await forward(world, id, BEN)).toMatchObject(refused);
  }
  expect(await world.sim.messages(BEN, { from: SHOP })).toEqual([]);
});
