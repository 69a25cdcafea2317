import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { mp4, opus, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const PICTURE = png(40, 20).toString("base64");

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({
    again: Object.keys(env).length === 0,
    env: { SEND_WAIT_MS: "3000", ...env },
  });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

const say = ({ gateway, key }: World, fields: object) =>
  gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Hello", ...fields }, { key });

const sendPicture = ({ gateway, key }: World, fields: object) =>
  gateway.post(
    "/send-media",
    { sender: SHOP, number: ANA, media_type: "image", data: PICTURE, ...fields },
    { key },
  );

/** As phones record it, so that nothing has to be converted. */
const sendVoice = ({ gateway, key }: World, fields: object) => {
  const data = opus().toString("base64");
  const note = { sender: SHOP, number: ANA, media_type: "audio", ptt: "vn", data, ...fields };
  return gateway.post("/send-media", note, { key });
};

const jid = (number: string): string => `${number}@s.whatsapp.net`;

describe("what every send takes", () => {
  it("quotes a message of the chat, and says where it is not known", async () => {
    const world = await openShop();
    const { sim } = world;
    const asked = await sim.sendText(ANA, SHOP, "Are you open?");
    await until(
      async () => (await world.gateway.get(`/messages/${asked.id}`, { key: world.key })).status === 200,
    );
    const both = await say(world, { number: `${ANA}|${BEN}`, quote: asked.id });
    const [toAna, toBen] = both.body.results;
    expect(toAna).toEqual({ number: ANA, status: true, state: "sent", id: expect.any(String) });
    expect(toBen).toEqual({ ...toAna, number: BEN, id: expect.any(String), quoted: false });
    expect(await sim.waitForMessage(ANA, { id: toAna.id })).toMatchObject({ quoted: { id: asked.id } });
    expect(await sim.waitForMessage(BEN, { id: toBen.id })).not.toHaveProperty("quoted");

    const again = { quote: "3A00000000000000", idempotency_key: "one" };
    const first = await say(world, again);
    expect(first.body.results[0]).toMatchObject({ quoted: false });
    expect((await say(world, again)).body).toEqual(first.body);
    expect((await say(world, { quote: asked.id, msgid: asked.id })).status).toBe(200);
    expect(await say(world, { quote: asked.id, msgid: "other" })).toMatchObject({
      status: 400,
      body: { errors: { fields: { quote: expect.anything() } } },
    });
  });

  it("mentions people, and everybody of a group, in whatever is sent", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
    const two = await say(world, {
      number: group,
      message: `@${ANA} and @${BEN}`,
      mentions: [`+${ANA}`, BEN, "77@lid", ANA],
    });
    expect((await sim.waitForMessage(ANA, { id: two.body.id })).mentions).toEqual([
      jid(ANA),
      jid(BEN),
      "77@lid",
    ]);

    const all = await sendPicture(world, { number: group, caption: "Look", mention_all: "yes" });
    const arrived = await sim.waitForMessage(BEN, { id: all.body.id });
    expect(arrived).toMatchObject({ kind: "image", text: "Look" });
    expect(arrived.mentions).toHaveLength(3);

    const poll = { sender: SHOP, number: group, name: "Lunch?", option: ["Yes", "No"], mention_all: true };
    const asked = await gateway.post("/send-poll", poll, { key });
    expect((await sim.waitForMessage(ANA, { id: asked.body.id })).mentions).toHaveLength(3);
    const alone = await say(world, { mention_all: true });
    expect(await sim.waitForMessage(ANA, { id: alone.body.id })).not.toHaveProperty("mentions");

    const query = new URLSearchParams({ api_key: key, sender: SHOP, number: ANA, message: "x" });
    const byGet = await gateway.get(`/send-message?${query}&mentions=${ANA},${BEN}`);
    expect((await sim.waitForMessage(ANA, { id: byGet.body.id })).mentions).toEqual([jid(ANA), jid(BEN)]);
    for (const mentions of [["everybody"], [group], Array.from({ length: 1_025 }, () => ANA)])
      expect(await say(world, { mentions })).toMatchObject({ status: 400 });
  });

  it("shows typing first, and recording before a voice note", async () => {
    const world = await openShop();
    const { sim } = world;
    // Her phone is on.
    await sim.sendText(ANA, SHOP, "Hello?");
    const { body } = await say(world, { typing: 1 });
    expect(body.results[0].state).toBe("sent");
    await sim.waitForMessage(ANA, { id: body.id });
    const note = await sendVoice(world, { typing: 1 });
    expect(note).toMatchObject({ status: 200, body: { results: [{ state: "sent" }] } });
    expect(await sim.waitForMessage(ANA, { id: note.body.id })).toMatchObject({ kind: "voice" });

    const shown = await sim.stanzas({ contact: ANA, tag: "chatstate", direction: "out" });
    expect(shown.flatMap(({ children }) => children)).toEqual(["composing", "composing"]);
    expect(shown.flatMap(({ childAttrs }) => childAttrs)).toEqual([{}, { media: "audio" }]);
    const messages = await sim.stanzas({ contact: ANA, tag: "message", direction: "out" });
    for (const [index, { id }] of [body, note.body].entries()) {
      const message = messages.find(({ attrs }) => attrs["id"] === id);
      expect(message!.at - shown[index]!.at).toBeGreaterThanOrEqual(900);
    }
    for (const typing of [11, -1, "soon"]) expect((await say(world, { typing })).status).toBe(400);
  });

  it("lets a picture be opened once, and refuses that for what cannot be", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const once = await sendPicture(world, { view_once: true, caption: "Secret" });
    expect(await sim.waitForMessage(ANA, { id: once.body.id })).toMatchObject({
      kind: "image",
      text: "Secret",
      viewOnce: true,
    });
    expect((await sim.mediaOf(ANA, once.body.id)).bytes.length).toBeGreaterThan(0);
    const open = await sendPicture(world, { view_once: "off" });
    expect(await sim.waitForMessage(ANA, { id: open.body.id })).not.toHaveProperty("viewOnce");

    const refused = { status: 400, body: { errors: { fields: { view_once: expect.anything() } } } };
    expect(await say(world, { view_once: true })).toMatchObject(refused);
    expect(await sendPicture(world, { view_once: true, media_type: "document" })).toMatchObject(refused);
    expect(await sendPicture(world, { view_once: "perhaps" })).toMatchObject(refused);
    const place = { sender: SHOP, number: ANA, latitude: 1, longitude: 2, view_once: 1 };
    expect(await gateway.post("/send-location", place, { key })).toMatchObject(refused);
  });

  it("lets a voice note and a video be opened once as well", async () => {
    const world = await openShop();
    const { sim } = world;
    const film = { media_type: "video", data: mp4().toString("base64"), caption: "Secret" };
    for (const [kind, send] of [
      ["voice", (once: boolean) => sendVoice(world, { view_once: once })],
      ["video", (once: boolean) => sendPicture(world, { ...film, view_once: once })],
    ] as const) {
      const once = await send(true);
      const arrived = await sim.waitForMessage(ANA, { id: once.body.id });
      expect(arrived).toMatchObject({ kind, viewOnce: true });
      expect((await sim.mediaOf(ANA, once.body.id)).bytes.length).toBeGreaterThan(0);
      const open = await send(false);
      const again = await sim.waitForMessage(ANA, { id: open.body.id });
      expect(again).toMatchObject({ kind });
      expect(again).not.toHaveProperty("viewOnce");
    }
    // Sound that is no voice note cannot be.
    const song = await sendVoice(world, { ptt: undefined, view_once: true });
    expect(song).toMatchObject({
      status: 400,
      body: { errors: { fields: { view_once: expect.anything() } } },
    });
  });

  it("never sends what has expired, and refuses times that are over or too far", async () => {
    const world = await openShop();
    const { sim } = world;
    await sim.faults.holdAcks({ number: SHOP });
    await sim.faults.holdDeliveries({ number: SHOP });
    const held = await say(world, { message: "First" });
    const short = await say(world, { expires: 1, message: "Too late" });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const long = await say(world, { expires: inAnHour, message: "In time" });
    expect([held.status, short.status, long.status]).toEqual([202, 504, 202]);
    expect(short.body.errors.code).toBe("EXPIRED");
    await sim.faults.releaseAcks({ number: SHOP });
    await sim.faults.releaseDeliveries({ number: SHOP });
    await sim.waitForMessage(ANA, { id: long.body.id });
    expect(await record(world, short.body.results[0].id)).toMatchObject({ state: "expired" });
    expect((await sim.transcript({ contact: ANA })).map(({ text }) => text)).toEqual(["First", "In time"]);

    const over = new Date(Date.now() - 1_000).toISOString();
    for (const expires of [over, 366 * 24 * 3_600, "2099-01-01T00:00:00+02:00"])
      expect(await say(world, { expires })).toMatchObject({
        status: 422,
        body: { errors: { code: "TIME_NOT_USABLE", fields: { expires: expect.anything() } } },
      });
    for (const expires of ["tomorrow", 0, -5, "2030-01-31T12:00:00", 1.5])
      expect(await say(world, { expires })).toMatchObject({ status: 400 });
  });
});

const record = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;

const BOT = `import { defineBot } from "parley";
export default defineBot({ enable: "all", chats: ["dm", "group"] }, (b) => {
  b.keyword("all", (ctx) => { ctx.reply("Everybody!", { mentionAll: true, typing: "1s", expires: "1h" }); });
  b.keyword("once", (ctx) => { ctx.image({ bytes: Buffer.from("${PICTURE}", "base64") }, { viewOnce: true }); });
});`;

describe("the same of bots and webhooks", () => {
  it("comes with a bot's reply", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bots-"));
    onTestFinished(() => removeFolder(folder));
    writeFileSync(join(folder, "manners.ts"), BOT);
    const world = await openShop({ BOTS_DIR: folder });
    const { sim } = world;
    const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
    await sim.sendText(ANA, group, "all");
    const shouted = await sim.waitForMessage(BEN, { text: "Everybody!" });
    expect(shouted.mentions).toHaveLength(3);
    await sim.sendText(ANA, SHOP, "once");
    expect(await sim.waitForMessage(ANA, { kind: "image" })).toMatchObject({ viewOnce: true });
  });

  it("comes with a webhook's reply; what would change its meaning keeps it back", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const first = await sim.sendText(ANA, SHOP, "first");
    await until(async () => (await gateway.get(`/messages/${first.id}`, { key })).status === 200);
    const receiver = await startReceiver([
      { text: "quoting", quote: first.id, mentions: [ANA], typing: 0 },
      { text: "sent anyway", mentions: "nobody at all" },
      { text: "never", expires: "2020-01-01T00:00:00Z" },
      { text: "never", view_once: true },
      { text: "never", expires: "soon" },
    ]);
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    await sim.sendText(ANA, SHOP, "second");
    const quoting = await sim.waitForMessage(ANA, { text: "quoting" });
    expect(quoting).toMatchObject({ quoted: { id: first.id }, mentions: [jid(ANA)] });
    await sim.waitForMessage(ANA, { text: "sent anyway" });
    const [delivery] = (await gateway.get(`/deliveries?device=${SHOP}`, { key })).body.data;
    const { reply } = (await gateway.get(`/deliveries/${delivery.id}`, { key })).body.data;
    expect(reply.ids).toHaveLength(2);
    expect(reply.ignored.join("\n")).toMatch(/replies\[1\]: mentions/);
    expect(reply.ignored.join("\n")).toMatch(/replies\[4\]: expires/);
    expect(reply.ignored.join("\n")).toMatch(/TIME_NOT_USABLE/);
    expect(reply.ignored.join("\n")).toMatch(/view_once/);
  });
});
