import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";
import { pdf, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const MOST = 3_000_000;
const LIMITED = { MAX_MEDIA_BYTES: String(MOST) };

async function openShop(env: Record<string, string> = LIMITED): Promise<World> {
  const world = await openWorld({ again: true, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Fields first, then the file, as every client of HTTP writes it. */
function formOf(fields: Record<string, string>, file?: Buffer, name = "given.bin"): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sender: SHOP, number: ANA, ...fields }))
    form.append(field, value);
  if (file !== undefined) form.append("file", new Blob([new Uint8Array(file)]), name);
  return form;
}

async function post({ gateway, key }: World, body: FormData, path = "/send-media", headers = {}) {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

/** What of requests and files lies on the gateway's disk. */
const left = ({ gateway }: World): string[] =>
  ["tmp", "media"].flatMap((folder) =>
    readdirSync(join(gateway.dataDir, folder), { recursive: true, encoding: "utf8" }).filter(
      (name) => name !== "in",
    ),
  );

/** A request that is written by hand. */
async function begin({ gateway, key }: World, headers: Record<string, string> = {}): Promise<ClientRequest> {
  const { port } = new URL(gateway.url);
  const sending = request({
    port,
    method: "POST",
    path: "/send-media",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "multipart/form-data; boundary=xYz",
      ...(headers["content-length"] === undefined && { "transfer-encoding": "chunked" }),
      ...headers,
    },
  });
  sending.on("error", () => undefined);
  sending.flushHeaders();
  return sending;
}

const field = (name: string, value: string): string =>
  `--xYz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const FIELDS = field("sender", SHOP) + field("number", ANA) + field("media_type", "document");
const FILE = '--xYz\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';

async function answerOf(sending: ClientRequest): Promise<{ status: number; body: any }> {
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return { status: answer.statusCode!, body: JSON.parse(text) };
}

describe("POST /send-media as multipart/form-data", () => {
  it("sends the part `file` as what it is, larger than any other body", async () => {
    const world = await openShop();
    const large = randomBytes(2_500_000);
    const cases: [Record<string, string>, Buffer, string, object][] = [
      [
        { media_type: "document", filename: "all.bin", caption: "Everything" },
        large,
        "x",
        { kind: "document", fileName: "all.bin", text: "Everything" },
      ],
      [{ media_type: "document" }, large, "own name.bin", { kind: "document", fileName: "own name.bin" }],
      [{ media_type: "pdf" }, pdf(), "menu", { fileName: "menu.pdf", mimetype: "application/pdf" }],
      [
        { media_type: "image", caption: "Look" },
        png(300, 200),
        "a.png",
        { kind: "image", text: "Look", width: 300 },
      ],
    ];
    for (const [fields, bytes, name, expected] of cases) {
      const { status, body } = await post(world, formOf(fields, bytes, name));
      expect({ status, state: body.state }).toEqual({ status: 200, state: "sent" });
      const { kind, text = "", media } = await world.sim.waitForMessage(ANA, { id: body.id });
      const got = await world.sim.mediaOf(ANA, body.id);
      expect({ ...media, ...got, kind, text }).toMatchObject(expected);
      expect(sha(got.bytes)).toBe(sha(bytes));
    }
    expect(readdirSync(join(world.gateway.dataDir, "tmp"))).toEqual([]);
  });

  it("takes exactly one of url, data and file, and no other endpoint takes parts", async () => {
    const world = await openShop();
    const refused = async (fields: Record<string, string>, file?: Buffer, path?: string) => {
      const { status, body } = await post(world, formOf({ media_type: "document", ...fields }, file), path);
      return { status, ...body.errors };
    };
    const file = Buffer.from("x");
    expect(await refused({ url: "https://example.com/a" }, file)).toMatchObject({
      status: 400,
      fields: { file: ["Cannot be given together with url."] },
    });
    expect(await refused({ data: "QQ==" }, file)).toMatchObject({
      status: 400,
      fields: { file: ["Cannot be given together with data."] },
    });
    expect(await refused({})).toMatchObject({ status: 400, fields: { url: expect.anything() } });
    expect(await refused({}, Buffer.alloc(0))).toMatchObject({ status: 422, code: "FILE_NOT_USABLE" });
    expect(await refused({ media_type: "pdf" }, file)).toMatchObject({
      status: 422,
      message: "The file is a plain text, which cannot be sent as pdf.",
    });
    for (const path of ["/send-message", "/send-sticker", "/uploads", "/send-poll"])
      expect(await refused({}, file, path)).toMatchObject({ status: 415, code: "UNSUPPORTED_CONTENT_TYPE" });
    const { status, body } = await world.gateway.post(
      "/send-media",
      { sender: SHOP, number: ANA, media_type: "document", file: "QQ==" },
      { key: world.key },
    );
    expect({ status, fields: body.errors.fields }).toEqual({
      status: 400,
      fields: { file: ["Must be a part of multipart/form-data."] },
    });
    expect(await world.sim.messages(ANA, { from: SHOP })).toEqual([]);
    expect(left(world)).toEqual([]);
  });

  it("answers a repeated idempotency key by the file's bytes, whichever way they came", async () => {
    const world = await openShop();
    const fields = { media_type: "document", idempotency_key: "k-1", filename: "a.txt" };
    const first = await post(world, formOf(fields, Buffer.from("A"), "one"));
    const again = await post(world, formOf(fields, Buffer.from("A"), "two"));
    const { idempotency_key: _, ...others } = fields;
    const inBase64 = await world.gateway.post(
      "/send-media",
      { sender: SHOP, number: ANA, ...others, data: Buffer.from("A").toString("base64") },
      { key: world.key, headers: { "idempotency-key": "k-1" } },
    );
    for (const answer of [again, inBase64]) {
      expect(answer.body).toEqual(first.body);
      expect(answer.headers.get("idempotency-replayed")).toBe("true");
    }
    const other = await post(world, formOf(fields, Buffer.from("B"), "one"));
    expect(other).toMatchObject({ status: 422, body: { errors: { code: "IDEMPOTENCY_KEY_REUSED" } } });
    expect(await world.sim.messages(ANA, { from: SHOP })).toHaveLength(1);
  });

  it("refuses whoever may not send, and fields that are wrong, before the file has come", async () => {
    const world = await openShop();
    for (const [headers, fields, expected] of [
      [{ authorization: "Bearer parley_wrong" }, FIELDS, { status: 401, code: "INVALID_API_KEY" }],
      [{}, FIELDS.replace("document", "nothing"), { status: 400, code: "INVALID_PARAMETERS" }],
      [{ "content-encoding": "gzip" }, FIELDS, { status: 415, code: "UNSUPPORTED_CONTENT_TYPE" }],
    ] as const) {
      const sending = await begin(world, headers);
      sending.write(fields + FILE + "only the beginning");
      const { status, body } = await answerOf(sending);
      expect({ status, code: body.errors.code }).toEqual(expected);
      sending.destroy();
    }
    // What was begun is taken away after the answer.
    await until(() => left(world).length === 0);
  });

  it("refuses what is no such form, or too large, and keeps nothing of it", async () => {
    const world = await openShop();
    const end = "\r\n--xYz--\r\n";
    const wrong: [string, Record<string, string>, number, string][] = [
      [`${FIELDS}${FILE}a${end}`, { "content-type": "multipart/form-data" }, 400, "INVALID_JSON"],
      [`${FIELDS}${FILE}no end of it`, {}, 400, "INVALID_JSON"],
      [`${FIELDS}${FILE}a\r\n${field("caption", "late")}--xYz--\r\n`, {}, 400, "INVALID_PARAMETERS"],
      [`${FIELDS}${FILE}a\r\n${FILE}b${end}`, {}, 400, "INVALID_PARAMETERS"],
      [`${field("a", "b").repeat(5_000)}${FILE}b${end}`, {}, 400, "INVALID_PARAMETERS"],
      [`${FIELDS}${field("caption", "x".repeat(1_100_000))}${FILE}b${end}`, {}, 413, "BODY_TOO_LARGE"],
      [`${FIELDS}${FILE}${"x".repeat(MOST + 1)}${end}`, {}, 413, "FILE_TOO_LARGE"],
    ];
    for (const [text, headers, status, code] of wrong) {
      const sending = await begin(world, headers);
      const answer = answerOf(sending);
      sending.end(text);
      const told = await answer;
      expect([told.status, told.body.errors.code]).toEqual([status, code]);
      await until(() => left(world).length === 0);
    }
    const announced = await begin(world, { "content-length": String(10 * MOST) });
    announced.write(`${FIELDS}${FILE}the beginning`);
    expect(await answerOf(announced)).toMatchObject({
      status: 413,
      body: { errors: { code: "FILE_TOO_LARGE" } },
    });
    announced.destroy();
    expect(await world.sim.messages(ANA, { from: SHOP })).toEqual([]);
  });

  it("that is broken off leaves nothing behind, and the next one of the same connection's address is served", async () => {
    const world = await openShop();
    const sending = await begin(world);
    sending.write(FIELDS + FILE);
    sending.write(Buffer.alloc(500_000));
    await until(() => left(world).some((name) => name.endsWith("given")));
    sending.destroy();
    await until(() => left(world).length === 0);
    expect((await post(world, formOf({ media_type: "document" }, Buffer.from("A")))).status).toBe(200);
    expect(await world.sim.messages(ANA, { from: SHOP })).toHaveLength(1);
  });

  it("that a kill cut off leaves nothing of itself, and is sent when it comes again", async () => {
    const world = await openShop();
    // Files of those who had the gateway before are still being erased.
    await until(() => left(world).length === 0);
    const sending = await begin(world);
    sending.write(FIELDS + field("idempotency_key", "k-1") + FILE);
    sending.write(Buffer.alloc(500_000));
    await until(() => left(world).some((name) => name.endsWith("given")));
    await world.gateway.kill();
    sending.destroy();
    await world.gateway.restart();
    await world.online(SHOP);
    expect(left(world)).toEqual([]);
    const fields = { media_type: "document", idempotency_key: "k-1" };
    const { status, body } = await post(world, formOf(fields, Buffer.alloc(500_000)));
    expect(status).toBe(200);
    await world.sim.settle();
    expect((await world.sim.messages(ANA, { from: SHOP })).map(({ id }) => id)).toEqual([body.id]);
  });

  it.each(["after-accept", "after-upload", "after-ack"])(
    "leaves once and under one id, though the process dies %s",
    async (point) => {
      const world = await openShop({});
      const form = (): FormData => formOf({ media_type: "document", idempotency_key: point }, pdf());
      await world.gateway.restart({ CRASH_AT: point });
      await world.online(SHOP);
      await post(world, form()).catch(() => undefined);
      expect(await world.gateway.exited()).toMatchObject({ signal: "SIGKILL" });
      await world.gateway.restart({ CRASH_AT: "" });
      await world.online(SHOP);
      const { id } = await world.sim.waitForMessage(ANA, { from: SHOP });
      expect((await post(world, form())).body.id).toBe(id);
      await world.sim.settle();
      const messages = await world.sim.messages(ANA, { from: SHOP });
      expect(new Set(messages.map((message) => message.id))).toEqual(new Set([id]));
      expect(sha((await world.sim.mediaOf(ANA, id)).bytes)).toBe(sha(pdf()));
    },
  );
});
