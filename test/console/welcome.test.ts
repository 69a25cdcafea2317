import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { heading, linkAndAnswer, press, toPlayground } from "../_setup/first-visit.ts";

/** As the demo gives it. */
const PLAYGROUND = "http://127.0.0.1:9/playground#token=of-the-demo";

describe("the first visit", () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole({ env: { PLAYGROUND_URL: PLAYGROUND } });
  });
  afterAll(() => closeConsole(world));

  it("begins with an account for an operator who has chosen none", async () => {
    const page = await world.open("/welcome", { operator: true });
    await page.getByLabel("Name").fill("Kopi Senja");
    await press(page, "Next");
    await page.getByText("It is shown only now").waitFor();
    await press(page, "Next");
    await heading(page, "Which number answers?").waitFor();
    const { body } = await world.gateway.get("/admin/accounts", { key: world.gateway.adminToken });
    expect(body["data"]).toContainEqual(expect.objectContaining({ name: "Kopi Senja", plan: "pro" }));
    await page
      .getByRole("button", { name: /Kopi Senja/ })
      .first()
      .waitFor();
    await page.context().close();
  });

  it("leads from a number to its first answer", async () => {
    const page = await world.open("/");
    await heading(page, "Welcome").waitFor();
    const led: Record<string, string | null> = {};
    await linkAndAnswer(page, world.sim, async (step) => {
      if (["waiting", "bot"].includes(step)) led[step] = await toPlayground(page).getAttribute("href");
    });
    expect(led).toEqual({ waiting: PLAYGROUND, bot: PLAYGROUND });
    await page.getByRole("link", { name: "Go to the conversations" }).click();
    await page.getByText("pong").first().waitFor();

    // What is done is not asked again.
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByRole("heading", { name: "Home" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/home");
    await page.context().close();
  });

  it("fits three widths in two themes at each step, and axe finds nothing serious", async () => {
    const page = await world.open("/welcome", { operator: true });
    const fits = () =>
      everywhere(page, async (name) => {
        expect(await tooWide(page), name).toBeLessThanOrEqual(0);
        expect(await faultsOf(page), name).toEqual([]);
      });
    await page.getByLabel("Name").waitFor();
    await fits();
    await page.goto(`${world.gateway.url}/console/choose`);
    await page.getByRole("button", { name: /^Test/ }).first().click();
    await heading(page, "Home").waitFor();
    await page.goto(`${world.gateway.url}/console/welcome`);
    await heading(page, "It arrived").waitFor();
    await fits();
    await press(page, "Next");
    await page.getByText("Answers to").first().waitFor();
    await fits();
    await page.context().close();
  });

  it("says that a link was used, and asks for the token instead", async () => {
    const page = await world.open(`/sign-in#${"A".repeat(43)}`, { key: null });
    await page.getByText("It works once.").waitFor();
    await press(page, "Sign in");
    await page.getByText("was used or has ended").waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/console/sign-in`);
    await page.getByLabel("Operator's token").last().fill(world.gateway.adminToken);
    await page.keyboard.press("Enter");
    await heading(page, "Choose an account").waitFor();
    await page.context().close();
  });
});
