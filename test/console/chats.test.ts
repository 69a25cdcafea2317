import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { pdf, png } from "../unit/media/samples.ts";
import { ANA, BEN, EVE, HOSTILE, SHOP, someTraffic, stored } from "./chats-traffic.ts";

let world: ConsoleWorld;
let ids: Record<string, string>;
beforeAll(async () => {
  world = await openConsole();
  ids = await someTraffic(world);
});
afterAll(() => closeConsole(world));

const withAna = `/chats/${SHOP}/${ANA}`;
const message = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);
const text = async (page: Page, id: string): Promise<string> => (await message(page, id).textContent()) ?? "";

/** Where a message stands in the list from now on, frame by frame as they are drawn. @returns each place that it had, in pixels */
async function placesOf(feed: Locator, words: string): Promise<() => Promise<number[]>> {
  const places = await feed.evaluateHandle((element, line) => {
    const found = new Set<number>();
    const look = (): void => {
      const row = [...element.querySelectorAll<HTMLElement>("[data-message]")].find((one) =>
        one.querySelector(".words")?.textContent?.startsWith(`${line} `),
      );
      found.add(
        row === undefined
          ? Number.NaN
          : Math.round(row.getBoundingClientRect().top - element.getBoundingClientRect().top),
      );
    };
    const draw = (): void => {
      setTimeout(look);
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
    return found;
  }, words);
  return () => places.evaluate((found) => [...found]);
}

async function close(page: Page): Promise<void> {
  await page.context().close();
}

describe("the list of chats", () => {
  it("has names, what was written last and who waits, and is searched by name and digits", async () => {
    const page = await world.open("/chats");
    const options = page.getByRole("option");
    await options.nth(3).waitFor();
    await page.getByRole("option", { name: /Regulars/ }).waitFor();
    await page.getByRole("searchbox").fill("maría");
    await until(async () => (await options.count()) === 1);
    expect(await options.first().textContent()).toContain("I am typing this on the phone");

    await page.getByRole("searchbox").fill(BEN.slice(-6));
    await until(async () => ((await options.first().textContent()) ?? "").includes("<img src=x"));
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Unanswered" }).click();
    await until(async () => (await options.count()) === 3);
    await close(page);
  });

  it("counts what is unread until the chat is looked at", async () => {
    const page = await world.open("/chats");
    const chat = page.getByRole("option").filter({ hasText: "Are you there?" });
    const count = chat.getByRole("img", { name: /unread/ });
    await world.sim.sendText(BEN, SHOP, "Are you there?");
    await count.waitFor();
    expect(Number(await count.textContent())).toBeGreaterThan(0);

    // The list may move under the pointer while what is new comes in.
    await until(async () => {
      await chat.click();
      return page.url().includes(BEN);
    });
    await until(async () => {
      const query = `/chats?sender=${SHOP}&chat=${BEN}`;
      return (await world.gateway.get(query, { key: world.key })).body.data[0].unread === 0;
    });
    await page.keyboard.press("Escape");
    await until(async () => (await count.count()) === 0);
    await close(page);
  });

  it("is gone through and opened by keys, and Escape leads back", async () => {
    const page = await world.open("/chats");
    await page.getByRole("option").nth(3).waitFor();
    await page.getByRole("listbox").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.waitFor();
    await until(() => box.evaluate((element) => element === document.activeElement));
    await page.keyboard.press("Escape");
    await page.waitForURL(/\/chats$/);
    await until(() => page.getByRole("listbox").evaluate((element) => element === document.activeElement));
    expect(await page.getByRole("textbox", { name: "Write a message" }).count()).toBe(0);
    await close(page);
  });
});

/** Again and again: a list that is still measured stays at its end. */
const scrollUpTo = (page: Page, wanted: Locator): Promise<void> =>
  until(async () => {
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, 0));
    return await wanted.isVisible();
  });

describe("a conversation", () => {
  it("shows what became of each message: files, places, cards, edits, deletions, reactions, who answered", async () => {
    const page = await world.open(withAna);
    await message(page, ids["own"]!).waitFor();
    await scrollUpTo(page, message(page, ids["hello"]!));

    expect(await text(page, ids["hello"]!)).toContain("👍");
    expect(await text(page, ids["ping"]!)).toContain("Answered by: Bot ping");
    const image = message(page, ids["image"]!).locator("img");
    await until(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth === 64));
    expect(await text(page, ids["document"]!)).toContain("Order 12.pdf");
    expect(await text(page, ids["location"]!)).toContain("Jl. Merdeka 1");
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, feed.scrollHeight));
    await message(page, ids["mistake"]!).waitFor();
    expect(await text(page, ids["contact"]!)).toContain("Ben");
    expect(await text(page, ids["wrong"]!)).toContain("Three pieces");
    expect(await text(page, ids["wrong"]!)).toContain("edited");
    expect(await text(page, ids["mistake"]!)).toContain("Deleted by the writer");
    expect(await text(page, ids["own"]!)).toContain("Phone");
    await close(page);
  });

  it("sends once what is written, however it is clicked, and follows it to the reader", async () => {
    const page = await world.open(withAna);
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.fill("From a person");
    await page.getByRole("button", { name: "Send", exact: true }).dblclick();

    const arrived = await world.sim.waitForMessage(ANA, { text: "From a person" });
    await message(page, arrived.id).waitFor();
    await world.sim.markRead(ANA, arrived.id);
    await message(page, arrived.id).locator('[data-state="read"]').waitFor();
    expect(await text(page, arrived.id)).toContain("Console");
    expect(await world.sim.accepted({ from: SHOP, chat: ANA, kind: "text" })).toSatisfy(
      (all: { text?: string }[]) =>
        all.filter((one) => JSON.stringify(one).includes("From a person")).length === 1,
    );
    await close(page);
  });

  it("keeps what could not be sent, and sends it once when it is tried again", async () => {
    const page = await world.open(withAna);
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.waitFor();
    // The gateway has it, and its answers are lost, however often it is asked.
    let lost = true;
    await page.route("**/send-message", async (route) => {
      if (!lost) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await box.fill("Lost answer");
    await box.press("Enter");
    await world.sim.waitForMessage(ANA, { text: "Lost answer" });
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    lost = false;
    await again.click();
    await until(async () => (await page.locator("[data-outgoing]").count()) === 0);

    const all = await world.sim.messages(ANA, { from: SHOP, repeated: true });
    expect(all.filter((one) => JSON.stringify(one).includes("Lost answer"))).toHaveLength(1);
    await close(page);
  });

  it("reacts, edits and takes back, as the phone then shows it", async () => {
    const { sim } = world;
    const page = await world.open(`/chats/${SHOP}/${BEN}`);
    const act = async (id: string, what: string): Promise<void> => {
      await message(page, id).hover();
      await message(page, id).getByRole("button", { name: "Actions of this message" }).click();
      await page.getByRole("menuitem", { name: what }).click();
    };
    const theirs = await sim.sendText(BEN, SHOP, "React to this");
    await message(page, theirs.id).waitFor();
    await act(theirs.id, "React");
    await page.getByRole("radio", { name: "🙏" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "React", exact: true }).click();
    const reaction = await sim.waitForMessage(BEN, { kind: "reaction", text: "🙏" });
    expect(reaction.target).toBe(theirs.id);

    await page.getByRole("textbox", { name: "Write a message" }).fill("Wrng");
    await page.keyboard.press("Enter");
    const { id } = await sim.waitForMessage(BEN, { text: "Wrng" });
    await message(page, id).waitFor();
    await act(id, "Edit");
    await page.getByLabel("New text").fill("Right");
    await page.getByRole("button", { name: "Save" }).click();
    await sim.waitForMessage(BEN, { kind: "edit", target: id, text: "Right" });
    await until(async () => /Right[^]*edited/.test(await text(page, id)));

    await act(id, "Delete for everyone");
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await sim.waitForMessage(BEN, { kind: "revoke", target: id });
    await until(async () => (await text(page, id)).includes("Deleted by the writer"));
    await close(page);
  });

  it("answers the message that was chosen, as the phone then shows it, and not the next one as well", async () => {
    const { sim } = world;
    const guest = "447700900777";
    await sim.addContact(guest, { name: "Zoe" });
    const asked = await sim.sendText(guest, SHOP, "Is the soup vegan?");
    await stored(world, asked.id);
    const page = await world.open(`/chats/${SHOP}/${guest}`);
    await message(page, asked.id).hover();
    await message(page, asked.id).getByRole("button", { name: "Actions of this message" }).click();
    await page.getByRole("menuitem", { name: "Quote", exact: true }).click();
    const box = page.getByRole("textbox", { name: "Write a message" });
    await page.getByRole("menu").waitFor({ state: "detached" });
    await until(() => box.evaluate((element) => element === document.activeElement));
    const chosen = page.locator(".composer .quoted");
    await chosen.getByText("Is the soup vegan?").waitFor();
    await page.keyboard.type("It is");
    await page.keyboard.press("Enter");
    const arrived = await sim.waitForMessage(guest, { text: "It is" });
    expect(arrived).toMatchObject({ quoted: { id: asked.id, text: "Is the soup vegan?" } });
    await message(page, arrived.id).locator(".quote").getByText("Is the soup vegan?").waitFor();

    await until(async () => (await chosen.count()) === 0);
    await box.fill("And the bread");
    await box.press("Enter");
    expect(await sim.waitForMessage(guest, { text: "And the bread" })).not.toHaveProperty("quoted");
    await close(page);
  });

  it("keeps a draft, and shows a poll with its votes", async () => {
    const page = await world.open(withAna);
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.fill("half a sentence");
    await page.getByRole("option", { name: /Regulars/ }).click();
    await page.getByRole("heading", { name: "Regulars" }).waitFor();
    await page.getByRole("option", { name: /Ana María/ }).click();
    await until(async () => (await box.inputValue()) === "half a sentence");
    await box.fill("");

    await page.getByRole("button", { name: "More to send" }).click();
    await page.getByRole("menuitem", { name: "Send a poll" }).click();
    await page.getByLabel("Question").fill("Which day?");
    await page.getByLabel("Answer 1").fill("Monday");
    await page.getByLabel("Answer 2").fill("Friday");
    await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
    const poll = await world.sim.waitForMessage(ANA, { kind: "poll" });
    await message(page, poll.id).waitFor();
    await world.sim.votePoll(ANA, poll.id, ["Friday"]);
    const chosen = message(page, poll.id).locator('[data-votes="1"]');
    await chosen.waitFor();
    expect(await chosen.textContent()).toContain("Friday");
    await close(page);
  });

  it("sends a place, a contact and a text for later, hands a message on, and takes what waits back", async () => {
    const page = await world.open(withAna);
    const dialog = page.getByRole("dialog");
    const begin = async (what: string): Promise<void> => {
      await page.getByRole("button", { name: "More to send" }).click();
      await page.getByRole("menuitem", { name: what }).click();
    };
    const send = dialog.getByRole("button", { name: "Send", exact: true });
    await begin("Send a place");
    await dialog.getByLabel("Latitude and longitude").fill("not a place");
    await send.click();
    await dialog.getByText("Two numbers are needed").waitFor();
    await dialog.getByLabel("Latitude and longitude").fill("52.3731, 4.8922");
    await dialog.getByLabel("Name of the place").fill("Dam");
    expect(await faultsOf(page)).toEqual([]);
    await send.click();
    const place = { latitude: 52.3731, longitude: 4.8922, name: "Dam" };
    expect(await world.sim.waitForMessage(ANA, { kind: "location" })).toMatchObject({ location: place });

    await begin("Send a contact");
    await dialog.getByLabel("Name", { exact: true }).fill("Joe");
    await dialog.getByLabel("Phone number").fill("+31 6 12345678");
    expect(await faultsOf(page)).toEqual([]);
    await send.click();
    await world.sim.waitForMessage(ANA, { kind: "contacts" });

    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.fill("See you tomorrow");
    await begin("Send later");
    await dialog.getByLabel("Date and time").fill("2020-01-01T10:00");
    await dialog.getByRole("button", { name: "Schedule" }).click();
    await dialog.getByText("A time to come is needed").waitFor();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await dialog.getByLabel("Date and time").fill(tomorrow);
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Schedule" }).click();
    await until(async () => (await box.inputValue()) === "");
    const scheduled = async () => {
      const { body } = await world.gateway.get(`/scheduled?sender=${SHOP}`, { key: world.key });
      return body["data"] as { id: string }[];
    };
    await until(async () => (await scheduled()).length === 1);
    const [{ id: waiting }] = (await scheduled()) as [{ id: string }];
    await message(page, waiting).hover();
    await message(page, waiting).getByRole("button", { name: "Actions of this message" }).click();
    await page.getByRole("menuitem", { name: "Delete for everyone" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await until(async () => (await scheduled()).length === 0);

    const { id } = await world.sim.sendText(ANA, SHOP, "Please tell Ben");
    await message(page, id).hover();
    await message(page, id).getByRole("button", { name: "Actions of this message" }).click();
    await page.getByRole("menuitem", { name: "Forward" }).click();
    await dialog.getByLabel("To", { exact: true }).fill(BEN);
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Forward" }).click();
    const told = await world.sim.waitForMessage(BEN, { text: "Please tell Ben" });
    expect(told).toMatchObject({ forwarded: 1 });
    await close(page);
  });

  it("sends files of the browser: chosen, pasted and dropped, looked at first, and refused in words", async () => {
    const page = await world.open(withAna);
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.waitFor();
    const dialog = page.getByRole("dialog", { name: "Send a file" });
    const send = dialog.getByRole("button", { name: "Send", exact: true });

    await page.getByRole("button", { name: "More to send" }).click();
    await page.getByRole("menuitem", { name: "Send a file" }).click();
    const input = dialog.locator('input[type="file"]');
    await input.setInputFiles({ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) });
    await dialog.getByText("This file is empty").waitFor();
    expect(await send.isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Another file" }).click();
    await input.setInputFiles({
      name: "prices.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("a;b\n1;2\n"),
    });
    await dialog.getByLabel("Caption").fill("As of today");
    await send.click();
    await dialog.waitFor({ state: "detached" });
    const sheet = await world.sim.waitForMessage(ANA, { kind: "document", text: "As of today" }, 60_000);
    const { fileName, bytes } = await world.sim.mediaOf(ANA, sheet.id);
    expect([fileName, bytes.toString()]).toEqual(["prices.csv", "a;b\n1;2\n"]);

    await page.getByRole("button", { name: "More to send" }).click();
    await page.getByRole("menuitem", { name: "Send a file" }).click();
    const image = { name: "look <b>.png", mimeType: "image/png", buffer: png(400, 200) };
    await input.setInputFiles(image);
    await dialog.getByRole("img", { name: "Image" }).waitFor();
    await dialog.getByLabel("Caption").fill("From the browser");
    expect(await faultsOf(page)).toEqual([]);
    await send.click();
    await dialog.waitFor({ state: "detached" });
    const shown = await world.sim.waitForMessage(ANA, { kind: "image", text: "From the browser" }, 60_000);
    expect((await world.sim.mediaOf(ANA, shown.id)).bytes.length).toBe(image.buffer.length);

    // More than one part.
    const files = await page.evaluateHandle((head) => {
      const transfer = new DataTransfer();
      transfer.items.add(
        new File([head, new Uint8Array(1_500_000), "%%EOF"], "Menú.pdf", { type: "application/pdf" }),
      );
      return transfer;
    }, pdf().toString("latin1"));
    await page.dispatchEvent(".conversation-pane", "dragover", { dataTransfer: files });
    await page.getByText("Drop a file here").waitFor();
    await page.dispatchEvent(".conversation-pane", "drop", { dataTransfer: files });
    await dialog.getByText("Menú.pdf").waitFor();
    await send.click();
    await dialog.waitFor({ state: "detached" });
    const sent = await world.sim.waitForMessage(ANA, { kind: "document", count: 2 }, 60_000);
    expect(await world.sim.mediaOf(ANA, sent.id)).toMatchObject({ fileName: "Menú.pdf" });
    await message(page, sent.id).waitFor();

    await box.evaluate(
      (element, bytes) => {
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([new Uint8Array(bytes)], "image.png", { type: "image/png" }));
        element.dispatchEvent(
          new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
        );
      },
      [...png(40, 20)],
    );
    await dialog.getByRole("img", { name: "Image" }).waitFor();
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "More for this chat" }).click();
    await page.getByRole("menuitem", { name: "Messages as curl" }).click();
    await until(async () =>
      (await page.evaluate(() => navigator.clipboard.readText())).includes(`/messages?sender=${SHOP}`),
    );
    await close(page);
  });

  it("is taken over for a while, and handed back", async () => {
    const page = await world.open(`/chats/${SHOP}/${BEN}`);
    await page.getByRole("button", { name: "Take over" }).click();
    await page.getByRole("menuitem", { name: "For an hour" }).click();
    await page.getByText(/You answer · (1 h 0|59|60) min left/).waitFor();
    const { id } = await world.sim.sendText(BEN, SHOP, "ping");
    await stored(world, id);
    await message(page, id)
      .getByRole("button", { name: /Not answered/ })
      .click();
    await page.getByText("A person has taken over the chat: bots pause there.").waitFor();
    await page.getByRole("button", { name: "Hand back" }).click();
    await page.getByRole("button", { name: "Take over" }).waitFor();
    const { body } = await world.gateway.get(`/chats?chat=${BEN}`, { key: world.key });
    expect(body["data"][0].taken_over_until).toBeNull();
    await close(page);
  });

  it("shows strangers' words as words", async () => {
    const page = await world.open(`/chats/${SHOP}/${BEN}`);
    await message(page, ids["script"]!).waitFor();
    expect(await text(page, ids["script"]!)).toContain(HOSTILE.script);
    expect(await text(page, ids["turned"]!)).toContain("U+202E");
    expect(await text(page, ids["invisible"]!)).toContain("payU+200BU+2060U+FEFFpalU+0007");
    const long = message(page, ids["long"]!);
    await long.getByRole("button", { name: /Show all/ }).click();
    await until(async () => ((await long.textContent()) ?? "").includes("W end"));
    expect(await page.evaluate(() => "__hacked" in globalThis)).toBe(false);
    expect(await tooWide(page)).toBeLessThanOrEqual(0);
    await close(page);
  });
});

describe("a conversation that is longer than a page", () => {
  it("is read on at its beginning, page by page, and what one looks at stays where it is", async () => {
    const writer = "447700900555";
    await world.sim.addContact(writer, { name: "Talkative" });
    let last = "";
    // Of different heights: where a row stands is an estimate until it is drawn.
    const words = (n: number): string => `line ${n}${" and on".repeat((n * 37) % 150)}`;
    for (let n = 1; n <= 130; n++) last = (await world.sim.sendText(writer, SHOP, words(n))).id;
    await stored(world, last);
    const page = await world.open(`/chats/${SHOP}/${writer}`);
    await message(page, last).waitFor();
    const feed = page.getByRole("feed");
    const rest = () =>
      page.waitForFunction(() => document.querySelector('[role="feed"][aria-busy="false"]') !== null);
    /** The messages that can be seen, of those that are drawn, once they are: between two frames rows stand where they are not shown. */
    const seen = () =>
      feed.evaluate(async (element) => {
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
        const { top, bottom } = element.getBoundingClientRect();
        return [...element.querySelectorAll<HTMLElement>("[data-message]")]
          .filter(
            (row) => row.getBoundingClientRect().bottom > top && row.getBoundingClientRect().top < bottom,
          )
          .map((row) => /line \d+/.exec(row.querySelector(".words")?.textContent ?? "")?.[0]);
      });
    await rest();
    // Of the pages before; what has changed meanwhile is asked for by `since`. They wait until the beginning is looked at.
    let asked = 0;
    let come = (): void => undefined;
    const looked = new Promise<void>((resolve) => (come = resolve));
    await page.route(
      (url) =>
        url.pathname === "/messages" && url.searchParams.has("before") && !url.searchParams.has("since"),
      async (route) => {
        asked++;
        await looked;
        await route.continue();
      },
    );
    await feed.evaluate((element) => element.scrollTo(0, 0));
    const [top] = await seen();
    await until(() => asked > 0);
    const places = await placesOf(feed, top!);
    come();
    await rest();
    // The page before it has come, no other one, and in no frame did what one looks at stand anywhere else.
    expect(await feed.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(1_000);
    expect(await seen()).toContain(top);
    expect(await places()).toHaveLength(1);
    expect(asked).toBe(1);

    const all = new Set<string | undefined>();
    await until(async () => {
      for (const line of await seen()) all.add(line);
      await feed.evaluate(async (element) => {
        element.scrollBy(0, -0.8 * element.clientHeight);
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      });
      return all.has("line 1");
    });
    // And nothing passes unseen where a page comes in.
    const passed = Array.from({ length: Number(top!.slice("line ".length)) }, (_, n) => `line ${n + 1}`);
    expect(passed.filter((line) => !all.has(line))).toEqual([]);
    await close(page);
  });
});

describe("the way of a message", () => {
  it("goes from the contact to the receipts, says why nobody answered, and is copied as curl", async () => {
    const page = await world.open(`${withAna}/${ids["ping"]}`);
    const why = page.getByRole("complementary", { name: "The way of this message" });
    await why.locator('[data-step="acknowledged"]').waitFor();
    const line = why.locator("[data-line]");
    expect(await line.textContent()).toContain("Asked: Bot ping");
    expect(await line.textContent()).toContain("Let through by: own messages, status updates");
    const pong = await world.sim.waitForMessage(ANA, { text: "pong" });
    await line.getByText(pong.id).waitFor();
    await line.getByText("Delivered", { exact: false }).waitFor();
    expect(await line.textContent()).toMatch(/Written\s+\d\d:\d\d:\d\d/);
    await world.sim.markRead(ANA, pong.id);
    await line.getByText("Read", { exact: false }).waitFor();
    expect(await why.locator('[data-step="stored"]').textContent()).toContain("the encryption's state");
    await why.getByRole("button", { name: "Copy as curl" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      `/messages/${ids["ping"]}/trace`,
    );

    await page.goto(`${world.gateway.url}/console${withAna}/${ids["hello"]}`);
    await page
      .getByText("No bot of this number has a route for the message, and no webhook gets it.")
      .waitFor();
    await close(page);
  });

  it("says who answered at last, when the webhook does so in a replay long after", async () => {
    const receiver = await startReceiver("OK");
    receiver.status = 404;
    const webhook = `/devices/${SHOP}/webhook`;
    await world.gateway.put(webhook, { url: receiver.url }, world);
    const { id } = await world.sim.sendText(EVE, SHOP, "Do you deliver?");
    const deliveries = async () =>
      (await world.gateway.get(`/deliveries?message_id=${id}`, world)).body["data"] as {
        id: string;
        state: string;
      }[];
    await until(async () => (await deliveries())[0]?.state === "dead");
    receiver.status = 200;
    // It is none of the newest any more, which are asked for at every event.
    let last = "";
    for (let n = 1; n <= 55; n++) last = (await world.sim.sendText(EVE, SHOP, `and ${n}`)).id;
    await stored(world, last);

    const page = await world.open(`/chats/${SHOP}/${EVE}`);
    await message(page, last).waitFor();
    const foot = message(page, id).locator(".way");
    await scrollUpTo(page, foot.getByText("Not answered"));
    receiver.answer = { message: "Yes, we do." };
    await world.gateway.post(`/deliveries/${(await deliveries())[0]!.id}/replay`, {}, world);
    await foot.getByText("Answered by: Webhook").waitFor();
    expect(await deliveries()).toMatchObject([{ state: "delivered" }]);
    await world.gateway.delete(webhook, world);
    await close(page);
  });
});

describe("conversations", () => {
  it("fit phones, tablets and desks in both themes, without serious findings", async () => {
    const page = await world.open(`${withAna}/${ids["ping"]}`);
    await page.locator('[data-step="acknowledged"]').waitFor();
    const faults: string[] = [];
    await everywhere(page, async (name) => {
      // Colours of another theme come in a moment, from the page inwards.
      await page.waitForFunction(() => {
        const colour = (element: Element) => getComputedStyle(element).color;
        const words = [...document.querySelectorAll(".bubble .content .words, .bubble .phone")];
        return words.every((element) => colour(element) === colour(document.body));
      });
      const wide = await tooWide(page);
      if (wide > 0) faults.push(`${name}: ${wide} px too wide`);
      faults.push(...(await faultsOf(page)).map((fault) => `${name}: ${fault}`));
    });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("complementary").getByRole("button", { name: "Close" }).click();
    await page.getByRole("textbox", { name: "Write a message" }).waitFor();
    faults.push(...(await faultsOf(page)));
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await page.getByRole("listbox").waitFor();
    faults.push(...(await faultsOf(page)));
    expect(faults).toEqual([]);
    await close(page);
  });

  it("show of each message what the phones have", async () => {
    const page = await world.open(withAna);
    await message(page, ids["own"]!).waitFor();
    const accepted = await world.sim.accepted({ kind: "text" });
    const between = accepted.filter(
      ({ from, chat }) => (from === ANA && chat === SHOP) || (from === SHOP && chat === ANA),
    );
    expect(between.length).toBeGreaterThan(4);
    const feed = page.getByRole("feed");
    const shown = new Map<string, string>();
    await until(async () => {
      const drawn = await feed.evaluate(async (element) => {
        const rows = [...element.querySelectorAll<HTMLElement>("[data-message]")].map(
          (row) =>
            [row.dataset["message"]!, row.querySelector(".content .words")?.textContent ?? ""] as const,
        );
        element.scrollBy(0, -0.6 * element.clientHeight);
        await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
        return rows;
      });
      for (const [id, words] of drawn) shown.set(id, words);
      return shown.has(ids["hello"]!);
    });
    for (const { id } of between) {
      if (id === ids["wrong"] || id === ids["mistake"]) continue;
      const said = JSON.stringify(between.find((one) => one.id === id));
      expect([id, said]).toEqual([id, expect.stringContaining(JSON.stringify(shown.get(id)).slice(1, -1))]);
    }
    await close(page);
  });
});
