import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import { watchForStalls } from "../../../src/whatsapp/life/stall-watchdog.ts";
import { createStanzas } from "../../../src/whatsapp/receive/stanzas.ts";

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What Baileys' WebSocket tells, and why the connection was ended. */
function start() {
  const ws = new EventEmitter();
  const ended: string[] = [];
  const stanzas = createStanzas(systemTime);
  const stop = watchForStalls({ ws } as unknown as Pick<WASocket, "ws">, {
    time: systemTime,
    waiting: stanzas.waiting,
    end: ({ reason }) => void ended.push(reason),
  });
  const ack = (from: string, attrs = {}): void =>
    void ws.emit("CB:ack,class:message", { tag: "ack", attrs: { class: "message", from, ...attrs } });
  return { ws, ended, stanzas, stop, ack };
}

const message = (id: string, from = "4915@s.whatsapp.net"): BinaryNode => ({
  tag: "message",
  attrs: { id, from },
  content: [{ tag: "enc", attrs: { type: "msg" }, content: new Uint8Array([1]) }],
});
const contentOf = (node: BinaryNode): Uint8Array =>
  (node.content as BinaryNode[]).find(({ tag }) => tag === "enc")!.content as Uint8Array;

describe("a connection on which nothing comes", () => {
  it("is ended when messages to several chats were taken and not one receipt came in five minutes", () => {
    const { ack, ended } = start();
    for (const chat of ["a", "b", "c"]) ack(chat);
    vi.advanceTimersByTime(4 * MINUTE);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(ended[0]).toContain("nothing comes back");
  });

  it("is left alone when anything comes by itself, when it is one chat, and when the messages were refused", () => {
    for (const tag of ["message", "receipt", "notification", "call"]) {
      const { ws, ack, ended } = start();
      for (const chat of ["a", "b", "c"]) ack(chat);
      ws.emit(`CB:${tag}`, { tag, attrs: {} });
      vi.advanceTimersByTime(60 * MINUTE);
      expect(ended).toEqual([]);
    }
    const { ack, ended } = start();
    for (const chat of ["a", "a", "a", "a"]) ack(chat);
    for (const chat of ["b", "c", "d"]) ack(chat, { error: "479" });
    vi.advanceTimersByTime(60 * MINUTE);
    expect(ended).toEqual([]);
  });

  it("is not watched any more once it has ended", () => {
    const { ack, ended, stop } = start();
    for (const chat of ["a", "b", "c"]) ack(chat);
    stop();
    vi.advanceTimersByTime(60 * MINUTE);
    expect(ended).toEqual([]);
  });
});

describe("a connection whose messages are not looked at", () => {
  it("is ended after two minutes without any of them being handled", () => {
    const { stanzas, ended } = start();
    stanzas.note(message("A"));
    vi.advanceTimersByTime(MINUTE);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(ended[0]).toContain("not being handled");
  });

  it("is left alone while a long queue is worked off, and when everything was looked at", () => {
    const { stanzas, ended } = start();
    const nodes = Array.from({ length: 10 }, (_, n) => message(`M${n}`));
    for (const node of nodes) stanzas.note(node);
    for (const node of nodes) {
      vi.advanceTimersByTime(MINUTE);
      stanzas.originOf(contentOf(node));
    }
    vi.advanceTimersByTime(60 * MINUTE);
    stanzas.note(message("S", "status@broadcast"));
    vi.advanceTimersByTime(60 * MINUTE);
    expect(ended).toEqual([]);
  });
});
