import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { type LibrarySimulator, children, type BinaryNode } from "../../src/simulator/inside.ts";
import { startFileHost } from "../_setup/files.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { byFfmpeg, mp4, opus, pdf, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const send = ({ gateway, key }: World, fields: Record<string, unknown>) =>
  gateway.post("/send-media", { api_key: key, sender: SHOP, number: ANA, ...fields });

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function encsOf(node: BinaryNode): BinaryNode[] {
  return children(node).flatMap((part) => (part.tag === "enc" ? [part] : encsOf(part)));
}

/** Damages the copy for one phone in the next message of the shop. */
function damageNextFor(world: World, ...jids: string[]): void {
  let isDone = false;
  (world.sim as LibrarySimulator).server.hooks.received.push((connection, node) => {
    if (isDone || node.tag !== "message" || connection.device?.label !== `${SHOP}:1`) return false;
    isDone = true;
    const copies = children(node).flatMap((part) => children(part, "to"));
    const [enc] = encsOf(copies.find(({ attrs }) => jids.includes(attrs.jid!))!);
    const content = enc!.content as Uint8Array;
    content[content.length - 10]! ^= 1;
    return false;
  });
}

it("a phone that could not read a file's message gets the same again, also from a restarted gateway", async () => {
  const world = await openShop();
  const file = png(40, 40);
  const host = await startFileHost({ "/a.png": file });
  await world.sim.faults.holdDeliveries({ number: SHOP });
  damageNextFor(world, `${ANA}@s.whatsapp.net`, (await world.sim.contact(ANA)).lid);
  const answer = await send(world, { media_type: "image", url: host.url("/a.png"), caption: "Look" });
  expect(answer.body).toMatchObject({ state: "sent" });
  const id: string = answer.body["id"];
  await world.sim.expectViolation("undecryptable", { timeoutMs: 10_000 });

  await world.gateway.restart();
  await world.online(SHOP);
  await world.sim.faults.releaseDeliveries({ number: SHOP });

  const got = await world.sim.waitForMessage(ANA, { id, text: "Look" }, 30_000);
  expect(got.kind).toBe("image");
  expect(sha((await world.sim.mediaOf(ANA, id)).bytes)).toBe(sha(file));
  expect(await world.sim.mediaRequests({ direction: "upload" })).toHaveLength(1);
});

it("files in channels are stored for channels, unencrypted, and a refusal is told", async () => {
  const world = await openShop();
  const host = await startFileHost({
    "/a.png": png(300, 200),
    "/a.pdf": pdf(),
    "/a.ogg": opus(),
    "/a.mp4": mp4(),
  });
  const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
  await world.gateway.post("/channels", { sender: SHOP, channel: channel.id }, { key: world.key });
  const types = [
    ["image", "/a.png", "image"],
    ["pdf", "/a.pdf", "document"],
    ["audio", "/a.ogg", "voice"],
    ["video", "/a.mp4", "video"],
  ] as const;
  for (const [media_type, path, kind] of types) {
    const answer = await send(world, { number: channel.id, media_type, url: host.url(path), ptt: "vn" });
    expect(answer.body).toMatchObject({ status: true, state: "sent" });
    const post = await world.sim.waitForPost(channel.id, { id: answer.body["id"] });
    expect(post).toMatchObject({ kind, media: { encrypted: false } });
  }
  const uploads = await world.sim.mediaRequests({ direction: "upload" });
  expect(uploads.map(({ type }) => type)).toEqual([
    "newsletter-image",
    "newsletter-document",
    "newsletter-audio",
    "newsletter-video",
  ]);

  await world.sim.faults.errorAck({ number: SHOP, to: channel.id, code: 479, times: 2 });
  const refused = await send(world, { number: channel.id, media_type: "pdf", url: host.url("/a.pdf") });
  expect(refused.status).toBe(502);
  expect(refused.body["errors"]).toEqual({
    code: "WHATSAPP_REFUSED",
    message: "WhatsApp refused the message with error 479.",
    whatsapp_code: 479,
  });
});

it("one request may name a channel and people: each gets its own kind of copy of one fetch", async () => {
  const world = await openShop();
  const file = pdf();
  const host = await startFileHost({ "/a.pdf": file });
  const channel = await world.sim.addChannel({ name: "Shop news", admins: [SHOP] });
  await world.gateway.post("/channels", { sender: SHOP, channel: channel.id }, { key: world.key });
  const answer = await send(world, {
    number: `${ANA}|${channel.id}`,
    media_type: "pdf",
    url: host.url("/a.pdf"),
  });
  expect(answer.body["results"]).toMatchObject([{ state: "sent" }, { state: "sent" }]);
  const [toAna] = answer.body["results"];
  await world.sim.waitForMessage(ANA, { id: toAna.id });
  expect(sha((await world.sim.mediaOf(ANA, toAna.id)).bytes)).toBe(sha(file));
  const post = await world.sim.waitForPost(channel.id, {});
  expect(post.media).toMatchObject({ encrypted: false, sha256: sha(file), fileName: "a.pdf" });
  expect(host.requests).toEqual(["/a.pdf"]);
});

it("a converter does not outlive the gateway, nor do files in the clear its next start", async () => {
  const world = await openShop();
  const long = byFfmpeg("flac", "-f lavfi -i anoisesrc=duration=1500:sample_rate=8000:amplitude=0.01");
  const host = await startFileHost({ "/long.flac": long });
  const asked = send(world, { media_type: "audio", url: host.url("/long.flac"), ptt: "vn" }).catch(
    () => null,
  );
  const converters = (): string =>
    execFileSync("ps", ["-eo", "args"])
      .toString()
      .split("\n")
      .filter((line) => line.includes("libopus") && line.includes(world.gateway.dataDir))
      .join("\n");
  await until(() => converters() !== "");
  await world.gateway.kill();
  await asked;
  await until(() => converters() === "");
  await world.gateway.restart();
  const left = execFileSync("find", [`${world.gateway.dataDir}/tmp`, "-type", "f"]).toString();
  expect(left).toBe("");
});
