import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";

const FIRST_SCREEN_BYTES = 150 * 1024;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
});
afterAll(() => closeConsole(world));

const pathOf = (page: Page): string => new URL(page.url()).pathname;
const secret = (page: Page) => page.getByRole("textbox", { name: /^(API key|Operator's token)$/ });

/** Everything that the browser keeps of a page, but for its cookies. */
const kept = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

describe("signing in", () => {
  it("says what is wrong with a key, takes a right one, and keeps nothing but the cookie", async () => {
    const page = await world.open("/signed-in", { key: null });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Paste your API key.").waitFor();
    await secret(page).fill("pk_wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This gateway does not know this key").waitFor();

    await secret(page).fill(`  ${world.key} `);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Signed-in devices" }).waitFor();
    expect(pathOf(page)).toBe("/console/signed-in");
    expect(await kept(page)).not.toContain(world.key);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "parley", httpOnly: true, sameSite: "Strict", path: "/" });
    await page.context().close();
  });

  it("says for how long no more attempts count", async () => {
    const page = await world.open("/", { key: null });
    await page.route("**/console/session", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 429,
            headers: { "retry-after": "42" },
            json: { status: false, message: "Too many wrong keys.", errors: { code: "RATE_LIMITED" } },
          })
        : route.fallback(),
    );
    await secret(page).fill("pk_wrong");
    await page.keyboard.press("Enter");

    await page.getByText(/Try again in (4[0-2]|3\d) seconds/).waitFor();
    expect(await page.getByRole("button", { name: "Sign in" }).isDisabled()).toBe(true);
    await page.context().close();
  });

  it("lets an operator choose an account, and make one", async () => {
    const page = await world.open("/", { key: null });
    await page.getByText("Operator's token").first().click();
    await secret(page).fill(world.gateway.adminToken);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Choose an account" }).waitFor();

    await page.getByRole("button", { name: "New account" }).click();
    await page.getByLabel("Name").fill("Kopi Senja");
    await page.getByRole("dialog").getByRole("button", { name: "New account" }).click();
    await page.getByText("It is shown only now").waitFor();
    await page.getByRole("button", { name: "Go to the account" }).click();

    await page
      .getByRole("button", { name: /Kopi Senja/ })
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Numbers" }).first().click();
    await page.getByRole("heading", { name: "Link your first number" }).waitFor();
    expect(pathOf(page)).toBe("/console/numbers");
    await page.context().close();
  });
});

describe("a gateway that does not answer", () => {
  it("is said so, with a way to try again", async () => {
    const page = await world.open("/sign-in", { key: null });
    await page.route("**/console/session", (route) =>
      route.fulfill({
        status: 500,
        headers: { "x-request-id": "req-7" },
        json: { status: false, message: "Internal error", errors: { code: "INTERNAL_ERROR" } },
      }),
    );
    await page.goto(`${world.gateway.url}/console/numbers`);
    await page.getByText("req-7").waitFor();
    await page.unroute("**/console/session");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).searchParams.get("to")).toBe("/numbers");
    await page.context().close();
  });
});

describe("a session that ends", () => {
  it("asks to sign in again in the same place, with what was written", async () => {
    const page = await world.open("/numbers/new");
    await page.getByLabel("Your WhatsApp number").fill("+62 812 345");
    const { body } = await world.gateway.get("/console/sessions", { key: world.key });
    for (const { id } of body["data"])
      await world.gateway.delete(`/console/sessions/${id}`, { key: world.key });
    // The line to the events ends with its session.
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await page.getByRole("heading", { name: "Add a number" }).waitFor({ state: "hidden" });

    await secret(page).fill(world.key);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Add a number" }).waitFor();
    expect(await page.getByLabel("Your WhatsApp number").inputValue()).toBe("+62 812 345");
    expect(pathOf(page)).toBe("/console/numbers/new");
    await page.context().close();
  });

  it("keeps the text of a form while one signs in again", async () => {
    const page = await world.open("/numbers/new");
    await page.getByLabel("Your WhatsApp number").fill("+62 812 345 6789");
    await page.context().clearCookies();
    // Also where the line of events has noticed it first, and the form is hidden already.
    await page
      .getByLabel("Your WhatsApp number")
      .evaluate((field) => (field as HTMLInputElement).form!.requestSubmit());
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();

    await secret(page).fill(world.key);
    await page.keyboard.press("Enter");

    const next = page.getByRole("button", { name: "Next" });
    const another = page.getByRole("button", { name: "Another number" });
    await next.or(another).first().waitFor();
    if (await next.isVisible()) await next.click();
    await page.getByText("+62 812 345 6789").waitFor();
    await another.click();
    expect(await page.getByLabel("Your WhatsApp number").inputValue()).toBe("+62 812 345 6789");
    await page.context().close();
  });

  it("can be ended from another device", async () => {
    const here = await world.open("/signed-in");
    const there = await world.open("/signed-in");
    const rows = there.getByRole("listitem");
    await there.getByText("This one").waitFor();
    const before = await rows.count();

    await rows.getByRole("button", { name: "Sign out" }).first().click();

    await there.getByText("Signed out there").waitFor();
    await expect.poll(() => rows.count()).toBe(before - 1);
    await Promise.all([here.context().close(), there.context().close()]);
  });
});

describe("every screen of the shell", () => {
  it.each(["/sign-in", "/numbers/new", "/signed-in", "/nowhere"])(
    "%s fits three widths in two themes, and axe finds nothing serious",
    async (path) => {
      const page = await world.open(path, path === "/sign-in" ? { key: null } : {});
      await page.getByRole("heading", { level: path === "/nowhere" ? 2 : 1 }).waitFor();
      await everywhere(page, async (name) => {
        expect(await tooWide(page), name).toBeLessThanOrEqual(0);
        expect(await faultsOf(page), name).toEqual([]);
      });
      await page.context().close();
    },
  );

  it("is there in the language of the browser, and from right to left", async () => {
    const page = await world.open("/signed-in", { locale: "pt-BR" });
    await page.getByRole("heading", { name: "Dispositivos conectados" }).waitFor();
    await page.goto(`${world.gateway.url}/console/signed-in?lang=rtl`);
    const heading = page.getByRole("heading", { name: "Signed-in devices" });
    await heading.waitFor();
    const [side, text] = await Promise.all([
      page.getByRole("complementary").boundingBox(),
      heading.boundingBox(),
    ]);
    expect(text!.x + text!.width).toBeLessThanOrEqual(side!.x);
    await everywhere(page, async (name) => expect(await tooWide(page), name).toBeLessThanOrEqual(0));
    await page.context().close();
  });

  it("can be used by keyboard alone", async () => {
    const page = await world.open("/signed-in");
    await page.getByText("This one").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");

    await page.getByRole("button", { name: /Account and settings/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Dark" }).waitFor();
    await page.keyboard.type("Dark");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    const name = await page.evaluate(() => document.activeElement?.textContent);
    expect(name).toMatch(/^Account and settings/);
    await page.context().close();
  });
});

describe("the first screen", () => {
  it("loads at most 150 KB of compressed script and style", async () => {
    const context = await world.browser.newContext();
    const page = await context.newPage();
    const asked = new Set<string>();
    page.on("request", (request) => void asked.add(new URL(request.url()).pathname));
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();

    const loaded = [...asked].filter((path) => /\/assets\/.*\.(js|css)$/.test(path));
    const bytes = loaded.map(
      (path) => gzipSync(readFileSync(join(world.folder, path.replace("/console/", "")))).length,
    );
    expect(loaded.length).toBeGreaterThan(1);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_SCREEN_BYTES);
    await context.close();
  });

  it("has no script and no style in its text, and nothing from elsewhere", () => {
    const html = readFileSync(join(world.folder, "index.html"), "utf8");
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/console\/)/);
    expect(readdirSync(world.folder)).toContain("index.html");
  });
});
