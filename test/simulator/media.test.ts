import { createHash, randomBytes } from "node:crypto";
import { Agent as TlsAgent } from "node:https";
import { downloadMediaMessage } from "@whiskeysockets/baileys";
import type { AnyMessageContent, UserFacingSocketConfig, WAMessage } from "@whiskeysockets/baileys";
import { pino } from "pino";
import sharp from "sharp";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { connectSimulator } from "../../src/simulator/client.ts";
import type { Content, Simulator } from "../../src/simulator/index.ts";
import { link, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const GUEST = "31600000002";
const GUEST_JID = `${GUEST}@s.whatsapp.net`;

const FILE = randomBytes(70_001);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** What a client needs to trust the simulator's media host. */
function trusting(sim: Simulator): Partial<UserFacingSocketConfig> {
  const dispatcher = new Agent({ connect: { ca: sim.ca } });
  return { fetchAgent: new TlsAgent({ ca: sim.ca }), options: { dispatcher } as never };
}

async function linked(): Promise<{ sim: Simulator; client: Client }> {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(GUEST);
  return { sim, client: await link(sim, NUMBER, trusting(sim)) };
}

const arrival = (client: Client, id: string): Promise<WAMessage> =>
  until(`message ${id}`, () => client.received.find(({ message }) => message.key.id === id)?.message);

/** Downloads as Baileys does. */
const download = async (sim: Simulator, client: Client, message: WAMessage): Promise<Buffer> =>
  await downloadMediaMessage(message, "buffer", trusting(sim), {
    logger: pino({ level: "silent" }) as never,
    reuploadRequest: client.socket.updateMediaMessage,
  });

const incoming: [string, Content, Record<string, unknown>][] = [
  ["image", { kind: "image", bytes: FILE, caption: "look", width: 640, height: 480 }, { caption: "look" }],
  ["video", { kind: "video", bytes: FILE, seconds: 7 }, { seconds: 7, mimetype: "video/mp4" }],
  ["audio", { kind: "audio", bytes: FILE, seconds: 3 }, { ptt: false, mimetype: "audio/mpeg" }],
  ["voice", { kind: "voice", bytes: FILE, seconds: 3, waveform: new Uint8Array(64) }, { ptt: true }],
  [
    "document",
    { kind: "document", bytes: FILE, fileName: "a b.pdf", mimetype: "application/pdf", caption: "read it" },
    { fileName: "a b.pdf", mimetype: "application/pdf", caption: "read it" },
  ],
  ["sticker", { kind: "sticker", bytes: FILE }, { mimetype: "image/webp" }],
];

test("files of every kind come from a contact, and the client decrypts them", async () => {
  const { sim, client } = await linked();
  for (const [kind, content, facts] of incoming) {
    const { id } = await sim.send(GUEST, NUMBER, content);
    const message = await arrival(client, id);
    const body = message.message!.documentWithCaptionMessage?.message ?? message.message!;
    expect(Object.values(body)).toContainEqual(expect.objectContaining(facts));
    expect(sha256(await download(sim, client, message))).toBe(sha256(FILE));
    const [entry] = await sim.transcript({ id, direction: "to_companion" });
    expect(entry).toMatchObject({
      kind,
      media: { size: FILE.length, sha256: sha256(FILE), encrypted: true },
    });
  }
  expect(await sim.mediaRequests({ direction: "download", status: 200 })).toHaveLength(incoming.length);
});

const outgoing: [string, AnyMessageContent, Record<string, unknown>][] = [
  ["image", { image: FILE, caption: "here", jpegThumbnail: "" }, { mimetype: "image/jpeg" }],
  ["video", { video: FILE, seconds: 9, jpegThumbnail: "" }, { seconds: 9, mimetype: "video/mp4" }],
  ["audio", { audio: FILE, seconds: 4, mimetype: "audio/mp4" }, { seconds: 4 }],
  [
    "voice",
    { audio: FILE, ptt: true, seconds: 4, waveform: new Uint8Array(64).fill(5) } as AnyMessageContent,
    { ptt: true, waveform: Array(64).fill(5) },
  ],
  [
    "document",
    { document: FILE, fileName: "plan.pdf", mimetype: "application/pdf" },
    { fileName: "plan.pdf", mimetype: "application/pdf" },
  ],
  ["sticker", { sticker: FILE }, { mimetype: "image/webp" }],
];

test("files of every kind reach a contact, whose phone checks and decrypts them", async () => {
  const { sim, client } = await linked();
  for (const [kind, content, facts] of outgoing) {
    const sent = await client.socket.sendMessage(GUEST_JID, content);
    const message = await sim.waitForMessage(GUEST, { id: sent!.key.id! });
    expect(message).toMatchObject({ kind, media: { ...facts, size: FILE.length, sha256: sha256(FILE) } });
    const { bytes } = await sim.mediaOf(GUEST, message.id);
    expect(sha256(bytes)).toBe(sha256(FILE));
  }
  expect(await sim.mediaRequests({ direction: "upload", status: 200 })).toHaveLength(outgoing.length);
});

test("a file goes over HTTP control as it is, by its bytes or by its path", async () => {
  const sim = await simulate({ controlPort: 0 });
  const remote = connectSimulator(sim.controlUrl);
  const owner = await remote.addNumber(NUMBER);
  const guest = await remote.addContact(GUEST);
  const { id } = await guest.send(NUMBER, { kind: "image", bytes: FILE });
  await remote.waitForMessage(NUMBER, { id });
  expect(Buffer.from((await remote.mediaOf(NUMBER, id)).bytes)).toEqual(FILE);
  const reply = await owner.sendAsOwner(GUEST, { kind: "document", path: sim.caFile, fileName: "ca.pem" });
  await guest.waitForMessage({ id: reply.id });
  expect(Buffer.from((await guest.mediaOf(reply.id)).bytes).toString()).toBe(sim.ca);
});

test("the media host refuses what does not belong to its name, strangers, and unknown paths", async () => {
  const { sim, client } = await linked();
  const { auth, hosts } = await client.socket.refreshMediaConn();
  const name = createHash("sha256").update(FILE).digest("base64url");
  const upload = async (path: string, body: Buffer, word = auth): Promise<number> => {
    const { dispatcher } = trusting(sim).options as never;
    const url = `https://${hosts[0]!.hostname}${path}/${name}?auth=${encodeURIComponent(word)}&token=${name}`;
    return (await fetch(url, { method: "POST", body: new Uint8Array(body), dispatcher } as RequestInit))
      .status;
  };
  expect(await upload("/mms/image", FILE)).toBe(200);
  expect(await upload("/mms/image", FILE.subarray(1))).toBe(400);
  expect(await upload("/mms/image", FILE, "nobody")).toBe(401);
  expect(await upload("/mms/nothing", FILE)).toBe(404);
  for (const rule of ["media_hash", "media_auth", "media_path"]) await sim.expectViolation(rule);
  await expect(fetch(sim.mediaUrl)).rejects.toThrow("fetch failed");
});

test("a file whose bytes changed on the way is a violation when a phone loads it", async () => {
  const { sim, client } = await linked();
  const sent = await client.socket.sendMessage(GUEST_JID, { sticker: FILE });
  const { id, media } = await sim.waitForMessage(GUEST, { id: sent!.key.id! });
  const { server } = sim as unknown as { server: { media: { find(path: string): { bytes: Buffer } } } };
  server.media.find(media!.directPath).bytes[5]! ^= 1;
  await expect(sim.mediaOf(GUEST, id)).rejects.toThrow("the hash of the stored bytes");
  expect(await sim.expectViolation("media_wrong")).toHaveLength(1);
});

test("a file that is gone is stored again by the owner's phone when the client asks", async () => {
  const { sim, client } = await linked();
  const { id } = await sim.send(GUEST, NUMBER, { kind: "image", bytes: FILE });
  const message = await arrival(client, id);
  await sim.faults.mediaGone({ id, status: 410 });
  await expect(download(sim, client, message)).rejects.toThrow("Failed to fetch stream");
  // Baileys takes the host of the new address from here.
  await client.socket.refreshMediaConn();
  const again = await client.socket.updateMediaMessage(message);
  expect(sha256(await download(sim, client, again))).toBe(sha256(FILE));
  const statuses = (await sim.mediaRequests({ direction: "download" })).map(({ status }) => status);
  expect(statuses).toEqual([410, 200]);
});

test("a phone that has the file no more says so, and a silent one says nothing", async () => {
  const { sim, client } = await linked();
  const { id } = await sim.send(GUEST, NUMBER, { kind: "image", bytes: FILE });
  const message = await arrival(client, id);
  await sim.faults.mediaGone({ id, reupload: "not_found" });
  await expect(client.socket.updateMediaMessage(message)).rejects.toThrow("NOT_FOUND");
  await sim.faults.mediaGone({ id, reupload: "silent" });
  const unanswered = client.socket.updateMediaMessage(message).catch((error: Error) => error.message);
  const phone = {
    number: NUMBER,
    device: 0,
    tag: "receipt",
    type: "server-error",
    direction: "out",
  } as const;
  await until("the phone was asked", async () => (await sim.countStanzas(phone)) === 2);
  await sim.settle();
  const answers = { number: NUMBER, device: 1, type: "mediaretry", direction: "out" } as const;
  expect(await sim.countStanzas(answers)).toBe(1);
  await client.end();
  expect(await unanswered).toBe("Connection Closed");
});

test("the media host can be slow, broken, and out of order", async () => {
  const { sim, client } = await linked();
  const { id } = await sim.send(GUEST, NUMBER, { kind: "image", bytes: FILE });
  const message = await arrival(client, id);
  await sim.faults.mediaStatus({ direction: "download", status: 503 });
  await expect(download(sim, client, message)).rejects.toThrow("Failed to fetch stream");
  // Without Baileys: a download that breaks off ends its process with an uncaught error.
  const { url, directPath } = message.message!.imageMessage!;
  const stored = async (signal?: AbortSignal): Promise<Buffer> => {
    const { dispatcher } = trusting(sim).options as never;
    const response = await fetch(`${new URL(url!).origin}${directPath}`, {
      dispatcher,
      signal,
    } as RequestInit);
    return Buffer.from(await response.arrayBuffer());
  };
  const whole = await stored();
  await sim.faults.mediaBroken({ how: "truncated" });
  await expect(stored()).rejects.toThrow("terminated");
  await sim.faults.mediaBroken({ how: "stalled" });
  await expect(stored(AbortSignal.timeout(200))).rejects.toThrow("aborted");
  await sim.faults.mediaBroken({ how: "corrupt" });
  expect(await stored()).not.toEqual(whole);
  expect(await stored()).toEqual(whole);
  await sim.faults.mediaSlow({ direction: "download", bytesPerSecond: 350_000, times: 1 });
  const started = Date.now();
  expect(sha256(await download(sim, client, message))).toBe(sha256(FILE));
  expect(Date.now() - started).toBeGreaterThan(150);
  await sim.faults.mediaStatus({ direction: "upload", status: 500, times: 1 });
  await expect(client.socket.sendMessage(GUEST_JID, { sticker: FILE })).rejects.toThrow("all hosts");
});

test("pictures in full: dimensions and thumbnail as the client computes them", async () => {
  const { sim, client } = await linked();
  const picture = await sharp({ create: { width: 320, height: 200, channels: 3, background: "teal" } })
    .jpeg()
    .toBuffer();
  const sent = await client.socket.sendMessage(GUEST_JID, { image: picture, caption: "teal" });
  const { text, media } = await sim.waitForMessage(GUEST, { id: sent!.key.id! });
  expect(text).toBe("teal");
  expect(media).toMatchObject({ width: 320, height: 200 });
  expect(media!.thumbnailBytes).toBeGreaterThan(100);
});
