import { createServer, type Server } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, verifyWebhook, WebhookError } from "../../src/client/index.ts";
import { createSecret } from "../../src/webhooks/events/sign.ts";
import { gatewayProgram } from "../_setup/runtimes.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { pdf } from "../unit/media/samples.ts";
import { startChatwoot, type Chatwoot } from "./chatwoot.ts";
import { blocksOf, isInstalled, readersFolder, type Folder } from "./pages.ts";

const NUMBER = "31600000001";
const CUSTOMER = "31600000002";
const COLLEAGUE = "31600000009";
const LARGEST_PACKAGE = 40_000;

let world: World;
let folder: Folder;
let files: Server;
let site = "";
let packed = 0;
let env: Record<string, string>;
/** Runs the programs of node.md: this Node, or Bun in `npm run test:bun`. */
let javascript: string;
beforeAll(async () => {
  javascript = await gatewayProgram();
  files = await listening(createServer((_, response) => response.end(pdf())));
  [world, folder] = await Promise.all([
    keepWorld({ again: true, env: { PACE_PER_MINUTE: "0" } }),
    readersFolder((bytes) => (packed = bytes)),
  ]);
  site = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  await world.link(NUMBER);
  await world.sim.addContact(CUSTOMER, { name: "Ana" });
  await world.sim.addContact(COLLEAGUE);
  const { body } = await world.gateway.put(hook, { url: site }, { key: world.key });
  env = {
    PARLEY_URL: world.gateway.url,
    PARLEY_KEY: world.key,
    PARLEY_SENDER: NUMBER,
    PARLEY_SECRET: body.secret,
  };
});
afterAll(async () => {
  folder?.dispose();
  files.close();
  await closeWorld(world);
});

const listening = (server: Server): Promise<Server> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
const hook = `/devices/${NUMBER}/webhook`;
const postTo = (url: string, more: object = {}) =>
  world.gateway.put(hook, { url, ...more }, { key: world.key });
const arrived = (id: string, at = CUSTOMER) => world.sim.waitForMessage(at, { id });
async function say(message: string): Promise<{ id: string }> {
  const text = { sender: NUMBER, number: CUSTOMER, message };
  const { body } = await world.gateway.post("/send-message", text, { key: world.key });
  return { id: body["id"] };
}
/** What was sent once, and is sent again: the second answer names the same message. */
const idIn = (output: string): string => /^sent (\w+)$/m.exec(output)?.[1] ?? output;

const ANSWERED = { text: "Hello Ana, we are open until six.", isQuote: true, toAnother: 401 };

/** The customer asks, and is answered; somebody else asks in the gateway's name, and is not. */
async function askHours(address: string): Promise<typeof ANSWERED> {
  await postTo(address);
  const since = (await world.sim.messages(CUSTOMER)).at(-1)?.seq ?? 0;
  const { id } = await world.sim.sendText(CUSTOMER, NUMBER, " Hours");
  const { text = "", quoted } = await world.sim.waitForMessage(CUSTOMER, { since });
  const forged = await fetch(address, {
    method: "POST",
    headers: {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
      "webhook-signature": "v1,AAAA",
    },
    body: '{"type": "text", "text": "hours", "pushName": "Ana"}',
  });
  return { text, isQuote: quoted?.id === id, toAnother: forged.status };
}

const SENT_ONCE = { text: "Your order is on its way.", isSame: true };

/** Runs a page's program that sends, twice. */
async function sendTwice(program: string, file: string): Promise<typeof SENT_ONCE> {
  const first = await folder.run(program, [file], env);
  const second = await folder.run(program, [file], env);
  const { text = "" } = await arrived(idIn(first));
  return { text, isSame: second === first };
}

describe("curl.md", () => {
  it("has lines that do what it says", async () => {
    const answers: Record<string, any>[] = [];
    const shell = { ...env, PARLEY: world.gateway.url, KEY: world.key, SENDER: NUMBER };
    for (const { text } of blocksOf("curl.md").slice(1)) {
      const script = text
        .replaceAll("https://shop.example", site)
        .replace("curl -N", "curl -N --silent --max-time 0.5");
      const ID = String(answers[0]?.["id"]);
      const output = await folder.run("bash", ["-c", `${script.trimEnd()} || [ $? = 28 ]`], { ...shell, ID });
      answers.push(output.startsWith(":") ? { output } : JSON.parse(output));
    }
    const [sent, file, own, poll, became, list, webhook, events] = answers;

    expect((await arrived(sent!["id"])).text).toBe("Your order is on its way: 50 % + a gift.");
    expect(await arrived(file!["id"])).toMatchObject({ kind: "document", media: { fileName: "Menu.pdf" } });
    expect(await arrived(own!["id"])).toMatchObject({
      kind: "document",
      text: "Our prices",
      media: { fileName: "prices.csv" },
    });
    expect(await arrived(poll!["id"])).toMatchObject({
      text: "When?",
      poll: { options: ["Monday", "Tuesday"] },
    });
    expect(became).toMatchObject({ status: true, data: { id: sent!["id"] } });
    expect(list!["data"].map(({ id }: { id: string }) => id)).toContain(sent!["id"]);
    expect(webhook).toMatchObject({ data: { url: `${site}/whatsapp` } });
    expect(events!["output"]).toContain(": connected");
  });
});

describe("php.md", async () => {
  it.skipIf(!(await isInstalled("php")))("has programs that send once, and answer", async () => {
    folder.lay("php.md");

    expect(await sendTwice("php", "send.php")).toEqual(SENT_ONCE);
    expect(await askHours(await folder.serve("php", ["-S", "127.0.0.1:8080", "webhook.php"], env))).toEqual(
      ANSWERED,
    );
  });
});

describe("python.md", async () => {
  it.skipIf(!(await isInstalled("python3")))("has programs that send once, and answer", async () => {
    folder.lay("python.md");

    expect(await sendTwice("python3", "send.py")).toEqual(SENT_ONCE);
    expect(await askHours(await folder.serve("python3", ["webhook.py"], env))).toEqual(ANSWERED);
  });
});

describe("node.md", () => {
  it("has programs that send once, and answer, with the package as it is installed", async () => {
    folder.lay("node.md");

    expect(await sendTwice(javascript, "send.mjs")).toEqual(SENT_ONCE);
    expect(await askHours(await folder.serve(javascript, ["webhook.mjs"], env))).toEqual(ANSWERED);
    expect(packed).toBeLessThan(LARGEST_PACKAGE);
  });

  it("has a program that follows what came and what comes", async () => {
    folder.lay("node.md");
    await arrived((await say("Before.")).id);

    const written = folder.start(javascript, ["follow.mjs"], env);

    await until(() => written().includes("out Before."));
    // Nobody hears what was before the line was open.
    await until(async () => {
      await world.sim.sendText(CUSTOMER, NUMBER, "After.");
      return written().includes("Ana After.");
    });
    const { id } = await say("Now.");
    await until(() => written().includes(`${CUSTOMER} sent`));
    expect((await arrived(id)).text).toBe("Now.");
  });
});

describe("the client", () => {
  it("sends once when answers are lost, and when the gateway is still at it", async () => {
    let attempts = 0;
    const losing = createClient({
      baseUrl: world.gateway.url,
      apiKey: world.key,
      async fetch(url, init) {
        attempts++;
        if (attempts === 1) void fetch(url, { ...init, signal: null }).catch(() => undefined);
        else if (attempts > 2) return await fetch(url, init);
        else await fetch(url, init);
        throw new TypeError("fetch failed");
      },
    });
    const text = "Three attempts, one message.";

    const { id, state } = await losing.post("/send-message", {
      body: { sender: NUMBER, number: CUSTOMER, message: text },
    });

    expect([attempts, state]).toEqual([3, "sent"]);
    await arrived(id!);
    const accepted = await world.sim.accepted({ from: NUMBER });
    expect(accepted.filter((message) => message.text === text)).toHaveLength(1);
  });

  it("believes the gateway by the old and by the new secret while they are exchanged", async () => {
    const receiver = await startReceiver({});
    await postTo(receiver.url);
    const { body } = await world.gateway.post(`${hook}/rotate`, {}, { key: world.key });

    await world.sim.sendText(CUSTOMER, NUMBER, "Which secret?");

    await until(() => receiver.events.some(({ text }) => text.includes("Which secret?")));
    const { headers, text } = receiver.events.find((event) => event.text.includes("Which secret?"))!;
    for (const secret of [env["PARLEY_SECRET"]!, body.secret]) {
      const { id, event } = await verifyWebhook(secret, { headers, body: text });
      expect([id, event.text, event.pushName]).toEqual([headers["webhook-id"], "Which secret?", "Ana"]);
    }
    await expect(verifyWebhook(createSecret(), { headers, body: text })).rejects.toThrow(WebhookError);
  });
});

describe("n8n.md", () => {
  const workflow = JSON.parse(readFileSync("docs/clients/n8n-workflow.json", "utf8"));
  const node = (name: string) => workflow.nodes.find((one: { name: string }) => one.name === name);
  /** As n8n does: what begins with `=` is a text with expressions in it. */
  const filled = (value: string, $json: object): string =>
    value.startsWith("=")
      ? value
          .slice(1)
          .replace(/\{\{([^]*?)\}\}/g, (_, code: string) => String(runInNewContext(code, { $json })))
      : value;

  it("has a workflow whose nodes are known to n8n, and joined", () => {
    const names = workflow.nodes.map(({ name }: { name: string }) => name);

    expect(workflow.nodes.map(({ type, typeVersion }: any) => `${type} ${typeVersion}`)).toEqual([
      "n8n-nodes-base.webhook 2",
      "n8n-nodes-base.respondToWebhook 1.1",
      "n8n-nodes-base.httpRequest 4.2",
    ]);
    expect(new Set(names).size).toBe(names.length);
    for (const { id, position, parameters } of workflow.nodes)
      expect([typeof id, position.length, typeof parameters]).toEqual(["string", 2, "object"]);
    for (const [from, { main }] of Object.entries<any>(workflow.connections)) {
      expect(names).toContain(from);
      for (const { node, type, index } of main.flat()) {
        expect(names).toContain(node);
        expect([type, index]).toEqual(["main", 0]);
      }
    }
    expect(node("WhatsApp message").parameters).toMatchObject({ responseMode: "responseNode" });
  });

  it("answers the customer and tells the colleague, once", async () => {
    const sent: any[] = [];
    const n8n = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const $json = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
      response.end(filled(node("Answer").parameters.responseBody, $json));
      const { method, url, headerParameters, jsonBody } = node("Tell a colleague").parameters;
      const headers = headerParameters.parameters.map(({ name, value }: any) => [name, filled(value, $json)]);
      const asked = {
        method,
        headers: {
          ...Object.fromEntries(headers),
          "content-type": "application/json",
          authorization: `Bearer ${world.key}`,
        },
        body: filled(jsonBody, $json),
      };
      // As it does when an execution is tried again.
      for (let attempt = 0; attempt < 2; attempt++)
        sent.push(await (await fetch(url.replace("http://127.0.0.1:3000", world.gateway.url), asked)).json());
    });
    await listening(n8n);
    const url = `http://127.0.0.1:${(n8n.address() as AddressInfo).port}/webhook/parley`;
    await postTo(url, { timeout_ms: 30_000, headers: { "X-Parley-Hook": "the same random word" } });

    await world.sim.sendText(CUSTOMER, NUMBER, "Do you have it in red?");

    await until(() => sent.length === 2);
    n8n.close();
    const told = await arrived(sent[0].id, COLLEAGUE);
    expect(told.text).toBe("Ana wrote: Do you have it in red?");
    expect(sent[1].id).toBe(sent[0].id);
    const answer = await world.sim.waitForMessage(CUSTOMER, {
      text: "Thank you, Ana. We write to you soon.",
    });
    expect(answer.text).toContain("Ana");
  });
});

describe("chatwoot.md", () => {
  let chatwoot: Chatwoot;
  afterAll(() => chatwoot?.close());

  it("has a bridge that brings a customer to agents, and agents to the customer", async () => {
    chatwoot = await startChatwoot("inbox1");
    folder.lay("chatwoot.md");
    const settings = { ...env, CHATWOOT_URL: chatwoot.url, CHATWOOT_INBOX: "inbox1", BRIDGE_PATH: "word" };
    const bridge = await folder.serve(process.execPath, ["bridge.mjs"], settings);
    await postTo(`${bridge}/parley`, { mode: "always", timeout_ms: 30_000 });

    await world.sim.sendText(CUSTOMER, NUMBER, "Where is my parcel?");
    await until(
      () => chatwoot.conversations.length === 1 && chatwoot.conversations[0]!.messages.length === 1,
    );
    expect(chatwoot.conversations[0]).toMatchObject({ name: "Ana", messages: ["Where is my parcel?"] });

    // Chatwoot does not ask again; whoever asks for it sends nothing more.
    const outgoing = chatwoot.outgoing(7, "It comes today.");
    const said = [outgoing, chatwoot.outgoing(8, "For us alone.", true), outgoing];
    const statuses: number[] = [];
    for (const body of said)
      statuses.push((await fetch(`${bridge}/word`, { method: "POST", body: JSON.stringify(body) })).status);

    expect(statuses).toEqual([200, 200, 200]);
    const answer = await world.sim.waitForMessage(CUSTOMER, { text: "It comes today." });
    expect(answer.text).toBe("It comes today.");
    const { body } = await world.gateway.get(`/chats?sender=${NUMBER}&q=${CUSTOMER}`, { key: world.key });
    expect(body.data[0].taken_over_until).not.toBeNull();
    expect(body.data[0].last).toMatchObject({ message: "It comes today." });
  });
});
