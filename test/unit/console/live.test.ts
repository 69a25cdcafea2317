import { effectScope, nextTick, ref, type EffectScope } from "vue";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { api } from "../../../src/console/data/api.ts";
import { useEdited } from "../../../src/console/data/edited.ts";
import { listen, stopListening } from "../../../src/console/data/events.ts";
import { useList, type Page } from "../../../src/console/data/list.ts";
import { setQuery, useQuery } from "../../../src/console/data/query.ts";
import { keyOfMessage, type Message } from "../../../src/console/screens/chats/records.ts";
import { useTimeline } from "../../../src/console/screens/chats/timeline/timeline.ts";
import { badNetwork, randomOf, type Line } from "./gateway.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const STATES = ["queued", "sent", "delivered", "read"] as const;
const SEEDS = Array.from({ length: 12 }, (_, seed) => seed);
/** Longer than a question, its answer, and what it leads to. */
const REST_MS = 60_000;

let scope: EffectScope;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-01T12:00:00Z") });
  scope = effectScope();
});
afterEach(() => {
  scope.stop();
  stopListening();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A record of a list, newest first by `at`, as the gateway pages it. */
interface Stamped {
  at: string;
}
function pageOf<T extends Stamped>(all: readonly T[], query: URLSearchParams): Page<T> {
  const [since, before] = [query.get("since") ?? "", query.get("before") ?? "~"];
  const from = before.startsWith("#") ? Number(before.slice(1)) : null;
  const rows = all
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .filter(({ at }) => at >= since && (from !== null || at < before));
  const end = (from ?? 0) + Math.min(Number(query.get("limit") ?? 20), 20);
  return { data: rows.slice(from ?? 0, end), next: end < rows.length ? `#${end}` : null };
}

/** A conversation at the gateway, to which things happen. */
function conversation(random: () => number) {
  const all: Message[] = [];
  const rest = { sender: SHOP, chat: ANA, type: "text" as const };
  const line = badNetwork(random, (_, query) => ({ status: true, ...pageOf(all, query) }));
  const change = (id: string, by: Partial<Message>): void => {
    const at = all.findIndex((message) => message.id === id);
    all[at] = { ...all[at]!, ...by };
  };
  function add(more: Partial<Message>): Message {
    const at = new Date().toISOString();
    const id = `M${all.length}`;
    const made = { ...rest, id, at, direction: "in", from: ANA, message: id, ...more } as Message;
    all.push(made);
    return made;
  }
  const receive = (more: Partial<Message> = {}): void => {
    const { id, type, target_id } = add(more);
    line.tell("message.in", { id, device: SHOP, chat: ANA, type, target_id: target_id ?? null });
  };
  const typed = (more: Partial<Message> = {}): void => {
    const { id } = add({ direction: "out", from: SHOP, ...more });
    line.tell("decision", { message_id: id, device: SHOP, chat: ANA });
  };
  function send(): void {
    const { id } = add({ direction: "out", from: SHOP, state: "queued" });
    line.tell("message.out", { id, sender: SHOP, number: ANA, state: "queued" });
  }
  function advance(): void {
    const open = all.filter(({ state }) => state !== undefined && state !== "read");
    const one = open[Math.floor(random() * open.length)];
    if (one === undefined) return;
    const state = STATES[STATES.indexOf(one.state as "sent") + 1]!;
    change(one.id, { state });
    line.tell("message.out", { id: one.id, sender: SHOP, number: ANA, state });
  }
  function edit(): void {
    const one = all.filter(({ type }) => type === "text")[Math.floor(random() * all.length)];
    if (one === undefined || one.state !== undefined) return;
    change(one.id, { message: `${one.message} again`, edited: true });
    const target = { type: "edit" as const, target_id: one.id, message: "" };
    if (one.direction === "in") receive(target);
    else typed(target);
  }
  return { all, line, receive, typed, send, advance, edit };
}

const asShown = (messages: readonly Message[]): string[] =>
  messages.map((one) => `${keyOfMessage(one)} ${one.message} ${one.state ?? ""} ${one.edited ?? ""}`);

/** Something of these happens, again and again. */
async function live(random: () => number, times: number, happenings: (() => void)[]): Promise<void> {
  for (let count = 0; count < times; count++) {
    happenings[Math.floor(random() * happenings.length)]!();
    await vi.advanceTimersByTimeAsync(random() * 800);
  }
}

describe("a conversation that is shown", () => {
  it.each(SEEDS)("is in the end as it is at the gateway, whatever overtakes what (%i)", async (seed) => {
    const random = randomOf(seed);
    const { all, line, receive, typed, send, advance, edit } = conversation(random);
    for (let count = 0; count < 15; count++) [receive, send][count % 2]!();
    listen();
    const timeline = scope.run(() => useTimeline(ref({ sender: SHOP, chat: ANA })))!;
    const older = (): void => void timeline.moreOlder();
    const lose = (): void => (random() < 0.3 ? line.cut() : undefined);
    await live(random, 80, [receive, typed, send, advance, advance, advance, edit, older, lose]);
    await vi.advanceTimersByTimeAsync(REST_MS);
    while (!timeline.atStart.value) {
      void timeline.moreOlder();
      await vi.advanceTimersByTimeAsync(REST_MS);
    }

    expect(asShown(timeline.messages.value)).toEqual(asShown(all));
  });

  it("never takes a tick back, not for a moment", async () => {
    const random = randomOf(1);
    const { send, advance } = conversation(random);
    send();
    listen();
    const timeline = scope.run(() => useTimeline(ref({ sender: SHOP, chat: ANA })))!;
    const seen: number[] = [];
    for (let count = 0; count < 60; count++) {
      if (count % 10 === 9) advance();
      await vi.advanceTimersByTimeAsync(200);
      void timeline.update();
      const [message] = timeline.messages.value;
      if (message !== undefined) seen.push(STATES.indexOf(message.state as "sent"));
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(3);
  });
});

interface Row extends Stamped {
  id: string;
  state: number;
}

/** A list at the gateway: rows that come, go, move up or change where they stand. */
function rows(random: () => number, moves: boolean) {
  const all: Row[] = [];
  let count = 0;
  let clock = Date.now();
  const stamp = (): string => new Date((clock += 1_000)).toISOString();
  const line: Line = badNetwork(random, (_, query) => ({ status: true, ...pageOf(all, query) }));
  const told = (row: Row): void => line.tell("delivery", row);
  return {
    all,
    line,
    add() {
      const row = { id: `R${++count}`, at: stamp(), state: 0 };
      all.push(row);
      told(row);
    },
    change() {
      const at = Math.floor(random() * all.length);
      const { id, at: was, state } = all[at]!;
      all[at] = { id, at: moves ? stamp() : was, state: state + 1 };
      told(all[at]);
    },
  };
}

describe("a conversation that is opened", () => {
  it("has what came while its first answer was under way", async () => {
    const { all, line, receive } = conversation(randomOf(5));
    receive();
    listen();
    await vi.advanceTimersByTimeAsync(REST_MS);
    const timeline = scope.run(() => useTimeline(ref({ sender: SHOP, chat: ANA })))!;
    // Its question has come to the gateway, and the answer is slow: the event is not.
    await vi.advanceTimersByTimeAsync(2_900);
    receive();
    line.tell("delivery", {});
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(asShown(timeline.messages.value)).toEqual(asShown(all));
  });
});

describe("a list that is shown", () => {
  const page =
    (path: string) =>
    (before: string | null, signal: AbortSignal): Promise<Page<Row>> =>
      api({ method: "GET", path, query: { before } }, { signal });

  it.each(SEEDS)("is in the end as it is at the gateway (%i)", async (seed) => {
    const random = randomOf(seed);
    const moves = seed % 2 === 0;
    const { all, line, add, change } = rows(random, moves);
    for (let count = 0; count < 90; count++) add();
    listen();
    const list = scope.run(() =>
      useList("rows", page("/rows"), {
        on: ["delivery"],
        ...(!moves && { recordOf: ({ data }) => (typeof data["id"] === "string" ? (data as never) : null) }),
      }),
    )!;
    const more = (): void => void list.more();
    const lose = (): void => (random() < 0.3 ? line.cut() : undefined);
    await live(random, 60, [add, change, change, change, more, lose]);
    await vi.advanceTimersByTimeAsync(REST_MS);
    while (list.next.value !== null) {
      void list.more();
      await vi.advanceTimersByTimeAsync(REST_MS);
    }

    const shown = list.items.value.map(({ id, state }) => `${id} ${state}`);
    const there = all.toSorted((a, b) => (a.at < b.at ? 1 : -1)).map(({ id, state }) => `${id} ${state}`);
    expect(shown).toEqual(there);
  });

  it("has no row that is gone", async () => {
    const { all, add } = rows(randomOf(1), false);
    for (let count = 0; count < 30; count++) add();
    listen();
    const list = scope.run(() => useList("rows", page("/rows")))!;
    await vi.advanceTimersByTimeAsync(REST_MS);
    all.splice(25, 1);
    void list.refresh();
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(list.items.value.map(({ id }) => id)).not.toContain("R26");
    expect(list.items.value[0]).toMatchObject({ id: "R30" });
  });
});

describe("a question of many", () => {
  it("does not take back what was saved while it was under way", async () => {
    const stored = { value: "old", asked: 0 };
    badNetwork(randomOf(3), () => ({ status: true, data: { value: stored.value, asked: ++stored.asked } }));
    const query = scope.run(() =>
      useQuery<{ data: { value: string } }>("settings/1", (signal) =>
        api({ method: "GET", path: "/settings" }, { signal }),
      ),
    )!;
    while (stored.asked === 0) await vi.advanceTimersByTimeAsync(10);
    expect(query.data.value).toBeUndefined();
    stored.value = "new";
    setQuery("settings/1", { data: { value: "new" } });
    const seen: (string | undefined)[] = [];
    for (let count = 0; count < 40; count++) {
      await vi.advanceTimersByTimeAsync(250);
      seen.push(query.data.value?.data.value);
    }
    expect(new Set(seen)).toEqual(new Set(["new"]));
  });
});

describe("what is filled in", () => {
  const form = (first: string) => {
    const stored = ref({ url: first });
    return { stored, ...scope.run(() => useEdited(() => ({ ...stored.value })))! };
  };

  it("follows what is stored until somebody begins", async () => {
    const { stored, draft, other } = form("a");
    stored.value = { url: "b" };
    await nextTick();
    expect([draft.value.url, other.value]).toEqual(["b", false]);
  });

  it("stays, and is said to undo what somebody else has stored meanwhile; once that is known it may", () => {
    const { draft, other, meet, takeTheirs } = form("a");
    draft.value.url = "mine";
    expect(meet({ url: "theirs" })).toBe(false);
    expect([draft.value.url, other.value]).toEqual(["mine", true]);
    expect(meet({ url: "theirs" })).toBe(true);
    takeTheirs();
    expect([draft.value.url, other.value]).toEqual(["theirs", false]);
  });
});
