import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPaint, createSteps } from "../../src/cli/terminal.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createCleanup } from "../../src/demo/cleanup.ts";
import { openPlayground, type OpenPlayground } from "../../src/demo/playground/open.ts";
import type { Line, PlaygroundEvent, WorldView } from "../../src/demo/playground/view.ts";
import { faultsOf, tooWide } from "../_setup/looks.ts";

const ROOT = repositoryRoot();
const PATIENCE_MS = 60_000;
const SHOP = "31600000001";
const ANA = "31600000002";
const BUDI = "31600000003";
const CARMEN = "31600000004";

/** As an author has it; the numbers of its lines are looked for. */
const HELLO_BOT = `import { defineBot } from "parley";
export default defineBot((b) => {
  b.keyword("hello", (ctx) => ctx.reply("Hello from one"));
  b.keyword("price", (ctx) => { ctx.log.warn("no price is known"); ctx.reply("Ask us"); });
  b.match(/^sum/, () => {
    throw new RangeError("no sum"); }); });`;

const cleanup = createCleanup();
const stories = mkdtempSync(join(tmpdir(), "parley-stories-"));
const troubles: string[] = [];
let opened: OpenPlayground;
let api: string;
let token: string;
/** What the page knows, kept from the events as the page keeps it. */
let world: WorldView;
const lines = new Map<string, Line>();
const following = new AbortController();

beforeAll(async () => {
  const paper = { write: () => {} };
  opened = await openPlayground({
    root: ROOT,
    steps: createSteps(paper, createPaint(false)),
    cleanup,
    watch: (crashed) => void crashed.catch((error: Error) => troubles.push(error.message)),
    stories,
    onTrouble: (text) => troubles.push(text),
  });
  const url = new URL(opened.url);
  api = `${url.origin}/playground/api`;
  token = new URLSearchParams(url.hash.slice(1)).get("token")!;
  void follow();
  await until(() => world !== undefined);
}, 240_000);
afterAll(async () => {
  following.abort();
  await cleanup.run(false);
  rmSync(stories, { recursive: true });
});

async function until(condition: () => unknown, patienceMs = PATIENCE_MS): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !(await condition()); await pause(20))
    if (Date.now() > deadline)
      throw new Error(`It did not come to it: ${condition}\n${JSON.stringify(world, null, 1)}\n${troubles}`);
}

async function follow(): Promise<void> {
  const response = await fetch(`${api}/events`, {
    headers: { "x-playground-token": token },
    signal: following.signal,
  });
  let rest = "";
  const read = async (): Promise<void> => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream() as never)) {
      rest += chunk as unknown as string;
      const parts = rest.split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) if (part.startsWith("data: ")) apply(JSON.parse(part.slice(6)));
    }
  };
  await read().catch(() => {});
}

function apply(event: PlaygroundEvent): void {
  if (event.type !== "line") world = event.world;
  const told = event.type === "all" ? event.lines : event.type === "line" ? [event.line] : [];
  for (const line of told) lines.set(`${line.phone} ${line.from} ${line.id}`, line);
}

const on = (phone: string, wanted: Partial<Line>): Line | undefined =>
  [...lines.values()].find(
    (line) =>
      line.phone === phone &&
      Object.entries(wanted).every(([key, value]) => line[key as keyof Line] === value),
  );
async function shown(phone: string, wanted: Partial<Line>): Promise<Line> {
  await until(() => on(phone, wanted));
  return on(phone, wanted)!;
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; data: any; error?: string }> {
  const response = await fetch(api + path, {
    method,
    headers: {
      "x-playground-token": token,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as { data: unknown }) };
}
async function does(method: string, path: string, body?: unknown): Promise<any> {
  const { status, data, error } = await ask(method, path, body);
  expect({ path, status, error }).toEqual({ path, status: 200, error: undefined });
  return data;
}
const write = async (phone: string, message: object, chat = SHOP): Promise<string> =>
  (await does("POST", `/phones/${phone}/messages`, { chat, message })).id;
const say = (phone: string, text: string, chat = SHOP): Promise<string> =>
  write(phone, { kind: "text", text }, chat);

/** A request with headers that `fetch` does not let one set. */
const rawly = (path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    httpRequest(new URL(api + path), { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on("error", reject)
      .end();
  });

describe("who may ask", () => {
  it("needs the token, in a header", async () => {
    expect((await fetch(`${api}/kill`, { method: "POST" })).status).toBe(401);
    expect((await fetch(`${api}/kill?token=${token}`, { method: "POST" })).status).toBe(401);
    expect(await rawly("/kill", { "x-playground-token": token.slice(1) })).toBe(401);
  });

  it("is our own page alone: no other site's, and no other name of this machine", async () => {
    const { host } = new URL(api);
    const headers = { "x-playground-token": token };
    expect(await rawly("/link", { ...headers, host, origin: "https://example.com" })).toBe(403);
    expect(await rawly("/link", { ...headers, host: `rebound.example:${host.split(":")[1]}` })).toBe(403);
    expect(await rawly("/link", { ...headers, host, origin: `http://${host}` })).toBe(200);
  });

  it("gets headers that allow nothing from elsewhere", async () => {
    const { headers } = await fetch(new URL("/playground", api));
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("is told what is wrong with what it sends", async () => {
    expect(await ask("POST", "/phones", { name: "", kind: "lid" })).toMatchObject({ status: 400 });
    expect(await ask("POST", `/phones/${ANA}/messages`, { chat: "../..", message: {} })).toMatchObject({
      status: 400,
    });
    expect(await ask("POST", "/stories", { phone: ANA, chat: SHOP, title: "", file: "../up" })).toMatchObject(
      { status: 400 },
    );
    expect(
      await ask("POST", "/phones/999999/messages", { chat: SHOP, message: { kind: "text", text: "x" } }),
    ).toMatchObject({ status: 404, error: "There is no phone 999999." });
    expect(await ask("PUT", "/kill", {})).toMatchObject({ status: 405 });
    expect(await ask("GET", "/nothing")).toMatchObject({ status: 404 });
    expect(await ask("PUT", "/faults/slow", { on: true })).toMatchObject({
      status: 409,
      error: expect.stringContaining("scan the QR code first"),
    });
  });
});

describe("the number", () => {
  it("is linked by a phone that scans what the gateway shows, after the passkey when WhatsApp asks for it", async () => {
    await does("PUT", "/faults/passkey", { on: true });
    await until(() => world.number.qr !== null);
    await does("POST", "/scan");
    await until(() => world.number.passkey);
    await does("POST", "/passkey");
    await until(() => world.number.state === "connected");
    await does("PUT", "/faults/passkey", { on: false });

    await until(() => world.bots.length > 0);
    expect(world.bots).toContain("menu");
    expect(world.number).toMatchObject({ qr: null, passkey: false });
  });
});

describe("phones", () => {
  it("write and are answered, whatever WhatsApp tells of them; beside each message stands why", async () => {
    for (const phone of [ANA, BUDI, CARMEN]) {
      const id = await say(phone, "ping");
      await until(() => on(phone, { id })?.why?.outcome === "answered");
      const answer = await shown(phone, { text: "pong", from: SHOP });
      await until(() => on(phone, { id: answer.id })?.why !== null);
      expect(on(phone, { id })).toMatchObject({ taken: true, why: { by: "bot:ping", silence: null } });
      expect(on(phone, { id: answer.id })?.why).toMatchObject({ by: "bot:ping" });
    }
    const trace = await does("GET", `/messages/${on(ANA, { text: "ping" })!.id}/trace`);
    expect(trace.steps.map(({ step }: { step: string }) => step)).toContain("stored");
  });

  it("send every kind of file, place, card and poll, and the owner's phone shows each", async () => {
    for (const file of world.files) await write(ANA, { kind: "file", file: file.id });
    await write(ANA, { kind: "location", latitude: 52.37, longitude: 4.89, name: "Dam" });
    await write(ANA, { kind: "contact", name: "Demo shop", number: SHOP });
    await write(ANA, { kind: "poll", question: "When?", options: ["Now", "Later"], several: false });
    const kinds = [...world.files.map(({ kind }) => kind), "location", "contacts", "poll"];
    for (const kind of kinds) {
      const { id } = await shown(SHOP, { kind, from: ANA });
      await until(() => on(ANA, { id })?.taken);
    }

    const photo = on(SHOP, { kind: "image", from: ANA })!;
    const loaded = await fetch(`${api}/phones/${SHOP}/media/${photo.id}`, {
      headers: { "x-playground-token": token },
    });
    expect(Buffer.from(await loaded.arrayBuffer())).toEqual(
      readFileSync(join(ROOT, "src/demo/playground/samples/harbour.jpg")),
    );
    expect(loaded.headers.get("content-type")).toBe("application/octet-stream");
    const dropped = await fetch(`${api}/files?name=..%2Fnote.txt&type=text/plain`, {
      method: "POST",
      headers: { "x-playground-token": token },
      body: "dropped",
    });
    expect(await dropped.json()).toMatchObject({
      data: { name: "note.txt", kind: "document", sample: false },
    });
  });

  it("react, correct, delete and vote", async () => {
    const gateway = { "content-type": "application/json", authorization: `Bearer ${opened.apiKey}` };
    const poll = {
      sender: SHOP,
      number: ANA,
      name: "Which day?",
      option: ["Monday", "Tuesday"],
      countable: "1",
    };
    const sent = await fetch(`${opened.baseUrl}/send-poll`, {
      method: "POST",
      headers: gateway,
      body: JSON.stringify(poll),
    });
    expect(await sent.json()).toMatchObject({ status: true });
    const question = await shown(ANA, { kind: "poll", from: SHOP });
    await does("POST", `/phones/${ANA}/acts`, { act: "vote", id: question.id, options: ["Tuesday"] });
    await does("POST", `/phones/${ANA}/acts`, { act: "react", id: question.id, emoji: "👍" });
    const id = await say(ANA, "helo");
    await does("POST", `/phones/${ANA}/acts`, { act: "edit", id, text: "hello" });
    await does("POST", `/phones/${ANA}/acts`, { act: "revoke", id });

    expect((await shown(SHOP, { kind: "vote", target: question.id })).choices).toEqual(["Tuesday"]);
    expect(await shown(SHOP, { kind: "reaction", target: question.id })).toMatchObject({ text: "👍" });
    expect(await shown(SHOP, { kind: "edit", target: id })).toMatchObject({ text: "hello" });
    expect(await shown(SHOP, { kind: "revoke", target: id })).toMatchObject({ from: ANA });
  });

  it("call the number, which declines and says so in writing, and hang up", async () => {
    await does("PUT", `/phones/${ANA}/call`, { on: true });
    await until(() => world.calls.some(({ phone, state }) => phone === ANA && state === "rejected"));
    await shown(ANA, { text: "We cannot take calls here. Please write to us.", from: SHOP });
    expect(await ask("PUT", `/phones/${ANA}/call`, { on: true })).toMatchObject({ status: 409 });
    await does("PUT", `/phones/${ANA}/call`, { on: false });
    await until(() => world.calls.length === 0);
    expect(await ask("PUT", `/phones/${SHOP}/call`, { on: true })).toMatchObject({ status: 400 });
  });

  it("talk in groups, also in new ones with new phones", async () => {
    const dewi = await does("POST", "/phones", { name: "Dewi", kind: "hidden" });
    const group = await does("POST", "/groups", { subject: "Team", members: [ANA, dewi.number] });
    const id = await say(dewi.number, "good morning", group.id);

    expect(await shown(ANA, { id })).toMatchObject({
      chat: group.id,
      from: dewi.number,
      text: "good morning",
    });
    expect(await shown(SHOP, { id })).toMatchObject({ chat: group.id });
  });

  it("that are off get what was sent when they are on again, and nothing counts as lost meanwhile", async () => {
    await does("PUT", `/phones/${BUDI}/online`, { on: false });
    const gateway = { "content-type": "application/json", authorization: `Bearer ${opened.apiKey}` };
    const body = JSON.stringify({ sender: SHOP, number: BUDI, message: "while you were away" });
    await fetch(`${opened.baseUrl}/send-message`, { method: "POST", headers: gateway, body });
    const verdict = await does("POST", "/verdict");
    expect({
      ...verdict,
      problems: verdict.problems.filter((line: string) => line.startsWith("lost")),
    }).toMatchObject({ lost: 0, doubled: 0, problems: [] });
    expect(on(BUDI, { text: "while you were away" })).toBeUndefined();

    await does("PUT", `/phones/${BUDI}/online`, { on: true });
    expect(await shown(BUDI, { text: "while you were away" })).toMatchObject({ from: SHOP });
  });
});

describe("faults", () => {
  it("hold messages back until they come as a backlog", async () => {
    await does("PUT", "/faults/backlog", { on: true });
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.push(await say(CARMEN, "ping"));
    expect(ids.map((id) => on(CARMEN, { id })?.taken)).not.toContain(true);

    await does("PUT", "/faults/backlog", { on: false });
    await until(() => ids.every((id) => on(CARMEN, { id })?.why?.outcome === "answered"));
    expect(world.faults.backlog).toBe(false);
  });

  it("let the line be slow: a long message takes its time, and nothing is lost", async () => {
    await does("PUT", "/faults/slow", { on: true });
    const begun = Date.now();
    const id = await say(ANA, `slowly ${"x".repeat(2_400)}`);
    await until(() => on(ANA, { id })?.taken);
    // 800 bytes a second.
    expect(Date.now() - begun).toBeGreaterThan(2_000);
    await does("PUT", "/faults/slow", { on: false });

    const ping = await say(ANA, "ping");
    await until(() => on(ANA, { id: ping })?.why?.outcome === "answered");
    expect(world.faults.slow).toBe(false);
    expect(await does("POST", "/verdict")).toMatchObject({ lost: 0 });
  });

  it("let WhatsApp refuse an answer, which says so and is not taken for lost", async () => {
    await does("PUT", "/faults/refused", { on: true });
    const id = await say(BUDI, "ping");
    await until(() => on(BUDI, { id })?.why?.outcome === "answered");
    await until(async () => {
      const { steps } = await does("GET", `/messages/${id}/trace`);
      return steps.some(
        ({ step, outcome }: { step: string; outcome?: string }) => step === "reply" && outcome === "failed",
      );
    });
    await does("PUT", "/faults/refused", { on: false });
    expect(await does("POST", "/verdict")).toMatchObject({ lost: 0, refused: 1 });
  });

  it("let the webhook be down", async () => {
    await does("PUT", "/faults/webhook", { on: true });
    const before = world.webhook.refused;
    await say(BUDI, "something no bot knows");
    await until(() => world.webhook.refused > before);
    await does("PUT", "/faults/webhook", { on: false });

    await until(() => on(BUDI, { text: "We read “something no bot knows” and will write back today." }));
    expect(world.faults.webhook).toBe(false);
  });
});

describe("the gateway", () => {
  it("is killed while people write, comes back, and nothing is lost, doubled or out of order", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await say(ANA, "ping"));
    await does("POST", "/kill");
    for (let n = 0; n < 3; n++) ids.push(await say(CARMEN, "ping"));
    await until(
      () => world.gateway.up && world.verdict !== null && !world.judging && world.gateway.kills === 1,
    );
    await until(() =>
      ids.every((id) => (on(ANA, { id }) ?? on(CARMEN, { id }))?.why?.outcome === "answered"),
    );

    expect(await does("POST", "/verdict")).toMatchObject({
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
      problems: [],
    });
  });

  it("is signed in to by a click, without its key in the browser", async () => {
    const response = await fetch(`${api}/console`, {
      method: "POST",
      headers: { "x-playground-token": token, "content-type": "application/json" },
      body: JSON.stringify({ as: "account" }),
    });
    const text = await response.text();
    expect(JSON.parse(text).data.url).toBe(`${opened.baseUrl}/console`);
    expect(text).not.toContain(opened.apiKey);
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toContain("HttpOnly");
    const session = await fetch(`${opened.baseUrl}/console/session`, {
      headers: { cookie: cookie!.split(";")[0]! },
    });
    expect(await session.json()).toMatchObject({ data: { kind: "key", account: { name: "demo" } } });
  });

  it("serves no playground itself", async () => {
    for (const path of ["/playground", "/playground/", "/playground/api/events"])
      expect((await fetch(opened.baseUrl + path)).status).toBe(404);
  });
});

describe("the page", () => {
  let browser: Browser;
  let page: Page;
  /** What the page's policy refused, and what went wrong in it. */
  const complaints: string[] = [];
  const handset = (phone: string) => page.locator(`[data-phone="${phone}"]`);
  const bubble = (phone: string, text: string) => handset(phone).locator("[data-message]", { hasText: text });
  const type = async (phone: string, text: string): Promise<void> => {
    await handset(phone).getByRole("textbox").fill(text);
    await handset(phone).getByRole("textbox").press("Enter");
  };
  const attach = async (phone: string, what: string): Promise<void> => {
    await handset(phone).getByRole("button", { name: "Send something else" }).click();
    await page.getByRole("menuitem", { name: what, exact: true }).click();
  };
  const actOn = async (phone: string, text: string, what: string | RegExp): Promise<void> => {
    // An answer that comes meanwhile moves the message, and its menu with it.
    await until(async () => {
      await bubble(phone, text).first().hover();
      await bubble(phone, text).first().getByRole("button", { name: "Message actions" }).click();
      const item = page.getByRole("menuitem", { name: what });
      const done = await item.click({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
      if (!done) await page.keyboard.press("Escape");
      return done;
    });
  };

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    page = await (
      await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB" })
    ).newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(opened.url);
  });
  afterAll(() => browser?.close());

  it("takes its token out of the address, and says where to find it when it has none", async () => {
    await handset(ANA).waitFor();
    expect(page.url()).not.toContain(token);
    await page.reload();
    await handset(ANA).waitFor();

    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(opened.url.split("#")[0]!);
    await stranger.getByText("This address lacks its key").waitFor();
    await stranger.context().close();
  });

  it("links the number by a click", async () => {
    await page.getByRole("button", { name: "Remove on the phone" }).click();
    await page.getByRole("button", { name: "Show a QR code" }).click();
    await page.getByRole("img", { name: "The gateway's QR code" }).waitFor();
    await page.getByRole("button", { name: "Scan with the shop's phone" }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(world.number.state).toBe("connected");
  });

  it("writes from two phones, each kind of message by clicks, and says why it was answered", async () => {
    await type(ANA, "a first word");
    await type(CARMEN, "hours");
    await bubble(CARMEN, "Our opening hours").first().waitFor();
    await bubble(CARMEN, "hours").first().getByText("Answered by opening-hours").waitFor();
    for (const what of ["Photo", "Voice note", "Document", "Place", "Contact"]) await attach(ANA, what);
    await handset(ANA).locator('[data-kind="image"] img').last().waitFor();
    await handset(ANA).locator('[data-kind="voice"] audio').last().waitFor();
    await attach(ANA, "Poll");
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await handset(ANA).getByRole("button", { name: "Afternoon" }).click();
    await handset(ANA).locator('[data-option="Afternoon"][aria-pressed="true"]').waitFor();

    await actOn(ANA, "a first word", "React with ❤️");
    await bubble(ANA, "❤️").waitFor();
    await actOn(ANA, "a first word", "Edit");
    await page.getByRole("dialog").getByRole("textbox").fill("a better word");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await bubble(ANA, "a better word").getByText("edited").waitFor();
    await actOn(ANA, "a better word", "Delete for everyone");
    await handset(ANA).getByText("This message was deleted").last().waitFor();

    await bubble(CARMEN, "hours").first().locator("[data-why]").click();
    await page.getByRole("dialog").locator('[data-step="decided"]').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await handset(ANA).locator("[data-message]").count()).toBeGreaterThan(8);
  });

  it("has switches whose effect is seen", async () => {
    const { refused } = world.webhook;
    const down = page.getByRole("switch", { name: "The webhook is down" });
    await down.click();
    await type(BUDI, "does anybody hear me");
    await until(() => world.webhook.refused > refused);
    expect(await bubble(BUDI, "We read “does anybody").count()).toBe(0);
    await down.click();
    await bubble(BUDI, "We read “does anybody").waitFor();

    await handset(BUDI).getByRole("button", { name: "Switch the phone off" }).click();
    await handset(BUDI).getByText("Offline: what is sent waits at WhatsApp.").waitFor();
    await handset(BUDI).getByRole("button", { name: "Switch the phone on" }).click();
    await attach(CARMEN, "Call the number");
    await handset(CARMEN).getByText("The call was declined").waitFor();
    await bubble(CARMEN, "We cannot take calls here").first().waitFor();
    await handset(CARMEN).getByRole("button", { name: "Hang up" }).click();
    await handset(CARMEN).getByText("The call was declined").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("button", { name: "Connect again" }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(world.number.state).toBe("connected");
  });

  it("kills the gateway and shows that nothing was lost", async () => {
    const { kills } = world.gateway;
    await type(ANA, "ping");
    await page.getByRole("button", { name: "Kill the gateway" }).click();
    await type(CARMEN, "ping");
    await until(
      () =>
        world.gateway.kills > kills &&
        world.gateway.up &&
        !world.judging &&
        world.number.state === "connected",
    );
    await page.getByRole("button", { name: "Judge now" }).click();
    await page.locator("[data-verdict]", { hasText: "Nothing is missing" }).waitFor();
    for (const count of ["lost", "doubled", "outOfOrder"])
      expect(await page.locator(`[data-count="${count}"] dd`).innerText()).toBe("0");
  });

  it("saves a conversation as a story, which then runs green", async () => {
    await handset(CARMEN).getByRole("button", { name: "Save as story" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("File").fill("carmen");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.locator("[data-story]").waitFor();
    const file = join(stories, "carmen.story.yaml");
    expect(await dialog.locator("[data-story]").textContent()).toBe(readFileSync(file, "utf8"));
    await page.keyboard.press("Escape");

    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", "src/cli/main.ts", "bots", "replay", file],
      { cwd: ROOT },
    );
    expect(stdout).toMatch(/1 (story|stories)/);
  });

  it.each([390, 820, 1440])(
    "has no serious flaw in accessibility and nothing that sticks out at %i pixels",
    async (width) => {
      await page.setViewportSize({ width, height: 900 });
      expect(await faultsOf(page)).toEqual([]);
      expect(await tooWide(page)).toBeLessThanOrEqual(0);
    },
  );

  it("speaks four languages, and nothing of it is refused by its own policy", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const [language, word] of [
      ["Español", "Matar el gateway"],
      ["Português", "O que dá errado"],
      ["Bahasa Indonesia", "Yang bisa salah"],
      ["English", "What goes wrong"],
    ] as const) {
      await page.locator(".look").click();
      await page.getByRole("menuitem", { name: language }).click();
      await page.getByText(word, { exact: true }).first().waitFor();
    }
    expect(complaints).toEqual([]);
  });

  describe("of npm run dev", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-author-"));
    const save = (file: string, source: string): void => writeFileSync(join(folder, file), source);
    const reload = (bot: string, what: string) =>
      page.locator(`[data-reload="${bot}"]`, { hasText: what }).first();
    // The webhook's answer has the text as well.
    const note = (text: string, kind: string) => bubble(ANA, text).first().locator(`[data-note="${kind}"]`);
    let end: () => Promise<void>;
    let address = "";

    beforeAll(async () => {
      save("hello.ts", HELLO_BOT);
      save("odd.ts", `export default { priorty: 1, routes() {} };`);
      const args = ["--import", "tsx", "src/demo/dev.ts", "--no-open", folder];
      const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      end = async () => {
        if (child.exitCode === null && child.kill("SIGINT")) await once(child, "close");
        rmSync(folder, { recursive: true });
      };
      const wanted = /Playground +(\S+)/;
      await until(() => {
        if (child.exitCode !== null) throw new Error(`It ended:\n${said}`);
        return wanted.test(said);
      }, 150_000);
      address = wanted.exec(said)![1]!;
      await page.goto(address);
      await page.getByRole("button", { name: "Scan with the shop's phone" }).click();
      await page.getByText("Connected", { exact: true }).waitFor();
    }, 240_000);
    afterAll(() => end?.(), 60_000);

    it("says which bots were read again and when, and what may not be meant", async () => {
      const odd = page.locator('[data-warned="odd"]');
      await odd.waitFor();
      expect(await odd.innerText()).toMatch(
        /"priorty" is not known.*Did you mean "priority"\? \(odd\.ts:1\)/,
      );
      await type(ANA, "hello");
      await bubble(ANA, "Hello from one").waitFor();

      save("hello.ts", HELLO_BOT.replace("from one", "from two"));
      await reload("hello", "reloaded").locator("time").waitFor();
      await type(ANA, "hello");
      await bubble(ANA, "Hello from two").waitFor();
      save("fresh.ts", HELLO_BOT.replace(/hello/g, "fresh"));
      await reload("fresh", "added").waitFor();
      await until(async () => {
        await type(ANA, "fresh");
        return (await bubble(ANA, "Hello from one").count()) >= 2;
      });
      rmSync(join(folder, "fresh.ts"));
      await reload("fresh", "removed").waitFor();
    });

    it("says where a file is broken, and that the previous version goes on, until it is mended", async () => {
      save("hello.ts", `${HELLO_BOT}\nthrow new TypeError("no words yet");\n`);
      const broken = page.locator('[data-broken="hello"]');
      await broken.getByText("TypeError: no words yet (hello.ts:7)").waitFor();
      await broken.getByText("the previous version goes on").waitFor();
      await type(CARMEN, "hello");
      await bubble(CARMEN, "Hello from two").waitFor();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await faultsOf(page)).toEqual([]);
        expect(await tooWide(page)).toBeLessThanOrEqual(0);
      }

      save("hello.ts", HELLO_BOT);
      await broken.waitFor({ state: "detached" });
    });

    it("puts an error and a warning beside the message that caused it, and no other", async () => {
      await type(ANA, "sum of nothing");
      await note("sum of nothing", "error").getByText("RangeError: no sum").waitFor();
      await note("sum of nothing", "error")
        .getByText(/^hello\.ts:6:\d+$/)
        .waitFor();
      await type(ANA, "price");
      await note("price", "warning").getByText("hello at keyword:price: no price is known").waitFor();
      await bubble(ANA, "Ask us").waitFor();
      expect(await handset(ANA).locator("[data-note]").count()).toBe(2);
      expect(await handset(CARMEN).locator("[data-note]").count()).toBe(0);
      expect(await faultsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it("has the gateway's console, and is killed as the other is", async () => {
      const popup = page.context().waitForEvent("page");
      await page.getByRole("button", { name: "Open the console" }).click();
      await page.getByRole("menuitem", { name: "As the account" }).click();
      const desk = await popup;
      await desk.getByRole("navigation").getByRole("link", { name: "Bots" }).waitFor();
      const { data } = await desk.evaluate(async () => (await fetch("/console/session")).json());
      expect(data.playground).toBe(address);
      await desk.close();

      save("late.ts", HELLO_BOT.replace(/hello/g, "late"));
      await reload("late", "added").waitFor();
      save("late.ts", "export default 5;");
      const broken = page.locator('[data-broken="late"]');
      await broken.getByText("the previous version goes on").waitFor();
      await page.getByRole("button", { name: "Kill the gateway" }).click();
      await type(BUDI, "hello");
      await bubble(BUDI, "Hello from one").waitFor();
      // What was killed has no version of before.
      await broken.getByText("does not answer").waitFor();
      expect(await bubble(BUDI, "Hello from one").count()).toBe(1);
    });
  });
});
