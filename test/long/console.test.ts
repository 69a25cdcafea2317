import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../src/accounts/caller.ts";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { until } from "../_setup/world.ts";

/** Every screen, as everybody may see it: `npm run test:long` alone, because it takes minutes. */
const SHOP = "6281234567001";
const ANA = "31600000002";

/** Screens of an account. The number is linked, and somebody has written to it. */
const SCREENS = [
  "/home",
  "/welcome",
  "/chats",
  `/chats/${SHOP}/${ANA}`,
  "/numbers",
  "/numbers/new",
  "/numbers/links",
  `/numbers/${SHOP}`,
  "/bots",
  `/bots/${SHOP}`,
  "/bots/fork",
  "/webhooks",
  `/webhooks/${SHOP}`,
  "/deliveries",
  `/channels/${SHOP}`,
  `/groups/${SHOP}`,
  "/keys",
  "/traffic",
  "/account",
  "/signed-in",
];
const OPERATOR = ["/choose", "/operator", "/operator/numbers", "/operator/accounts", "/operator/log"];
/** The last one is English, written from right to left. */
const LANGUAGES = ["en-GB", "es-ES", "pt-BR", "id-ID", "rtl"];

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  const ana = await world.sim.addContact(ANA, { name: "Ana" });
  await ana.sendText(SHOP, "Are you open on Sunday?");
  await until(async () => {
    const { body } = await world.gateway.get("/chats", { key: world.key });
    return body["data"].length > 0;
  });
});
afterAll(() => closeConsole(world));

/** The screen as it stays: nothing of it is being loaded any more. */
async function settled(page: Page): Promise<void> {
  await page.locator("h1, h2").first().waitFor();
  await page
    .locator(".skeleton")
    .waitFor({ state: "detached" })
    .catch(() => undefined);
}

describe.each(LANGUAGES)("in %s", (language) => {
  const viewer = { locale: language === "rtl" ? "en-GB" : language };
  const query = language === "rtl" ? "?lang=rtl" : "";

  it.each([
    ...SCREENS.map((path) => [path, false] as const),
    ...OPERATOR.map((path) => [path, true] as const),
  ])("%s fits three widths in two themes, and axe finds nothing serious", async (path, operator) => {
    const page = await world.open(`${path}${query}`, { ...viewer, operator });
    await settled(page);
    await everywhere(page, async (name) => {
      expect(await tooWide(page), name).toBeLessThanOrEqual(0);
      expect(await faultsOf(page), name).toEqual([]);
    });
    await page.context().close();
  });
});

describe.each(PERMISSIONS.filter((permission) => permission !== "*"))(
  "a key that may only: %s",
  (permission) => {
    it("is shown nothing that it may not do, and asks for nothing of the kind", async () => {
      const { body } = await world.gateway.post(
        "/api-keys",
        { name: permission, permissions: [permission] },
        { key: world.key },
      );
      const page = await world.open("/", { key: body["api_key"] });
      const refused: string[] = [];
      // The stream itself says that the key may hear of nothing: each page asks it once.
      const streams = { refused: 0, pages: 1 };
      page.on("domcontentloaded", () => streams.pages++);
      page.on("response", (answer) => {
        if (answer.status() !== 403) return;
        if (new URL(answer.url()).pathname === "/events") streams.refused++;
        else refused.push(answer.url());
      });
      await settled(page);
      const paths = await page
        .getByRole("navigation")
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname));
      for (const path of paths) {
        await page.goto(`${world.gateway.url}${path}`);
        await settled(page);
        expect(new URL(page.url()).pathname.startsWith(path)).toBe(true);
      }
      // An address that somebody else sent: what is not shown leads to where one begins.
      for (const path of SCREENS) {
        await page.goto(`${world.gateway.url}/console${path}`);
        await settled(page);
      }
      expect(refused).toEqual([]);
      expect(streams.refused).toBeLessThanOrEqual(streams.pages);
      await page.context().close();
    });
  },
);
