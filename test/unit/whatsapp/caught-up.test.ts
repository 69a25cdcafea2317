import { EventEmitter } from "node:events";
import type { BinaryNode } from "@whiskeysockets/baileys";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import type { Closed } from "../../../src/whatsapp/port.ts";
import { watchCaughtUp, type CaughtUp } from "../../../src/whatsapp/life/caught-up.ts";

let ws: EventEmitter;
let asked: BinaryNode[];
let told: (number | null)[];
let ends: Closed[];
let unread: number;
let caughtUp: CaughtUp;
let isUsable: boolean;
let isDone: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  ws = new EventEmitter();
  [asked, told, ends, unread, isUsable, isDone] = [[], [], [], 0, false, false];
  const socket = { ws, sendNode: async (node: BinaryNode) => void asked.push(node) };
  caughtUp = watchCaughtUp(socket as never, {
    time: systemTime,
    unread: () => unread,
    tell: (waiting) => void told.push(waiting),
    end: (closed) => void ends.push(closed),
  });
  void caughtUp.usable.then(() => (isUsable = true));
  void caughtUp.done.then(() => (isDone = true));
  caughtUp.opened();
});

afterEach(() => void vi.useRealTimers());

const preview = (count: number): void =>
  void ws.emit("CB:ib,,offline_preview", {
    tag: "ib",
    attrs: {},
    content: [{ tag: "offline_preview", attrs: { count: String(count) } }],
  });
const arrive = (count: number, tag = "message"): void => {
  for (let n = 0; n < count; n++) ws.emit(`CB:${tag}`, { tag, attrs: { offline: "1" } });
};
const go = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

describe("what waited at WhatsApp", () => {
  it("is asked for window by window, before the last has come whole, until WhatsApp says that it was all", async () => {
    preview(310);
    arrive(49);
    await go(150);
    expect(asked).toHaveLength(0);
    arrive(1);
    await go(150);
    expect(asked).toEqual([
      { tag: "ib", attrs: {}, content: [{ tag: "offline_batch", attrs: { count: "100" } }] },
    ]);
    arrive(100, "receipt");
    await go(150);
    expect(asked).toHaveLength(2);
    ws.emit("CB:ib,,offline", { tag: "ib", attrs: {} });
    await go(60_000);
    expect(asked).toHaveLength(2);
    expect([isDone, ends, told]).toEqual([true, [], [310, 210, null]]);
  });

  it("is not asked for while what came is still to be looked at", async () => {
    preview(310);
    unread = 101;
    arrive(100);
    await go(5_000);
    expect(asked).toHaveLength(0);
    unread = 0;
    await go(150);
    expect(asked).toHaveLength(1);
  });

  it("is asked for again when WhatsApp has given less than it was asked for", async () => {
    preview(310);
    arrive(7);
    await go(3_500);
    expect(asked).toHaveLength(1);
  });

  it("ends the connection when it stands still for 20 s, and says how much is missing", async () => {
    preview(310);
    arrive(7);
    await go(19_000);
    expect([ends, isUsable]).toEqual([[], false]);
    await go(3_000);
    expect(ends[0]).toEqual({ code: 408, reason: "WhatsApp still holds back 303 of the backlog" });
    expect(isUsable).toBe(false);
  });

  it("is over 10 s after the last of it when WhatsApp does not say that it was all", async () => {
    preview(3);
    arrive(3);
    await go(8_000);
    expect(isDone).toBe(false);
    await go(4_000);
    expect([isDone, isUsable, ends]).toEqual([true, true, []]);
  });

  it("is nothing when nothing was announced: usable after a second, done after ten", async () => {
    await go(500);
    expect(isUsable).toBe(false);
    await go(600);
    expect([isUsable, isDone]).toEqual([true, false]);
    await go(10_000);
    expect([isDone, told]).toEqual([true, []]);
  });
});
