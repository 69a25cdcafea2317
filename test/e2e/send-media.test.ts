import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { LoadedMedia } from "../../src/simulator/types.ts";
import { startFileHost } from "../_setup/files.ts";
import { opusOfComments } from "../_setup/hostile-media.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { cfb, docx, mp3, mp4, opus, pdf, png, wav, xlsx, zip } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const OFFICE = "application/vnd.openxmlformats-officedocument";

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: true, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const send = ({ gateway, key }: World, fields: Record<string, unknown>) =>
  gateway.post("/send-media", { api_key: key, sender: SHOP, number: ANA, ...fields });

/** What arrived at a phone under this id: loaded, its MAC and hashes checked, decrypted. */
async function arrived(
  world: World,
  id: string,
  person = ANA,
): Promise<LoadedMedia & { text: string; kind: string }> {
  const { kind, text = "" } = await world.sim.waitForMessage(person, { id });
  return { ...(await world.sim.mediaOf(person, id)), text, kind };
}

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const document = (extension: string, mimetype: string): object => ({
  kind: "document",
  mimetype,
  fileName: `Look.${extension}`,
  text: "",
});

/** Everything that lies in the gateway's folder, as far as files are concerned. */
function filesOf({ gateway }: World, folder: "media" | "tmp"): string[] {
  return readdirSync(join(gateway.dataDir, folder), { recursive: true, encoding: "utf8" }).filter(
    (name) => name !== "in",
  );
}

describe("POST /send-media", () => {
  it("sends each type with its bytes, name and mimetype", async () => {
    const world = await openShop();
    const image = { kind: "image", mimetype: "image/png", text: "Look", width: 400, height: 200 };
    const video = { kind: "video", mimetype: "video/mp4", text: "Look", width: 320, height: 180, seconds: 2 };
    const audio = { kind: "audio", mimetype: "audio/mpeg", seconds: 3, text: "" };
    const types: Record<string, [Buffer, object]> = {
      image: [png(400, 200), image],
      video: [mp4(), video],
      audio: [mp3(), audio],
      pdf: [pdf(), document("pdf", "application/pdf")],
      xls: [cfb("Workbook"), document("xls", "application/vnd.ms-excel")],
      xlsx: [xlsx(), document("xlsx", `${OFFICE}.spreadsheetml.sheet`)],
      doc: [cfb("WordDocument"), document("doc", "application/msword")],
      docx: [docx(), document("docx", `${OFFICE}.wordprocessingml.document`)],
      zip: [zip({ "a.txt": "a" }), document("zip", "application/zip")],
      mp3: [mp3(), document("mp3", "audio/mpeg")],
      xml: [Buffer.from('<?xml version="1.0"?><order id="1"/>'), document("xml", "application/xml")],
    };
    const host = await startFileHost(
      Object.fromEntries(Object.entries(types).map(([type, [file]]) => [`/files/my ${type}`, file])),
    );

    for (const [type, [file, expected]] of Object.entries(types)) {
      const answer = await send(world, {
        media_type: type,
        url: host.url(`/files/my%20${type}`),
        caption: "Look",
      });
      expect(answer.body).toMatchObject({
        status: true,
        state: "sent",
        msg: "Message sent successfully!",
      });
      const got = await arrived(world, answer.body["id"]);
      expect(got).toMatchObject({ ...expected, size: file.length, encrypted: true });
      expect(sha(got.bytes)).toBe(sha(file));
      expect(got.thumbnailBytes > 100).toBe(type === "image" || type === "video");
    }
    expect(host.requests).toHaveLength(Object.keys(types).length);
    expect(filesOf(world, "tmp")).toEqual([]);
  });

  it("is listed with an address that gives the file, as it was sent, to whoever has it", async () => {
    const world = await openShop();
    await world.sim.addContact(BEN);
    const { gateway, key } = world;
    const files = {
      "/look.png": png(40, 20),
      "/my invoice.pdf": pdf(),
      "/opus": opus(1),
    };
    const host = await startFileHost(files);
    await send(world, { media_type: "image", url: host.url("/look.png"), caption: "Look" });
    await send(world, { media_type: "pdf", url: host.url("/my%20invoice.pdf"), number: `${ANA}|${BEN}` });
    await send(world, { media_type: "audio", url: host.url("/opus"), ptt: "vn" });

    const { data } = (await gateway.get("/messages?direction=out", { key })).body as {
      data: { type: string; media: Record<string, unknown> & { url: string } }[];
    };
    const kinds = ["voice", "document", "document", "image"];
    expect(data.map(({ type }) => type)).toEqual(kinds);
    expect(data.map(({ media }) => media["type"])).toEqual(kinds);
    const [voice, invoice] = data;
    expect(invoice!.media).toEqual({
      type: "document",
      mimetype: "application/pdf",
      fileName: "my invoice.pdf",
      size: pdf().length,
      url: expect.stringMatching(new RegExp(`^${gateway.url}/media/`)),
    });
    const contents = [files["/opus"], files["/my invoice.pdf"], files["/my invoice.pdf"], files["/look.png"]];
    for (const [index, { media }] of data.entries()) {
      const answer = await fetch(media.url);
      expect(answer.headers.get("content-type")).toBe(media["mimetype"]);
      expect(sha(Buffer.from(await answer.arrayBuffer()))).toBe(sha(contents[index]!));
    }
    const named = (await fetch(invoice!.media.url)).headers.get("content-disposition");
    expect(named).toContain('filename="my invoice.pdf"');
    // Signed: another message's name in it is nobody's.
    const [other] = voice!.media.url.split(".").slice(-1);
    expect((await fetch(invoice!.media.url.replace(/\.[\w-]+$/, `.${other}`))).status).toBe(404);

    await gateway.patch(`/admin/accounts/${world.account}`, { enabled: false }, { key: gateway.adminToken });
    expect((await fetch(invoice!.media.url)).status).toBe(404);
    await gateway.patch(`/admin/accounts/${world.account}`, { enabled: true }, { key: gateway.adminToken });
    expect((await fetch(invoice!.media.url)).status).toBe(200);
    await gateway.delete(`/devices/${SHOP}`, { key });
    expect((await fetch(invoice!.media.url)).status).toBe(404);
  });

  it("names a document by the server's header, then by the address", async () => {
    const world = await openShop();
    const host = await startFileHost({
      "/get": (_request, response) => response.writeHead(302, { location: "/real?id=3" }).end(),
      "/real": (_request, response) =>
        response
          .writeHead(200, { "content-disposition": "attachment; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf" })
          .end(pdf()),
      "/invoices/march.pdf": pdf(),
    });
    const first = await send(world, { media_type: "pdf", url: host.url("/get") });
    expect((await arrived(world, first.body["id"])).fileName).toBe("Rechnung März.pdf");
    const second = await send(world, { media_type: "pdf", url: host.url("/invoices/march.pdf?key=1") });
    expect((await arrived(world, second.body["id"])).fileName).toBe("march.pdf");
  });

  it("takes a query string as well, and quotes", async () => {
    const world = await openShop();
    const host = await startFileHost({ "/a.png": png() });
    const { id } = await world.sim.sendText(ANA, SHOP, "a picture, please");
    const query = new URLSearchParams({
      api_key: world.key,
      sender: SHOP,
      number: ANA,
      media_type: "image",
      url: host.url("/a.png"),
      caption: "here you are",
      msgid: id,
    });
    await until(async () => (await world.sim.pending(SHOP)) === 0);
    const answer = await world.gateway.get(`/send-media?${query}`);
    expect(answer.status).toBe(200);
    const got = await world.sim.waitForMessage(ANA, { id: answer.body["id"] });
    expect(got).toMatchObject({ kind: "image", text: "here you are", quoted: { id } });
  });

  it("fetches once and uploads once for ten people, groups and LID chats", async () => {
    const world = await openShop();
    const file = png(64, 64);
    const host = await startFileHost({ "/a.png": file });
    const people = await world.sim.addContacts(8, { prefix: "49152" });
    const hidden = await world.sim.addContact("4915300000001", { hidesNumber: true });
    const group = await world.sim.addGroup({ subject: "Team", members: [SHOP, ANA], creator: SHOP });

    const answer = await send(world, {
      number: [...people, hidden.lid, group.id].join("|"),
      media_type: "image",
      url: host.url("/a.png"),
    });

    expect(answer.body).toMatchObject({ status: true, msg: "Message sent successfully!" });
    expect(answer.body["results"]).toHaveLength(10);
    for (const [index, { id }] of answer.body["results"].entries()) {
      const person = [...people, hidden.number, ANA][index]!;
      expect(sha((await arrived(world, id, person)).bytes)).toBe(sha(file));
    }
    expect(host.requests).toEqual(["/a.png"]);
    expect(await world.sim.mediaRequests({ direction: "upload" })).toHaveLength(1);
    expect(filesOf(world, "media")).toHaveLength(1);
    expect(filesOf(world, "tmp")).toEqual([]);
    const [kept] = filesOf(world, "media");
    expect(readFileSync(join(world.gateway.dataDir, "media", kept!)).includes(file.subarray(0, 16))).toBe(
      false,
    );
  });
});

describe("a voice note", () => {
  it("is made of audio and of mp3, with duration and waveform", async () => {
    const world = await openShop();
    const host = await startFileHost({ "/a.wav": wav(4), "/a.mp3": mp3() });
    for (const [media_type, path, seconds] of [
      ["audio", "/a.wav", 4],
      ["mp3", "/a.mp3", 3],
    ] as const) {
      const answer = await send(world, { media_type, url: host.url(path), ptt: "vn", caption: "ignored" });
      const got = await arrived(world, answer.body["id"]);
      expect(got).toMatchObject({
        kind: "voice",
        ptt: true,
        mimetype: "audio/ogg; codecs=opus",
        seconds,
        text: "",
      });
      expect(got.waveform).toHaveLength(64);
      expect(Math.max(...got.waveform!)).toBe(100);
      expect(Buffer.from(got.bytes).toString("latin1", 0, 4)).toBe("OggS");
    }
    const other = await send(world, { media_type: "audio", url: host.url("/a.mp3"), ptt: "yes" });
    expect(await arrived(world, other.body["id"])).toMatchObject({ kind: "audio", mimetype: "audio/mpeg" });
    expect(filesOf(world, "tmp")).toEqual([]);
  });

  it("needs no converter when it is one already; else the missing one is named, and videos go all the same", async () => {
    const note = opus();
    const film = mp4();
    const world = await openShop({ PATH: "/nowhere" });
    const host = await startFileHost({
      "/a.ogg": note,
      "/long.ogg": opusOfComments(200_000),
      "/a.wav": wav(1),
      "/stereo.ogg": opus(2),
      "/a.mp4": film,
    });

    for (const media_type of ["audio", "mp3"]) {
      const passed = await send(world, { media_type, url: host.url("/a.ogg"), ptt: "vn" });
      const got = await arrived(world, passed.body["id"]);
      expect(got).toMatchObject({ kind: "voice", ptt: true, seconds: 3, mimetype: "audio/ogg; codecs=opus" });
      expect(sha(got.bytes)).toBe(sha(note));
      expect(got.waveform).toHaveLength(64);
      expect(Math.max(...got.waveform!)).toBe(100);
    }
    const long = await send(world, { media_type: "audio", url: host.url("/long.ogg"), ptt: "vn" });
    expect(await arrived(world, long.body["id"])).toMatchObject({ kind: "voice", seconds: 3 });
    // Without `vn` it is a document that is not what it is called.
    expect((await send(world, { media_type: "mp3", url: host.url("/a.ogg") })).status).toBe(422);

    for (const path of ["/a.wav", "/stereo.ogg"]) {
      const refused = await send(world, { media_type: "audio", url: host.url(path), ptt: "vn" });
      expect(refused).toMatchObject({
        status: 503,
        body: { status: false, errors: { code: "CONVERTER_MISSING" } },
      });
      expect(refused.body["msg"]).toContain("ffmpeg");
      // What to install is for the operator.
      expect(refused.body["msg"]).not.toMatch(/install|npm|apt/);
    }
    const video = await send(world, { media_type: "video", url: host.url("/a.mp4") });
    expect(await arrived(world, video.body["id"])).toMatchObject({ kind: "video", thumbnailBytes: 0 });
  });
});

describe("a file that cannot be sent", () => {
  it("is answered with what is wrong, and nothing is sent or kept", async () => {
    const world = await openShop({ MAX_MEDIA_BYTES: "100000" });
    const host = await startFileHost({
      "/page": Buffer.from("<!doctype html><html>Sign in to see this file</html>"),
      "/empty": Buffer.alloc(0),
      "/a.png": png(),
      "/a.pdf": pdf(),
      "/broken.png": png(300, 300).subarray(0, 2_000),
      "/large": Buffer.concat([pdf(), Buffer.alloc(100_000)]),
      "/endless": (_request, response) => {
        response.write(pdf());
        const more = setInterval(() => response.write(Buffer.alloc(16_384)), 1);
        response.once("close", () => clearInterval(more));
      },
      "/gzip": (_request, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(pdf())),
      "/circle": (_request, response) => void response.writeHead(302, { location: "/circle" }).end(),
      "/half": (_request, response) => {
        response.writeHead(200, { "content-length": "5000" });
        response.write(pdf(), () => response.destroy());
      },
    });
    const cases: [string, string, number, string, string][] = [
      ["pdf", "/page", 422, "FILE_NOT_USABLE", "an HTML page"],
      ["xml", "/page", 422, "FILE_NOT_USABLE", "an HTML page"],
      ["zip", "/page", 422, "FILE_NOT_USABLE", "an HTML page"],
      ["pdf", "/empty", 422, "FILE_NOT_USABLE", "an empty file"],
      ["pdf", "/a.png", 422, "FILE_NOT_USABLE", "a PNG file"],
      ["image", "/a.pdf", 422, "FILE_NOT_USABLE", "a PDF file"],
      ["docx", "/a.pdf", 422, "FILE_NOT_USABLE", "a PDF file"],
      ["image", "/broken.png", 422, "FILE_NOT_USABLE", "an image that cannot be read"],
      ["pdf", "/gzip", 422, "FILE_NOT_USABLE", "gzip"],
      ["pdf", "/large", 413, "FILE_TOO_LARGE", "MAX_MEDIA_BYTES"],
      ["pdf", "/endless", 413, "FILE_TOO_LARGE", "MAX_MEDIA_BYTES"],
      ["pdf", "/none", 422, "FILE_UNREACHABLE", "404"],
      ["pdf", "/circle", 422, "FILE_UNREACHABLE", "redirects"],
      ["pdf", "/half", 422, "FILE_UNREACHABLE", ""],
    ];
    for (const [media_type, path, status, code, words] of cases) {
      const answer = await send(world, { media_type, url: host.url(path) });
      const { errors, msg } = answer.body;
      expect({ path, status: answer.status, code: errors?.code }).toEqual({ path, status, code });
      expect(msg).toContain(words);
    }
    const nobody = await send(world, { media_type: "pdf", url: "http://127.0.0.1:9/a.pdf" });
    expect(nobody).toMatchObject({ status: 422, body: { errors: { code: "FILE_UNREACHABLE" } } });

    for (const [field, value] of [
      ["url", "ftp://files.example/a.pdf"],
      ["url", "/etc/passwd"],
      ["url", ""],
      ["media_type", "sticker"],
    ] as const) {
      const answer = await send(world, { media_type: "pdf", url: host.url("/a.pdf"), [field]: value });
      expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_PARAMETERS" } } });
      expect(answer.body["errors"].fields).toHaveProperty(field);
    }
    expect(filesOf(world, "media")).toEqual([]);
    expect(filesOf(world, "tmp")).toEqual([]);
    expect(await world.sim.messages(ANA)).toEqual([]);
    expect(await world.sim.mediaRequests()).toEqual([]);
  });

  it("is not fetched before sender, recipient and plan are known to be right", async () => {
    const world = await openShop();
    const host = await startFileHost({ "/a.pdf": pdf() });
    const file = { media_type: "pdf", url: host.url("/a.pdf") };
    await world.gateway.post("/devices", { device: "31600000002" }, { key: world.key });
    const narrow = await world.gateway.post(
      "/api-keys",
      { name: "narrow", permissions: ["media"], recipients: ["49160*"] },
      { key: world.key },
    );
    expect((await send(world, { ...file, sender: "31600000009" })).status).toBe(404);
    expect((await send(world, { ...file, sender: "31600000002" })).status).toBe(409);
    expect((await send(world, { ...file, number: "12" })).status).toBe(400);
    expect((await send(world, { ...file, api_key: narrow.body["api_key"] })).body["errors"].code).toBe(
      "RECIPIENT_NOT_ALLOWED",
    );
    expect(host.requests).toEqual([]);
  });

  it("is not fetched for a group that cannot be written to, which is told instead of the dead link", async () => {
    const world = await openShop();
    const made = { creator: ANA, members: [ANA, SHOP] };
    const closed = await world.sim.addGroup({ ...made, subject: "News", announce: true });
    const open = await world.sim.addGroup({ ...made, subject: "Talk" });
    const host = await startFileHost({ "/a.pdf": pdf() });
    const dead = { media_type: "pdf", url: host.url("/none") };
    const strange = "120363999999999999@g.us";

    expect(await send(world, { ...dead, number: closed.id })).toMatchObject({
      status: 403,
      body: { errors: { code: "CANNOT_SEND", reason: "only_admins" } },
    });
    const both = await send(world, { ...dead, number: `${closed.id}|${strange}` });
    expect(both.status).toBe(403);
    expect(both.body["results"]).toMatchObject([
      { number: closed.id, state: "failed", id: null, error: { code: "CANNOT_SEND" } },
      { number: strange, state: "failed", id: null, error: { code: "CANNOT_SEND" } },
    ]);
    expect(host.requests).toEqual([]);

    const file = { media_type: "pdf", url: host.url("/a.pdf") };
    const mixed = await send(world, { ...file, number: `${closed.id}|${open.id}` });
    expect(mixed.body["results"]).toMatchObject([
      { state: "failed", error: { code: "CANNOT_SEND" } },
      { state: "sent" },
    ]);
    const unreachable = await send(world, { ...dead, number: open.id });
    expect(unreachable.body["errors"].code).toBe("FILE_UNREACHABLE");
  });

  it("may not lie at a private address", async () => {
    const world = await openShop({ ALLOW_PRIVATE_NETWORK: "0" });
    const host = await startFileHost({ "/a.pdf": pdf() });
    for (const url of [
      host.url("/a.pdf"),
      host.url("/a.pdf").replace("127.0.0.1", "localhost"),
      "http://[::1]/a",
    ])
      expect(await send(world, { media_type: "pdf", url })).toMatchObject({
        status: 422,
        body: { errors: { code: "URL_NOT_ALLOWED" } },
      });
    expect(host.requests).toEqual([]);
  });
});

describe("POST /uploads", () => {
  const inParts = (file: Buffer, bytes: number): string[] =>
    Array.from({ length: Math.ceil(file.length / bytes) }, (_, index) =>
      file.subarray(index * bytes, (index + 1) * bytes).toString("base64"),
    );

  it("takes a file in parts, and its address is sent without the network, by the same account alone", async () => {
    const world = await openShop({ ALLOW_PRIVATE_NETWORK: "0" });
    const { gateway, key } = world;
    const file = Buffer.concat([pdf(), Buffer.alloc(1_500_000, "parley "), Buffer.from("%%EOF")]);
    const upload = (fields: object, by = key) =>
      gateway.post("/uploads", { sender: SHOP, ...fields }, { key: by });
    let after: string | undefined;
    let url = "";
    for (const data of inParts(file, 700_000)) {
      const kept = await upload({ data, name: "Menú.pdf", size: file.length, ...(after && { after }) });
      expect(kept.status).toBe(200);
      ({ id: after, url } = kept.body["data"]);
    }

    const sent = await send(world, { media_type: "pdf", url });
    expect(sent.body).toMatchObject({ status: true, state: "sent" });
    const got = await arrived(world, sent.body["id"]);
    expect(got).toMatchObject({ kind: "document", fileName: "Menú.pdf", size: file.length });
    expect(sha(got.bytes)).toBe(sha(file));
    const given = await fetch(url);
    expect(sha(Buffer.from(await given.arrayBuffer()))).toBe(sha(file));
    expect(filesOf(world, "tmp")).toEqual([]);

    const stranger = await gateway.createAccount();
    await gateway.post("/devices", { device: SHOP }, { key: stranger.key });
    const foreign = await upload({ data: "aGVsbG8=", after }, stranger.key);
    expect([foreign.status, foreign.body["errors"].fields]).toEqual([400, { after: [expect.any(String)] }]);
    expect(await upload({ data: "aGVsbG8", size: 1 })).toMatchObject({ status: 400 });
    expect(await upload({ data: "aGVsbG8=", size: 10 ** 10 })).toMatchObject({
      status: 413,
      body: { errors: { code: "FILE_TOO_LARGE" } },
    });
    const narrow = await gateway.post("/api-keys", { name: "x", permissions: ["messages"] }, { key });
    expect(await upload({ data: "aGVsbG8=" }, narrow.body["api_key"])).toMatchObject({ status: 403 });
  });
});

describe("WhatsApp's media host", () => {
  it("that fails, or may not be asked for now, is tried again: the send stays queued, then arrives", async () => {
    const world = await openShop({ SEND_WAIT_MS: "300" });
    const host = await startFileHost({ "/a.png": png() });
    await world.sim.faults.rateOverlimit({ number: SHOP, device: 1, of: { xmlns: "w:m" } });
    await world.sim.faults.mediaStatus({ direction: "upload", status: 503, times: 2 });
    const answer = await send(world, { media_type: "image", url: host.url("/a.png") });
    expect(answer).toMatchObject({ status: 202, body: { status: true, state: "queued" } });
    await until(async () => {
      const why = await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key });
      return /media service has not accepted files: .*503/.test(why.body["data"].advice);
    });
    expect((await arrived(world, answer.body["id"])).kind).toBe("image");
    const uploads = await world.sim.mediaRequests({ direction: "upload" });
    expect(uploads.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(host.requests).toHaveLength(1);
  });

  it("that refuses fails the send with its code", async () => {
    const world = await openShop();
    const host = await startFileHost({ "/a.png": png() });
    await world.sim.faults.mediaStatus({ direction: "upload", status: 415, times: 1 });
    const answer = await send(world, { media_type: "image", url: host.url("/a.png") });
    expect(answer).toMatchObject({
      status: 502,
      body: { status: false, state: "failed", errors: { code: "WHATSAPP_REFUSED", whatsapp_code: 415 } },
    });
  });

  it("gets a file once although the process dies before the ack: one message, one id", async () => {
    const world = await openShop();
    const file = png(32, 32);
    const host = await startFileHost({ "/a.png": file });
    await world.gateway.restart({ CRASH_AT: "before-ack" });
    await world.online(SHOP);
    await send(world, { media_type: "image", url: host.url("/a.png") }).catch(() => undefined);
    expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
    await world.gateway.restart({ CRASH_AT: "" });
    await world.online(SHOP);
    const { id } = await world.sim.waitForMessage(ANA, { from: SHOP }, 30_000);
    await until(
      async () =>
        (await world.gateway.get(`/messages/${id}`, { key: world.key })).body["data"].state !== "queued",
    );
    await world.sim.settle();
    const messages = await world.sim.messages(ANA, { from: SHOP });
    expect(new Set(messages.map((message) => message.id))).toEqual(new Set([id]));
    expect(sha((await arrived(world, id)).bytes)).toBe(sha(file));
    expect(await world.sim.mediaRequests({ direction: "upload" })).toHaveLength(1);
    expect(filesOf(world, "tmp")).toEqual([]);
  });
});
