import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { closeConsole, openConsole, tooWide, type ConsoleWorld } from "../_setup/console-world.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { ANA, HOSTILE, picture, SHOP, stored } from "./chats-traffic.ts";

/** Runs, reads from right to left, hides, and fills; short, for places in which WhatsApp takes no longer text. */
const BAD = `${HOSTILE.script} \u202Egnp.exe\u202C a\u200b\u0007b`;
const LONG = `${BAD} ${"W".repeat(3_000)}`;
/** What turns the text that comes after it. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

let world: ConsoleWorld;
let group: string;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: LONG });
});
afterAll(() => closeConsole(world));

/** Everything that somebody can write, with hostile words in every place. @returns the message that a webhook is asked about */
async function everything(): Promise<string> {
  const { sim, gateway, key } = world;
  const receiver = await startReceiver({ message: `re ${LONG}`, nonsense: LONG });
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
  group = (await sim.addGroup({ subject: LONG.slice(0, 90), description: LONG, members: [SHOP, ANA] })).id;
  const first = await sim.sendText(ANA, SHOP, LONG);
  const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:${BAD}\nEND:VCARD`;
  const bytes = picture(8, 8, [1, 2, 3]);
  const sent = await Promise.all([
    sim.send(ANA, SHOP, { kind: "image", bytes, mimetype: "image/png", caption: LONG }),
    sim.send(ANA, SHOP, { kind: "document", bytes, mimetype: BAD, fileName: `${LONG}.png`, caption: BAD }),
    sim.send(ANA, SHOP, { kind: "location", latitude: 1, longitude: 2, name: LONG, address: LONG }),
    sim.send(ANA, SHOP, { kind: "contacts", contacts: [{ name: LONG, vcard }] }),
    sim.send(ANA, SHOP, { kind: "poll", name: LONG, options: [`${BAD}1`, `${LONG}2`] }),
    sim.sendText(ANA, SHOP, "quoting", { quoted: { id: first.id, text: LONG } }),
    sim.sendText(ANA, group, LONG),
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
  const turned = [...text.matchAll(new RegExp(`.{0,40}${TURNS.source}.{0,40}`, "g"))].map(([part]) => part);
  return [
    ...(ran ? ["it ran"] : []),
    ...turned.map((part) => `turned: ${JSON.stringify(part)}`),
    ...(TURNS.test(title) ? ["the title is turned"] : []),
    ...(wide > 0 ? [`${wide} px too wide`] : []),
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

describe("what strangers write, webhooks answer and owners name", () => {
  it("is words and nothing else, in every place that shows it, on a desk and on a phone", async () => {
    const first = await everything();
    const { gateway, key, sim } = world;
    await sim.settle();
    await until(async () => (await gateway.get("/deliveries?state=delivered", { key })).body["total"] >= 7);
    const chat = (await gateway.get("/chats", { key })).body["data"].find((one: any) => !one.is_group).chat;
    const withAna = `/chats/${SHOP}/${encodeURIComponent(chat)}`;
    /** What is on the screen once it is whole. */
    const places: [path: string, whole: (page: Page) => Promise<unknown>][] = [
      [
        "/chats",
        (page) =>
          page
            .getByRole("option")
            .nth(1)
            .getByText(/U\+202E/)
            .first()
            .waitFor(),
      ],
      [withAna, (page) => page.locator("[data-message]").getByText("U+202E").first().waitFor()],
      [`${withAna}/${first}`, (page) => page.locator("[data-line]").waitFor()],
      [
        `/chats/${SHOP}/${encodeURIComponent(group)}`,
        (page) => page.locator("[data-message]").first().waitFor(),
      ],
      [
        `/groups/${SHOP}`,
        (page) =>
          page
            .getByText(/U\+202E/)
            .first()
            .waitFor(),
      ],
      ["/deliveries", openDelivery],
      [`/webhooks/${SHOP}`, testWebhook],
    ];
    const found: string[] = [];
    for (const size of ["desk", "phone"] as const) {
      const page = await world.open("/", { size });
      onTestFinished(() => page.context().close());
      for (const [path, whole] of places) {
        await page.goto(`${gateway.url}/console${path}`);
        await whole(page);
        found.push(...(await faults(page)).map((fault) => `${size} ${path}: ${fault}`));
        if (process.env["CONSOLE_PICTURES"])
          await page.screenshot({
            path: `${process.env["CONSOLE_PICTURES"]}/hostile-${size}-${places.findIndex(([one]) => one === path)}.png`,
          });
      }
    }
    expect(found).toEqual([]);
  });
});
