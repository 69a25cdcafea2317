import { expect, it } from "vitest";
import { merged } from "../../../src/console/screens/chats/timeline/merging.ts";
import type { Message, PageOf } from "../../../src/console/screens/chats/records.ts";
import { newerThan, type AskPage } from "../../../src/console/screens/chats/timeline/windows.ts";

const FIRST = Date.parse("2026-01-05T10:00:00.000Z");

const messageOf = (index: number, ms: number): Message =>
  ({ id: `M${index}`, from: "4915100000001", direction: "in", at: new Date(ms).toISOString() }) as Message;

/** Lists as the gateway does: newest first, `since` included, `before` a time or a cursor. */
function listOf(all: readonly Message[]): AskPage {
  return ({ since, before, limit = 50 }) => {
    const [time, skipped = "0"] = (before ?? "").split("#");
    const within = all
      .filter(({ at }) => (!since || at >= since) && (!time || at < time))
      .toReversed()
      .slice(Number(skipped));
    const isMore = within.length > limit;
    const next = isMore ? `${time}#${Number(skipped) + limit}` : null;
    return Promise.resolve<PageOf<Message>>({ data: within.slice(0, limit), next });
  };
}

/** Goes forwards from the first of these until the end. */
async function forwards(all: readonly Message[]): Promise<string[]> {
  let held: Message[] = [all[0]!];
  for (let reachedEnd = false; !reachedEnd;) {
    const more = await newerThan(held, listOf(all), new AbortController().signal);
    held = merged(held, more.found, "newer");
    ({ reachedEnd } = more);
  }
  return held.map(({ id }) => id);
}

/** Goes backwards from the newest, in pages of so many. */
async function backwards(all: readonly Message[], limit: number): Promise<string[]> {
  let held: Message[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const page: PageOf<Message> = await listOf(all)({ limit, before });
    held = merged(held, page.data, "older");
    before = page.next;
  }
  return held.map(({ id }) => id);
}

it("leaves nothing out, going forwards, when more messages than one window holds bear one time", async () => {
  const before = Array.from({ length: 60 }, (_, index) => messageOf(index, FIRST + index * 1_000));
  // WhatsApp tells whole seconds: whatever is written within one bears the same time.
  const together = Array.from({ length: 700 }, (_, index) => messageOf(60 + index, FIRST + 60_000));
  const after = Array.from({ length: 60 }, (_, index) =>
    messageOf(760 + index, FIRST + 61_000 + index * 1_000),
  );
  const all = [...before, ...together, ...after];

  expect(await forwards(all)).toEqual(all.map(({ id }) => id));
});

it.each([1, 2, 7, 50, 100])(
  "keeps the order of the gateway where a page of %i ends between messages of one time",
  async (limit) => {
    // Three, then four within a second, and so on.
    const all = Array.from({ length: 300 }, (_, index) =>
      messageOf(index, FIRST + Math.floor(index / 3.5) * 1_000),
    );

    expect(await backwards(all, limit)).toEqual(all.map(({ id }) => id));
    expect(await forwards(all)).toEqual(all.map(({ id }) => id));
  },
);

it("puts what was not known between what was, where the gateway lists it", () => {
  const all = [0, 1, 2, 3, 4, 5].map((index) => messageOf(index, FIRST));
  const some = (...indexes: number[]): Message[] => indexes.map((index) => all[index]!);
  const ids = (messages: Message[]): string[] => messages.map(({ id }) => id);

  expect(ids(merged(some(1, 3), some(4, 3, 2, 1, 0), "newer"))).toEqual(["M0", "M1", "M2", "M3", "M4"]);
  expect(ids(merged(some(2, 3), some(1, 0), "older"))).toEqual(["M0", "M1", "M2", "M3"]);
  expect(ids(merged(some(2, 3), some(5, 4), "newer"))).toEqual(["M2", "M3", "M4", "M5"]);
});

it("brings each message once, across a long silence", async () => {
  const all = [0, 1, 2, 500_000, 500_001].map((minutes, index) => messageOf(index, FIRST + minutes * 60_000));

  expect(await forwards(all)).toEqual(all.map(({ id }) => id));
});
