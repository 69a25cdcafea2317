import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { MediaDraft } from "../../../src/model/content/drafts.ts";
import { createMedia } from "../../../src/media/media.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createDrafts } from "../../../src/webhooks/replies/drafts.ts";
import { parseReply } from "../../../src/webhooks/replies/reply.ts";
import type { Delivery } from "../../../src/webhooks/rows.ts";
import { decoderReady } from "../../_setup/decoder.ts";
import { listeningLog } from "../bot/messages.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { clock, gateway, receiver, status, storeWithNumber, type Gateway, type Receiver } from "./gateway.ts";

const picture = await sharp({ create: { width: 8, height: 6, channels: 3, background: "red" } })
  .png()
  .toBuffer();
const pdf = Buffer.from("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n");

/** A web server with files, which counts what is asked for. */
async function fileServer(
  own: RequestListener = () => undefined,
): Promise<{ url: string; asked: string[]; closed: string[] }> {
  await decoderReady();
  const asked: string[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!;
    asked.push(path);
    request.on("close", () => closed.push(path));
    if (path.endsWith(".png")) return void response.end(picture);
    if (path.endsWith(".pdf")) return void response.end(pdf);
    if (path.startsWith("/page")) return void response.end("<!doctype html><html><body>Log in</body></html>");
    if (path.startsWith("/own")) return void own(request, response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, closed };
}

async function started(
  options: Parameters<typeof gateway>[1] = {},
): Promise<{ parley: Gateway; shop: Receiver }> {
  const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
  const parley = await gateway(store, options);
  await parley.configure(shop.url);
  return { parley, shop };
}

const decided = (parley: Gateway, count = 1) =>
  vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(count));

const kinds = async (parley: Gateway): Promise<string[]> =>
  (await parley.sent()).map(({ draft }) => draft.kind);

describe("an answer with files", () => {
  it("is sent in its order, with captions, names and quotes", async () => {
    const { parley, shop } = await started();
    const { url } = await fileServer();
    shop.answer(
      status(200, [
        { type: "image", url: `${url}/a.png`, caption: "A picture", quoted: true },
        "and a text",
        { document: { url: `${url}/b.pdf` }, fileName: "Menu", caption: "Take a look" },
        { media_type: "pdf", url: `${url}/c.pdf` },
        { document: { url: `${url}/d.png` } },
      ]),
    );

    const message = await parley.receive();
    await decided(parley);

    const file = expect.any(String);
    expect((await parley.sent()).map(({ draft }) => draft)).toEqual([
      {
        kind: "image",
        file,
        caption: "A picture",
        quote: { id: message.id, sender: message.chat, fromMe: false, raw: message.raw },
      },
      { kind: "text", text: "and a text" },
      { kind: "document", file, fileName: "Menu.pdf", caption: "Take a look" },
      { kind: "document", file, fileName: "c.pdf" },
      { kind: "document", file, fileName: "d.png" },
    ]);
    const files = (await parley.sent()).flatMap(({ draft }) => ("file" in draft ? [draft.file] : []));
    expect(new Set(files).size).toBe(4);
    expect(await parley.deliveries()).toMatchObject([
      { state: "delivered", reply: { understood: true, ignored: [] } },
    ]);
  });

  it("is sent without those that fail, and says of each why", async () => {
    const { parley, shop } = await started();
    const { url } = await fileServer();
    shop.answer(
      status(200, [
        "before",
        { image: { url: `${url}/missing` } },
        { image: { url: `${url}/page` } },
        { type: "image", url: `${url}/a.pdf`, caption: "private words" },
        { type: "image", url: "http://127.0.0.1:1/a.png" },
        { name: "Lunch?", option: ["only one"] },
        "after",
      ]),
    );

    await parley.receive();
    await decided(parley);

    expect((await parley.sent()).map(({ text }) => text)).toEqual(["before", "after"]);
    const [delivery] = await parley.deliveries();
    expect(delivery!.reply).toMatchObject({
      understood: true,
      ids: [expect.any(String), expect.any(String)],
    });
    expect(delivery!.reply!.ignored.toSorted()).toEqual([
      expect.stringMatching(/^replies\[1\]: FILE_UNREACHABLE: /),
      expect.stringMatching(/^replies\[2\]: FILE_NOT_USABLE: .*HTML page/),
      expect.stringMatching(/^replies\[3\]: FILE_NOT_USABLE: .*PDF/),
      expect.stringMatching(/^replies\[4\]: FILE_UNREACHABLE: /),
      expect.stringMatching(/^replies\[5\]: a poll has 2 to 5 options/),
    ]);
    expect(JSON.stringify(delivery!.reply)).not.toContain("private words");
  });

  it("of which nothing can be sent leaves the message unanswered and the delivery delivered", async () => {
    const { parley, shop } = await started();
    const { url } = await fileServer();
    shop.answer(status(200, { image: { url: `${url}/missing` } }));
    await parley.receive();
    await decided(parley);
    expect(await parley.sent()).toEqual([]);
    expect(await parley.decisions()).toMatchObject([{ by: null, trail: [{ outcome: "passed" }] }]);
    expect(await parley.deliveries()).toMatchObject([
      { state: "delivered", reply: { understood: true, ids: [] } },
    ]);
    expect((await parley.deliveries())[0]!.reply!.ignored).toHaveLength(1);
  });

  it("does not reach into the private network", async () => {
    const { url, asked } = await fileServer();
    const { log } = listeningLog();
    const store = await storeWithNumber();
    const http = createSafeFetch({ allowPrivateNetwork: false });
    const config = {
      dataDir: temporaryFolder(),
      maxMediaBytes: 1024,
      ffmpegPath: null,
      publicUrl: "http://127.0.0.1:9",
    };
    const media = createMedia({ store, config, log, http, accountOf: () => null });
    const drafts = createDrafts({
      findQuote: async () => null,
      log,
      media,
      time: store.time,
      stopping: new AbortController().signal,
    });
    const made = await drafts.of(parseReply(answer({ image: { url: `${url}/a.png` } })), someDelivery(), {
      replyMaxAge: 60,
    });
    expect(made.replies).toEqual([]);
    expect(made.reply.ignored).toEqual([expect.stringMatching(/URL_NOT_ALLOWED/)]);
    expect(asked).toEqual([]);
  });

  it("keeps its chat waiting for the file, no other chat", async () => {
    const { parley, shop } = await started();
    let send: (() => void) | undefined;
    const { url, asked } = await fileServer((_, response) => (send = () => response.end(picture)));
    shop.answer(status(200, { image: { url: `${url}/own` } }), status(200, '"a text"'));

    await parley.receive({ text: "a picture, please" });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    await parley.receive({ text: "the same chat" });
    await parley.receive({ text: "another chat", chat: "2@lid", chatKey: "2@lid", sender: "2@lid" });
    await decided(parley, 1);
    expect((await parley.sent()).map(({ jid }) => jid)).toEqual(["2@lid"]);
    expect(shop.posts.map(({ event }) => event.text)).toEqual(["a picture, please", "another chat"]);

    send!();
    await decided(parley, 3);
    expect(await kinds(parley)).toEqual(["text", "image", "text"]);
  });

  it("is not fetched when it may not be sent", async () => {
    const { parley, shop } = await started();
    const { url, asked } = await fileServer();
    shop.answer(status(200, { image: { url: `${url}/a.png` } }));
    await parley.configure(shop.url, { replyMaxAge: 60 });
    await parley.receive({ timestamp: Math.floor(Date.now() / 1000) - 120 });
    await parley.configure(shop.url, { events: ["own"] });
    await parley.receive({ fromMe: true, sender: "4930555@s.whatsapp.net", text: "typed by hand" });
    await vi.waitFor(async () =>
      expect(await parley.deliveries()).toMatchObject([{ state: "delivered" }, { state: "delivered" }]),
    );
    expect(asked).toEqual([]);
    expect(await parley.sent()).toEqual([]);
    for (const { reply } of await parley.deliveries())
      expect(reply!.ignored).toEqual([expect.stringMatching(/^not sent/)]);
  });

  it("is not sent when the file came after reply_max_age", async () => {
    const time = clock();
    const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
    const parley = await gateway(store);
    await parley.configure(shop.url, { replyMaxAge: 60 });
    const { url } = await fileServer((_, response) => {
      time.forward(61_000);
      response.end(picture);
    });
    shop.answer(status(200, { image: { url: `${url}/own` } }));
    await parley.receive();
    await decided(parley);
    expect(await parley.sent()).toEqual([]);
    expect((await parley.deliveries())[0]!.reply!.ignored).toEqual([
      expect.stringMatching(/reply_max_age \(60 s\)/),
    ]);
  });

  it("is fetched anew and answered once when the gateway ends meanwhile", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const first = await gateway(store);
    await first.configure(shop.url);
    const files = await fileServer((_, response) => void (files.asked.length > 1 && response.end(picture)));
    shop.answer(status(200, { image: { url: `${files.url}/own` } }));
    await first.receive();
    await vi.waitFor(() => expect(files.asked).toHaveLength(1));
    const stops = performance.now();
    await first.stop();
    // Not when the server of the file has been given up.
    expect(performance.now() - stops).toBeLessThan(10_000);
    expect(await first.decisions()).toEqual([]);
    await vi.waitFor(() => expect(files.closed).toHaveLength(1));

    const second = await gateway(store);
    await decided(second);
    expect(await kinds(second)).toEqual(["image"]);
    expect(shop.posts).toHaveLength(2);
    expect(new Set(shop.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("is sent by a retry as well", async () => {
    const { parley, shop } = await started({ random: () => 0 });
    const { url } = await fileServer();
    shop.answer(
      status(503),
      status(200, [{ image: { url: `${url}/a.png` } }, { image: { url: `${url}/missing` } }]),
    );
    await parley.receive();
    await vi.waitFor(async () => expect(await kinds(parley)).toEqual(["image"]));
    const [delivery] = await parley.deliveries();
    expect(delivery).toMatchObject({
      state: "delivered",
      attempts: [{ statusCode: 503 }, { statusCode: 200 }],
    });
    expect(delivery!.reply!.ignored).toEqual([expect.stringMatching(/^replies\[1\]: FILE_UNREACHABLE/)]);
  });
});

describe("a file that does not come", () => {
  it("is given up after the time for files; the others go, and its connection is closed", async () => {
    const { url, closed } = await fileServer(() => undefined);
    const { log } = listeningLog();
    const store = await storeWithNumber();
    const http = createSafeFetch({ allowPrivateNetwork: true });
    const config = {
      dataDir: temporaryFolder(),
      maxMediaBytes: 1024 ** 2,
      ffmpegPath: null,
      publicUrl: "http://127.0.0.1:9",
    };
    const media = createMedia({ store, config, log, http, accountOf: () => null });
    const { signal } = new AbortController();
    const drafts = createDrafts({
      findQuote: async () => null,
      log,
      media,
      time: store.time,
      stopping: signal,
      mediaTimeMs: 2_000,
    });

    const parsed = parseReply(
      answer([{ image: { url: `${url}/own` } }, { image: { url: `${url}/a.png` } }, "text"]),
    );
    const { replies, reply } = await drafts.of(parsed, someDelivery(), { replyMaxAge: 60 });

    expect(replies.map(({ draft }) => draft.kind)).toEqual(["image", "text"]);
    expect(reply.ignored).toEqual(["replies[0]: FILE_UNREACHABLE: The file did not arrive within 2 s."]);
    await vi.waitFor(() => expect(closed).toContain("/own"));
  });

  it("is not waited for longer, whatever is being done with it", async () => {
    const { log } = listeningLog();
    const media = { prepare: () => new Promise<MediaDraft>(() => undefined) };
    const { signal } = new AbortController();
    const drafts = createDrafts({
      findQuote: async () => null,
      log,
      media,
      time: systemTime,
      stopping: signal,
      mediaTimeMs: 50,
    });
    const parsed = parseReply(answer([{ image: { url: "http://x/y" } }, "text"]));
    const { replies } = await drafts.of(parsed, someDelivery(), { replyMaxAge: 60 });
    expect(replies.map(({ draft }) => draft.kind)).toEqual(["text"]);
  });

  it("for a reason that is nobody's to read is recorded by its kind, and logged", async () => {
    const { log, text } = listeningLog();
    const media = { prepare: (): Promise<MediaDraft> => Promise.reject(new TypeError("private words")) };
    const drafts = createDrafts({
      findQuote: async () => null,
      log,
      media,
      time: systemTime,
      stopping: new AbortController().signal,
    });
    const made = await drafts.of(parseReply(answer({ image: { url: "http://x/y" } })), someDelivery(), {
      replyMaxAge: 60,
    });
    expect(made.reply.ignored).toEqual(["answer: the file could not be sent (TypeError)"]);
    expect(text()).toContain("TypeError");
    expect(text()).not.toContain("private words");
  });
});

describe("an answer that is a poll", () => {
  it("is sent as one", async () => {
    const { parley, shop } = await started();
    shop.answer(status(200, { name: "Lunch?", option: ["Soup", "Salad"], countable: "0", quoted: true }));
    const message = await parley.receive();
    await decided(parley);
    const [sent] = await parley.sent();
    expect(sent).toMatchObject({
      draft: { kind: "poll", name: "Lunch?", options: ["Soup", "Salad"], selectable: 0 },
      quotes: message.id,
    });
  });
});

const answer = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function someDelivery(): Delivery {
  return {
    id: "msg_1",
    deviceId: 1,
    listener: "",
    inboxId: 1,
    messageId: "3A1",
    chat: "15550001@s.whatsapp.net",
    type: "text",
    attempts: 0,
    mayReply: true,
    createdAt: Date.now(),
    body: "{}",
    image: false,
    target: {
      jid: "15550001@s.whatsapp.net",
      chat: "15550001@s.whatsapp.net",
      quote: null,
      timestamp: Math.floor(Date.now() / 1000),
    },
    reply: null,
  };
}
