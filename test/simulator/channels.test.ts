import { createHash } from "node:crypto";
import { Agent as TlsAgent, request } from "node:https";
import { generateMessageIDV2 } from "@whiskeysockets/baileys";
import type { BinaryNode, proto as Proto } from "@whiskeysockets/baileys";
import sharp from "sharp";
import { expect, test } from "vitest";
import type { ChannelInfo, Simulator } from "../../src/simulator/index.ts";
import { link, proto, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const ADMIN = "31600000002";

async function linked(
  options: { admin?: boolean } = {},
): Promise<{ sim: Simulator; client: Client; channel: ChannelInfo }> {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ADMIN);
  const channel = await sim.addChannel({
    name: "News",
    description: "All of it",
    admins: options.admin ? [ADMIN, NUMBER] : [ADMIN],
    otherFollowers: 41,
  });
  const client = await link(sim, NUMBER, { fetchAgent: new TlsAgent({ ca: sim.ca }) });
  return { sim, client, channel };
}

/** The server's ack for a message that goes out now. */
async function acked(client: Client, id: string, send: () => Promise<unknown>): Promise<BinaryNode["attrs"]> {
  const found: BinaryNode["attrs"][] = [];
  client.socket.ws.on("CB:ack,class:message", ({ attrs }: BinaryNode) => {
    if (attrs.id === id) found.push(attrs);
  });
  await send();
  return await until("ack", () => found[0]);
}

const newId = (): string => generateMessageIDV2();

test("a channel is found by its invite code or address, followed and left", async () => {
  const { sim, client, channel } = await linked();
  const { socket } = client;
  for (const [type, key] of [
    ["invite", channel.invite],
    ["jid", channel.id],
  ] as const) {
    const found = (await socket.newsletterMetadata(type, key)) as unknown as {
      id: string;
      thread_metadata: { name: { text: string }; subscribers_count: string };
      viewer_metadata: { role: string };
    };
    expect(found).toMatchObject({ id: channel.id, viewer_metadata: { role: "GUEST" } });
    expect(found.thread_metadata).toMatchObject({ name: { text: "News" }, subscribers_count: "41" });
  }
  await expect(socket.newsletterMetadata("invite", "nothing")).rejects.toThrow("Not Found");
  await socket.newsletterFollow(channel.id);
  expect((await sim.channel(channel.id)).followers).toEqual([NUMBER]);
  await socket.newsletterUnfollow(channel.id);
  expect((await sim.channel(channel.id)).followers).toEqual([]);
});

test("posts reach followers in plaintext with their number, and are acknowledged", async () => {
  const { sim, client, channel } = await linked();
  await client.socket.newsletterFollow(channel.id);
  const post = await sim.postInChannel(channel.id, "hello all", { by: ADMIN });
  const { message, type } = await client.untilText("hello all");
  expect(type).toBe("notify");
  expect(message.key).toMatchObject({ id: post.id, remoteJid: channel.id, server_id: String(post.serverId) });
  const picture = await sim.postInChannel(channel.id, {
    kind: "image",
    bytes: Buffer.from("jpeg"),
    caption: "see",
  });
  await until("picture", () => client.received.find((entry) => entry.message.key.id === picture.id));
  await until("acks", async () => (await sim.pending(NUMBER)) === 0);
  const answer = await client.socket.newsletterFetchMessages(channel.id, 10, undefined as never, 0);
  expect(JSON.stringify(answer)).toContain(`"server_id":"${picture.serverId}"`);
});

test("an admin's text is posted, others' texts and polls are refused", async () => {
  const { sim, client, channel } = await linked({ admin: true });
  const id = newId();
  const ack = await acked(client, id, () =>
    client.socket.sendMessage(channel.id, { text: "from us" }, { messageId: id }),
  );
  expect(ack).toMatchObject({ server_id: "100", from: channel.id });
  expect(ack.error).toBeUndefined();
  expect(await sim.waitForPost(channel.id, { text: "from us" })).toMatchObject({
    id,
    from: NUMBER,
    serverId: 100,
  });
  const poll = { name: "Colour?", values: ["a", "b"], selectableCount: 1 };
  const pollId = newId();
  const refused = await acked(client, pollId, () =>
    client.socket.sendMessage(channel.id, { poll }, { messageId: pollId }),
  );
  expect(refused.error).toBe("479");
  await sim.changeChannel(channel.id, { removeAdmins: [NUMBER] });
  const late = newId();
  const text = () => client.socket.sendMessage(channel.id, { text: "late" }, { messageId: late });
  expect((await acked(client, late, text)).error).toBe("403");
  expect(await sim.channelPosts(channel.id)).toHaveLength(1);
});

/** Uploads as real clients do for channels. */
async function upload(sim: Simulator, client: Client, path: string, body: Buffer) {
  const { auth, hosts } = await client.socket.refreshMediaConn();
  const name = createHash("sha256").update(body).digest("base64url");
  const query = `auth=${encodeURIComponent(auth)}&token=${name}&server_thumb_gen=1`;
  const url = `https://${hosts[0]!.hostname}${path}/${name}?${query}`;
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(url, { method: "POST", ca: sim.ca }, (response) => {
      let all = "";
      response.on("data", (part) => (all += part)).on("end", () => resolve(all));
    });
    sent.on("error", reject).end(body);
  });
  return JSON.parse(text) as { direct_path: string; thumbnail_info: { thumbnail_direct_path: string } };
}

test("a picture is posted when it was uploaded for channels, and refused when it was not", async () => {
  const { sim, client, channel } = await linked({ admin: true });
  const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
    .jpeg()
    .toBuffer();
  const post = async (image: Proto.Message.IImageMessage, mediatype?: string) => {
    const id = newId();
    const content = Buffer.from(proto.Message.encode({ imageMessage: image }).finish());
    const plaintext = { tag: "plaintext", attrs: mediatype ? { mediatype } : {}, content };
    const attrs = { to: channel.id, id, type: "media" };
    return await acked(client, id, () =>
      client.socket.sendNode({ tag: "message", attrs, content: [plaintext] } as BinaryNode),
    );
  };
  const facts = {
    fileSha256: createHash("sha256").update(picture).digest(),
    fileLength: picture.length,
    mimetype: "image/jpeg",
    caption: "red",
  };
  const right = await upload(sim, client, "/newsletter/newsletter-image", picture);
  expect(right.direct_path).toMatch(/^\/m1\//);
  expect(right.thumbnail_info.thumbnail_direct_path).toMatch(/^\/m1\//);
  const image = { ...facts, directPath: right.direct_path };
  expect((await post(image)).error).toBe("479");
  expect((await post(image, "image")).error).toBeUndefined();
  expect(await sim.waitForPost(channel.id, { kind: "image" })).toMatchObject({
    text: "red",
    media: { encrypted: false, size: picture.length },
  });

  // As Baileys does by itself: by the path of other chats.
  const id = newId();
  const sent = await acked(client, id, () =>
    client.socket.sendMessage(channel.id, { image: picture, jpegThumbnail: "" } as never, { messageId: id }),
  );
  expect(sent.error).toBe("479");
});
