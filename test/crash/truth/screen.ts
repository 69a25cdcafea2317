import { chromium, type Page } from "playwright-core";
import type { Gateway } from "../../_setup/gateway.ts";
import { keyOf, type Seen } from "./expected.ts";

/** The console in a real browser, signed in. */
export interface Screen {
  /** Opens a conversation; one that is open already stays as it is. */
  open(number: string, chat: string): Promise<void>;
  /** Scrolls from the newest up, until these are seen or there is nothing more. @returns everything that was seen on the way */
  read(wanted: ReadonlySet<string>): Promise<Map<string, Seen>>;
  /** What a browser complains of: broken rules of the page's policy, exceptions, warnings. */
  complaints: string[];
  close(): Promise<void>;
}

/** @param key of the account that is looked at */
export async function openScreen(gateway: Gateway, key: string): Promise<Screen> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    reducedMotion: "reduce",
  });
  // What is evaluated in the page has been compiled by `tsx`, which names functions by one that a page does not have.
  await context.addInitScript("globalThis.__name = (named) => named");
  const complaints: string[] = [];
  await context.request.post(`${gateway.url}/console/session`, { data: { key } });
  const page = await context.newPage();
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load"))
      complaints.push(message.text());
  });
  return {
    complaints,
    async open(number, chat) {
      const address = `${gateway.url}/console/chats/${number}/${encodeURIComponent(chat)}`;
      if (page.url() !== address) await page.goto(address);
    },
    read: (wanted) => readFeed(page, wanted),
    close: () => browser.close(),
  };
}

async function readFeed(page: Page, wanted: ReadonlySet<string>): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  const missing = new Set(wanted);
  await scroll(page, Infinity);
  // At the beginning one looks a few times more: a page may be on its way.
  for (let still = 0; still < 5;) {
    for (const one of (await page.evaluate(shownRows)) as Seen[]) {
      seen.set(keyOf(one.out, one.id), one);
      missing.delete(keyOf(one.out, one.id));
    }
    if (missing.size === 0) break;
    still = (await scroll(page, -0.6)) ? 0 : still + 1;
    if (still > 0) await page.waitForTimeout(100);
  }
  return seen;
}

/** @param by windows' heights; Infinity: to the end @returns whether it moved */
async function scroll(page: Page, by: number): Promise<boolean> {
  return page.evaluate(async (heights) => {
    const feed = document.querySelector('[role="feed"]');
    if (feed === null) return false;
    const before = feed.scrollTop;
    const to = heights === Infinity ? feed.scrollHeight : Math.max(0, before + heights * feed.clientHeight);
    feed.scrollTo(0, to);
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return feed.scrollTop !== before || feed.getAttribute("aria-busy") === "true";
  }, by);
}

/** Runs in the page. */
function shownRows(): unknown[] {
  const textOf = (element: Element | null): string => element?.textContent?.trim() ?? "";
  const THINGS = {
    picture: "button.picture",
    sticker: "img.sticker",
    sound: "audio",
    document: ".content a.document",
    place: "a.part",
    cards: "div.part",
    poll: ".poll",
  };
  return [...document.querySelectorAll<HTMLElement>("[data-message]")].map((row) => {
    const facts = row.querySelector(".facts");
    const options = [...row.querySelectorAll<HTMLElement>(".poll [data-votes]")];
    return {
      id: row.dataset["message"],
      out: row.classList.contains("out"),
      words: [...row.querySelectorAll(":scope .bubble > .content bdi.words")].map(
        (words) => words.textContent ?? "",
      ),
      things: Object.entries(THINGS).flatMap(([thing, place]) => (row.querySelector(place) ? [thing] : [])),
      edited: [...(facts?.children ?? [])].some((fact) => textOf(fact) === "edited"),
      deleted: row.querySelector(".gone") !== null,
      reactions: [...row.querySelectorAll(".reactions li")].map(textOf).toSorted(),
      votes: row.querySelector(".poll .total")
        ? options.map(({ dataset }) => Number(dataset["votes"]))
        : null,
      tick: facts?.querySelector<HTMLElement>("[data-state]")?.dataset["state"] ?? null,
      by: textOf(row.querySelector(".way > span:not(.ask)")),
      at: Date.parse(facts?.querySelector("time")?.getAttribute("datetime") ?? ""),
    };
  });
}
