import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { closeConsole, openConsole, tooWide, type ConsoleWorld } from "../_setup/console-world.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { ANA, HOSTILE, picture, SHOP, stored } from "./chats-traffic.ts";

/** Runs, reads from right to left, hides, piles up, and fills; short, for places in which WhatsApp takes no longer text. */
const BAD = `\u202Egnp.exe\u202C ${HOSTILE.script} a\u200b\u0007b ${"\u200d".repeat(20)}e${"\u0301".repeat(40)}`;
const LONG = `${BAD} ${"W".repeat(3_000)}`;
/** As much as WhatsApp lets somebody write, without a place to break it. */
const LONGEST = `${BAD} ${"W".repeat(65_536)}`.slice(0, 65_536);
/** What turns the text that comes after it. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

const isLong = process.env["PARLEY_TEST_LONG"] === "1";

let world: ConsoleWorld;
let group: string;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.bindBots(SHOP, "ping");
  await world.sim.addContact(ANA, { name: LONG });
});
afterAll(() => closeConsole(world));

/** Everything that somebody can write, with hostile words in every place. @returns the message that a webhook is asked about */
async function everything(): Promise<string> {
  const { sim, gateway, key } = world;
  const receiver = await startReceiver({ message: `re ${LONG}`, nonsense: LONG });
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
  group = (await sim.addGroup({ subject: LONG.slice(0, 90), description: LONG, members: [SHOP, ANA] })).id;
  const first = await sim.sendText(ANA, SHOP, LONGEST);
  const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:${BAD}\nEND:VCARD`;
  const bytes = picture(8, 8, [1, 2, 3]);
  const sent = await Promise.all([
    sim.send(ANA, SHOP, { kind: "image", bytes, mimetype: "image/png", caption: LONG }),
    sim.send(ANA, SHOP, { kind: "document", bytes, mimetype: BAD, fileName: `${LONG}.png`, caption: BAD }),
    sim.send(ANA, SHOP, { kind: "location", latitude: 1, longitude: 2, name: LONG, address: LONG }),
    sim.send(ANA, SHOP, { kind: "contacts", contacts: [{ name: LONG, vcard }] }),
    sim.send(ANA, SHOP, { kind: "poll", name: LONG, options: [`${BAD}1`, `${LONG}2`] }),
    sim.sendText(ANA, SHOP, "quoting", { quoted: { id: first.id, text: LONG } }),
    sim.sendText(ANA, group, LONGEST),
  ]);
  await sim.react(ANA, first.id, BAD);
  await sim.edit(ANA, sent[5].id, LONG);
  for (const { id } of [first, ...sent]) await stored(world, id);
  await gateway.post(
    "/send-poll",
    { sender: SHOP, number: ANA, name: LONG.slice(0, 250), option: [BAD, "b"] },
    { key },
  );
  await gateway.post("/groups", { sender: SHOP }, { key });
  await sim.setAbout(ANA, LONG.slice(0, 139));
  const channel = await sim.addChannel({ name: LONG.slice(0, 90), description: LONG });
  await gateway.post("/channels", { sender: SHOP, channel: channel.link }, { key });
  const named = { name: BAD.slice(0, 100), permissions: ["messages"] };
  expect((await gateway.post("/api-keys", named, { key })).status).toBe(200);
  await gateway.patch(
    `/admin/accounts/${world.account}`,
    { name: BAD.slice(0, 100) },
    { key: gateway.adminToken },
  );
  return first.id;
}

/** What is wrong with a page that shows such words. */
async function faults(page: Page): Promise<string[]> {
  const ran = await page.evaluate(
    () => "__hacked" in globalThis || document.querySelector('img[src="x"]') !== null,
  );
  const text = await page.evaluate(() => document.body.innerText);
  const title = await page.title();
  const wide = await tooWide(page);
  const tables = await page
    .locator(".frame")
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  const turned = [...text.matchAll(new RegExp(`.{0,40}${TURNS.source}.{0,40}`, "g"))].map(([part]) => part);
  return [
    ...(ran ? ["it ran"] : []),
    ...turned.map((part) => `turned: ${JSON.stringify(part)}`),
    ...(TURNS.test(title) ? ["the title is turned"] : []),
    ...(wide > 0 ? [`${wide} px too wide`] : []),
    ...(tables > 0 ? ["a table is cut off"] : []),
  ];
}

async function openDelivery(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /^Details of / })
    .first()
    .click();
  await page.getByRole("dialog").getByText(/WWW/).first().waitFor();
}

async function testWebhook(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Post a sample" }).click();
  await page.getByRole("tab", { name: "Answer" }).click();
  await page.getByText(/WWW/).first().waitFor();
}

/** The words are there, and what turned them has its name. */
async function words(page: Page): Promise<void> {
  await page
    .locator("#content")
    .getByText(/U\+202E/)
    .and(page.locator(":visible"))
    .first()
    .waitFor();
}
async function searched(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Search this conversation" }).click();
  await page.getByRole("searchbox", { name: "Words" }).fill("WWW");
  await page
    .getByRole("dialog")
    .getByText(/U\+202E/)
    .nth(1)
    .waitFor();
}
async function act(page: Page, what: string): Promise<void> {
  await page.locator("[data-message]").filter({ hasText: "U+202E" }).last().hover();
  await page.getByRole("button", { name: "Actions of this message" }).last().click();
  await page.getByRole("menuitem", { name: what }).click();
}
async function quoted(page: Page): Promise<void> {
  await act(page, "Quote");
  await page.getByRole("button", { name: "Do not quote" }).waitFor();
}
async function forwarded(page: Page): Promise<void> {
  await act(page, "Forward");
  await page
    .getByRole("dialog")
    .getByText(/U\+202E/)
    .first()
    .waitFor();
}
async function goingTo(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "A screen, a number or a chat" }).fill("gnp");
  await page
    .getByRole("option")
    .getByText(/U\+202E/)
    .first()
    .waitFor();
}
async function deleted(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Actions for .*202E/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").waitFor();
}

/** Where strangers' words are, and how the place is whole. */
function places(first: string, chat: string): [path: string, whole: (page: Page) => Promise<unknown>][] {
  const withAna = `/chats/${SHOP}/${encodeURIComponent(chat)}`;
  const ofGroup = encodeURIComponent(group);
  return [
    ["/home", goingTo],
    ["/chats", words],
    [withAna, words],
    [withAna, searched],
    [withAna, quoted],
    [withAna, forwarded],
    [`${withAna}/${first}`, (page) => page.locator("[data-line]").waitFor()],
    [`/chats/${SHOP}/${ofGroup}`, words],
    [`/bots/fork?sender=${SHOP}&chat=${encodeURIComponent(chat)}`, words],
    [`/contacts/${SHOP}`, words],
    [`/contacts/${SHOP}/${ANA}`, words],
    [`/groups/${SHOP}`, words],
    [`/groups/${SHOP}/${ofGroup}`, words],
    [`/channels/${SHOP}`, words],
    ["/deliveries", openDelivery],
    [`/webhooks/${SHOP}`, testWebhook],
    ["/keys", words],
    ["/keys", deleted],
    ["/account", words],
  ];
}

describe("what strangers write, webhooks answer and owners name", () => {
  it("is words and nothing else, in every place that shows it, on a desk and on a phone", async () => {
    const first = await everything();
    const { gateway, key, sim } = world;
    await sim.settle();
    await until(async () => (await gateway.get("/deliveries?state=delivered", { key })).body["total"] >= 7);
    const chat = (await gateway.get("/chats", { key })).body["data"].find((one: any) => !one.is_group).chat;
    const found: string[] = [];
    for (const size of ["desk", "phone"] as const) {
      const page = await world.open("/", { size });
      onTestFinished(() => page.context().close());
      for (const [path, whole] of places(first, chat)) {
        // What differs by width is tried on a phone: a desk has it all beside one another in conversations alone.
        if (size === "desk" && !isLong && !path.startsWith("/chats")) continue;
        await page.goto(`${gateway.url}/console${path}`);
        await whole(page);
        found.push(...(await faults(page)).map((fault) => `${size} ${path} ${whole.name}: ${fault}`));
        if (process.env["CONSOLE_PICTURES"])
          await page.screenshot({
            path: `${process.env["CONSOLE_PICTURES"]}/hostile-${size}-${path.replaceAll(/\W+/g, "-").slice(0, 40)}-${whole.name}.png`,
          });
      }
    }
    expect(found).toEqual([]);
  });
});
