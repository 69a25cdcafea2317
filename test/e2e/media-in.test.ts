import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FileContent } from "../../src/simulator/types.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const MIB = 1024 * 1024;
const MAX_MEDIA_BYTES = 8 * MIB;

let world: World;
let receiver: Receiver;
let picture: Buffer;

async function openShop(into: World): Promise<void> {
  await into.link(SHOP);
  await into.sim.addContact(ANA, { name: "Ana" });
  await into.sim.addContact(BEN, { name: "Ben" });
}

beforeAll(async () => {
  const noise = {
    width: 320,
    height: 240,
    channels: 3 as const,
    noise: { type: "gaussian" as const, mean: 99, sigma: 40 },
  };
  picture = await sharp({ create: { ...noise, background: "#fff" } })
    .jpeg()
    .toBuffer();
  world = await keepWorld({ env: { MAX_MEDIA_BYTES: String(MAX_MEDIA_BYTES) } });
  await openShop(world);
});
afterAll(() => closeWorld(world));

beforeEach(async () => {
  await world.sim.faults.clear();
  receiver = await startReceiver();
  await listenTo(world, receiver);
});

async function listenTo(where: World, { url }: Receiver, more: object = {}): Promise<void> {
  const put = await where.gateway.put(`/devices/${SHOP}/webhook`, { url, ...more }, { key: where.key });
  expect(put.status).toBe(200);
}

async function eventOf({ id }: { id: string }, timeoutMs?: number): Promise<Record<string, any>> {
  let found: Record<string, any> | undefined;
  await until(() => {
    found = receiver.events.find(({ body }) => body.id === id)?.body;
    return found !== undefined;
  }, timeoutMs);
  return found!;
}

const image = (bytes: Uint8Array = picture): FileContent => ({ kind: "image", bytes, caption: "a cat" });
const fileName = 'Angebot 2026 – "neu".pdf';
const document = (bytes: Uint8Array): FileContent => ({
  kind: "document",
  bytes,
  fileName,
  mimetype: "application/pdf",
});

async function load(url: string): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await fetch(url);
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

const downloads = () => world.sim.mediaRequests({ direction: "download" });
const onDisk = (): string[] => readdirSync(join(world.gateway.dataDir, "media", "in"));
/** Files are named after their messages' rows, which rise. */
const rowOf = (name: string): number => Number(name.split("-")[1]);
const newestFile = (): string => {
  const [newest] = onDisk().toSorted((a, b) => rowOf(b) - rowOf(a));
  return join(world.gateway.dataDir, "media", "in", newest!);
};

describe("an image", () => {
  it("comes in the event as bare base64, byte for byte, and by its address", async () => {
    const event = await eventOf(await world.sim.send(ANA, SHOP, image()));

    expect(event).toMatchObject({
      type: "image",
      message: "a cat",
      text: "a cat",
      media: { type: "image", mimetype: "image/jpeg", fileName: null, size: picture.length },
    });
    expect(event.media).not.toHaveProperty("error");
    expect(Buffer.from(event.bufferImage, "base64").equals(picture)).toBe(true);
    expect(event.bufferImage).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(event.media.url.startsWith(`${world.gateway.url}/media/`)).toBe(true);
    const loaded = await load(event.media.url);
    expect(loaded.status).toBe(200);
    expect(loaded.bytes.equals(picture)).toBe(true);
    expect(loaded.headers.get("content-type")).toBe("image/jpeg");
    expect(loaded.headers.get("content-length")).toBe(String(picture.length));
    expect(loaded.headers.get("x-content-type-options")).toBe("nosniff");
    expect(loaded.headers.get("content-disposition")).toMatch(/^attachment; filename="image\.jpg"/);
  });

  it("is loaded from WhatsApp once, and lies on disk encrypted only", async () => {
    const before = (await downloads()).length;
    const event = await eventOf(await world.sim.send(ANA, SHOP, image()));
    await Promise.all([load(event.media.url), load(event.media.url)]);

    expect(await downloads()).toHaveLength(before + 1);
    const kept = readFileSync(newestFile());
    expect(kept.length).toBeGreaterThan(picture.length);
    for (let at = 0; at + 64 < picture.length; at += 1000)
      expect(kept.includes(picture.subarray(at, at + 64))).toBe(false);
  });

  it("over 5 MiB is for its address only, and says so", async () => {
    const bytes = randomBytes(5 * MIB + 1);
    const event = await eventOf(await world.sim.send(ANA, SHOP, image(bytes)));

    expect(event).toMatchObject({ type: "image", bufferImage: null, media: { size: bytes.length } });
    expect(event.media.error).toContain("5 MiB");
    expect((await load(event.media.url)).bytes.equals(bytes)).toBe(true);
  });

  it("of exactly 5 MiB is in the event", async () => {
    const bytes = randomBytes(5 * MIB);
    const event = await eventOf(await world.sim.send(ANA, SHOP, image(bytes)));
    expect(Buffer.from(event.bufferImage, "base64").equals(bytes)).toBe(true);
  });

  it("is not loaded when no webhook gets it", async () => {
    const before = (await downloads()).length;
    await listenTo(world, receiver, { events: ["reaction"] });
    const { id } = await world.sim.send(ANA, SHOP, image());
    await world.sim.react(ANA, id, "👍");
    await until(() => receiver.events.length > 0);
    await listenTo(world, receiver, { mode: "off" });
    await world.bindBots(SHOP, "ping");
    await world.sim.send(ANA, SHOP, image());
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.waitForMessage(ANA, { from: SHOP, text: "pong" });
    await world.gateway.put(`/devices/${SHOP}/bots`, { bots: [] }, { key: world.key });
    await listenTo(world, receiver);
    await eventOf(await world.sim.sendText(ANA, SHOP, "Last"));

    expect(receiver.events.map(({ body }) => body.type)).toEqual(["reaction", "text"]);
    expect(await downloads()).toHaveLength(before);
  });

  it("is in the event that a retry posts", async () => {
    receiver.status = 503;
    const sent = await world.sim.send(ANA, SHOP, image());
    await eventOf(sent);
    receiver.status = 200;
    await until(() => receiver.events.length > 1);

    const [first, second] = receiver.events;
    expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
    expect(second!.text).toBe(first!.text);
    expect(second!.body.bufferImage).not.toBeNull();
  });

  it("that a bot answered comes too when the webhook gets every message", async () => {
    await listenTo(world, receiver, { mode: "always" });
    await world.bindBots(SHOP, "ping");
    const event = await eventOf(
      await world.sim.send(ANA, SHOP, { ...image(), caption: "ping" } as FileContent),
    );
    expect(event.handled_by).toBe("bot:ping");
    expect(Buffer.from(event.bufferImage, "base64").equals(picture)).toBe(true);
    await world.gateway.put(`/devices/${SHOP}/bots`, { bots: [] }, { key: world.key });
  });
});

describe("every other file", () => {
  it.each<[string, FileContent, object]>([
    [
      "video",
      { kind: "video", bytes: randomBytes(70_000), caption: "look" },
      { mimetype: "video/mp4", fileName: null },
    ],
    ["audio", { kind: "audio", bytes: randomBytes(16), seconds: 3 }, { fileName: null }],
    ["voice", { kind: "voice", bytes: randomBytes(15), seconds: 3 }, { fileName: null }],
    ["document", document(randomBytes(200_001)), { mimetype: "application/pdf", fileName }],
    ["sticker", { kind: "sticker", bytes: randomBytes(1) }, { mimetype: "image/webp", fileName: null }],
  ])("%s comes by its address", async (type, content, media) => {
    const event = await eventOf(await world.sim.send(ANA, SHOP, content));

    expect(event).toMatchObject({
      type,
      bufferImage: null,
      media: { type, size: content.bytes!.length, ...media },
    });
    expect(Object.keys(event.media).toSorted()).toEqual(["fileName", "mimetype", "size", "type", "url"]);
    const loaded = await load(event.media.url);
    expect(loaded.status).toBe(200);
    expect(createHash("sha256").update(loaded.bytes).digest()).toEqual(
      createHash("sha256").update(content.bytes!).digest(),
    );
    expect(loaded.headers.get("content-length")).toBe(String(content.bytes!.length));
  });

  it("has its name in the answer, however it is written", async () => {
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(randomBytes(10))));
    const { headers } = await load(event.media.url);
    const [, exact = ""] = /filename\*=UTF-8''(\S+)$/.exec(headers.get("content-disposition")!)!;
    expect(decodeURIComponent(exact)).toBe(fileName);
    expect(headers.get("content-type")).toBe("application/pdf");
  });

  it("is never run by a browser, whatever its sender calls it", async () => {
    const hostile = {
      ...document(randomBytes(10)),
      mimetype: "text/html\r\nx-evil: 1",
      fileName: `..\\../${"x".repeat(300)}\u202e\r\nSet-Cookie: a=b.html`,
    };
    const event = await eventOf(await world.sim.send(ANA, SHOP, hostile as FileContent));
    const { status, headers } = await load(event.media.url);
    expect(status).toBe(200);
    const plain = `${"x".repeat(250)}.html`;
    expect(event.media.fileName).toBe(plain);
    expect(event.media.mimetype).toBe("application/octet-stream");
    expect(headers.get("content-disposition")).toContain(`filename*=UTF-8''${plain}`);
    expect(headers.get("content-type")).toBe("application/octet-stream");
    expect(headers.get("x-evil")).toBeNull();
    expect(headers.get("content-disposition")).toMatch(/^attachment;/);
    expect(headers.get("content-security-policy")).toContain("sandbox");
  });

  it("over MAX_MEDIA_BYTES has no address and says why; nothing of it is loaded", async () => {
    const before = (await downloads()).length;
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(Buffer.alloc(MAX_MEDIA_BYTES + 1))));
    expect(event.media).toMatchObject({ url: null, size: MAX_MEDIA_BYTES + 1 });
    expect(event.media.error).toContain("MAX_MEDIA_BYTES");
    expect(await downloads()).toHaveLength(before);
  });

  it("of the largest size comes whole", async () => {
    const bytes = randomBytes(MAX_MEDIA_BYTES);
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(bytes)));
    expect((await load(event.media.url)).bytes.equals(bytes)).toBe(true);
  });

  it("posted in a channel comes too, with what kind of file it is", async () => {
    await listenTo(world, receiver, { events: ["channel"] });
    const channel = await world.sim.addChannel({ name: "News", followers: [SHOP] });
    const event = await eventOf(await world.sim.postInChannel(channel.id, image()));
    expect(event).toMatchObject({
      type: "channel",
      message: "a cat",
      chat: channel.id,
      media: { type: "image", mimetype: "image/jpeg", size: picture.length },
    });
    expect(Buffer.from(event.bufferImage, "base64").equals(picture)).toBe(true);
    expect((await load(event.media.url)).bytes.equals(picture)).toBe(true);
  });

  it("from the owner's phone, with own", async () => {
    await listenTo(world, receiver, { events: ["own"] });
    const event = await eventOf(await world.sim.sendAsOwner(SHOP, ANA, image()));
    expect(event).toMatchObject({ from: SHOP, chat: ANA, type: "image" });
    expect(Buffer.from(event.bufferImage, "base64").equals(picture)).toBe(true);
  });
});

describe("an address", () => {
  it("that was changed, made up or cut is 404, like every unknown path", async () => {
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(randomBytes(10))));
    const token = event.media.url.split("/media/")[1] as string;
    const last = token.at(-1) === "A" ? "B" : "A";
    const elsewhere = `${(Number.parseInt(token, 36) + 1).toString(36)}${token.slice(token.indexOf("-"))}`;
    for (const wrong of [
      token.slice(0, -1) + last,
      token.slice(0, -1),
      elsewhere,
      "x",
      "%00",
      "..%2fadmin-token",
    ]) {
      const answer = await world.gateway.get(`/media/${wrong}`);
      expect([wrong, answer.status, answer.body.errors?.code]).toEqual([wrong, 404, "NOT_FOUND"]);
    }
    expect((await load(event.media.url)).status).toBe(200);
  });

  it("stands in no log", async () => {
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(randomBytes(10))));
    await load(event.media.url);
    expect(world.gateway.output()).not.toContain(event.media.url.split("/media/")[1]);
  });
});

/** Sends an image whose file is gone before the gateway hears of it. */
async function sendGone(gone: {
  status?: 404 | 410;
  reupload?: "not_found" | "silent";
}): Promise<{ id: string }> {
  await world.sim.faults.holdDeliveries({ number: SHOP });
  const sent = await world.sim.send(ANA, SHOP, image());
  await world.sim.faults.mediaGone({ ...sent, ...gone });
  await world.sim.faults.releaseDeliveries({ number: SHOP });
  return sent;
}

describe("WhatsApp's media host", () => {
  it.each([404, 410] as const)(
    "has the file no more (%i): the phone is asked to store it again",
    async (status) => {
      const event = await eventOf(await sendGone({ status }));
      expect(Buffer.from(event.bufferImage, "base64").equals(picture)).toBe(true);
      expect((await downloads()).slice(-2).map((request) => request.status)).toEqual([status, 200]);
    },
  );

  it.each([
    ["the phone has it no more either", "not_found"],
    ["the phone keeps silent", "silent"],
  ] as const)(
    "has the file no more and %s: the event says so and comes all the same",
    async (_, reupload) => {
      const event = await eventOf(await sendGone({ reupload }));
      expect(event).toMatchObject({
        type: "image",
        message: "a cat",
        bufferImage: null,
        media: { url: null },
      });
      expect(event.media.error).toContain("phone");
    },
  );

  it("has the file no more when its address is asked for: it is stored again, or the answer says why not", async () => {
    const first = await world.sim.send(ANA, SHOP, document(picture));
    const { media } = await eventOf(first);
    await world.sim.faults.mediaGone(first);
    expect((await load(media.url)).bytes.equals(picture)).toBe(true);

    const second = await world.sim.send(ANA, SHOP, document(picture));
    const { pathname } = new URL((await eventOf(second)).media.url);
    await world.sim.faults.mediaGone({ ...second, reupload: "not_found" });
    const answer = await world.gateway.get(pathname);
    expect([answer.status, answer.body.errors.code]).toEqual([422, "FILE_UNREACHABLE"]);
  });

  it("breaks off, or fails for a moment: the file is loaded once more", async () => {
    await world.sim.faults.mediaBroken({ how: "truncated", times: 1 });
    const first = await eventOf(await world.sim.send(ANA, SHOP, image()));
    expect(Buffer.from(first.bufferImage, "base64").equals(picture)).toBe(true);
    await world.sim.faults.mediaStatus({ direction: "download", status: 503, times: 1 });
    const second = await eventOf(await world.sim.send(ANA, SHOP, image()));
    expect(Buffer.from(second.bufferImage, "base64").equals(picture)).toBe(true);
  });

  it("gives other bytes: the file is refused, and can be had when they are right", async () => {
    const bytes = randomBytes(100_000);
    await world.sim.faults.mediaBroken({ how: "corrupt", times: 1 });
    const event = await eventOf(await world.sim.send(ANA, SHOP, image(bytes)));
    expect(event).toMatchObject({ bufferImage: null, media: { url: null } });
    expect(event.media.error).toContain("damaged");
    expect(onDisk().filter((name) => name.includes("part"))).toEqual([]);

    await world.sim.faults.mediaBroken({ how: "corrupt", times: 1 });
    const other = await eventOf(await world.sim.send(ANA, SHOP, document(bytes)));
    const answer = await world.gateway.get(new URL(other.media.url).pathname);
    expect([answer.status, answer.body.errors.code]).toEqual([422, "FILE_NOT_USABLE"]);
    expect((await load(other.media.url)).bytes.equals(bytes)).toBe(true);
  });

  it("is in trouble: the event says so, and the address works when it is over", async () => {
    await world.sim.faults.mediaStatus({ direction: "download", status: 503, times: 3 });
    const event = await eventOf(await world.sim.send(ANA, SHOP, image()));
    expect(event).toMatchObject({ bufferImage: null, media: { url: null } });
    expect(event.media.error).toContain("503");

    const { media } = await eventOf(await world.sim.send(ANA, SHOP, document(picture)));
    await world.sim.faults.mediaStatus({ direction: "download", status: 503, times: 3 });
    const answer = await world.gateway.get(new URL(media.url).pathname);
    expect([answer.status, answer.body.errors.code]).toEqual([422, "FILE_UNREACHABLE"]);
    expect((await load(media.url)).bytes.equals(picture)).toBe(true);
  });

  it("hangs: the chat gets its event without the image, in order, and other chats do not wait", async () => {
    receiver.answer = ({ body }) => ({ message: `heard ${body.message}` });
    const before = (await downloads()).length;
    await world.sim.faults.mediaBroken({ how: "stalled", times: 1 });
    const slow = await world.sim.send(ANA, SHOP, image());
    const behind = await world.sim.sendText(ANA, SHOP, "behind it");
    await until(async () => (await downloads()).length > before);
    await world.sim.sendText(BEN, SHOP, "elsewhere");

    expect(await world.sim.waitForMessage(BEN, { from: SHOP, text: "heard elsewhere" })).toBeDefined();
    expect(receiver.events.map(({ body }) => body.message)).toEqual(["elsewhere"]);
    const event = await eventOf(slow);
    expect(event).toMatchObject({ bufferImage: null, media: { url: null } });
    expect(event.media.error).toContain("15 s");
    await eventOf(behind);
    expect(receiver.events.map(({ body }) => body.message)).toEqual(["elsewhere", "a cat", "behind it"]);
  });
});

describe("a kept file", () => {
  it("that was changed on disk is never given to its end", async () => {
    const bytes = randomBytes(300_000);
    const event = await eventOf(await world.sim.send(ANA, SHOP, document(bytes)));
    await load(event.media.url);
    const path = newestFile();
    const kept = readFileSync(path);
    kept[1000]! ^= 1;
    writeFileSync(path, kept);
    const { received, complete } = await loadToTheEnd(event.media.url);
    expect(complete).toBe(false);
    expect(received).toBeLessThan(bytes.length);

    truncateSync(path, 1000);
    const answer = await world.gateway.get(new URL(event.media.url).pathname);
    expect([answer.status, answer.body.errors.code]).toEqual([422, "FILE_NOT_USABLE"]);
  });

  it("is loaded after a restart, also by the address in an old event", async () => {
    const own = await openWorld({ env: { PUBLIC_URL: "https://gateway.example/base/" } });
    await openShop(own);
    await listenTo(own, receiver);
    const event = await eventOf(await own.sim.send(ANA, SHOP, document(picture)));
    expect(event.media.url).toMatch(/^https:\/\/gateway\.example\/base\/media\//);
    await own.gateway.restart();
    await own.online(SHOP);

    const { status, bytes } = await load(`${own.gateway.url}/media/${event.media.url.split("/media/")[1]}`);
    expect(status).toBe(200);
    expect(bytes.equals(picture)).toBe(true);
  });
});

/** How far an answer came before the connection ended. */
function loadToTheEnd(url: string): Promise<{ received: number; complete: boolean }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, (response) => {
      let received = 0;
      response.on("data", (chunk: Buffer) => (received += chunk.length));
      response.on("error", () => undefined);
      response.on("close", () => resolve({ received, complete: response.complete }));
    });
    request.on("error", reject);
    request.end();
  });
}
