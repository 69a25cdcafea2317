import { EventEmitter } from "node:events";
import type { BinaryNode } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { emitWhatIsListenedFor } from "../../../src/whatsapp/receive/frame-events.ts";

/** How Baileys tells of a frame (7.0.0-rc14, `socket.js`). */
function receive(ws: EventEmitter, frame: BinaryNode | Uint8Array): void {
  ws.emit("frame", frame);
  if (frame instanceof Uint8Array) return;
  ws.emit(`TAG:${frame.attrs.id}`, frame);
  const { tag, attrs } = frame;
  const child = Array.isArray(frame.content) ? frame.content[0]?.tag : "";
  for (const key of Object.keys(attrs)) {
    ws.emit(`CB:${tag},${key}:${attrs[key]},${child}`, frame);
    ws.emit(`CB:${tag},${key}:${attrs[key]}`, frame);
    ws.emit(`CB:${tag},${key}`, frame);
  }
  ws.emit(`CB:${tag},,${child}`, frame);
  ws.emit(`CB:${tag}`, frame);
}

const NAMES = [
  "frame",
  "TAG:1",
  "CB:iq",
  "CB:iq,type",
  "CB:iq,type:set",
  "CB:iq,type:set,pair-device",
  "CB:iq,,pair-device",
  "CB:stream:error",
  "CB:message",
];

const node = (tag: string, attrs: Record<string, string>, child?: string): BinaryNode => ({
  tag,
  attrs,
  content: child === undefined ? undefined : [{ tag: child, attrs: {} }],
});

const FRAMES = [
  node("iq", { id: "1", type: "set" }, "pair-device"),
  node("iq", { id: "2", type: "set", from: "@s.whatsapp.net" }, "ping"),
  node("iq", { id: "1", type: "result" }),
  node("stream:error", { code: "515" }, "conflict"),
  node("message", { id: "M", from: "4911@s.whatsapp.net", type: "text" }, "enc"),
  node("ib", {}, "offline"),
  Buffer.from("handshake"),
];

/** What listeners to all names hear of the frames, in order. */
function heard(quick: boolean): string[] {
  const ws = new EventEmitter();
  const log: string[] = [];
  for (const name of NAMES)
    ws.on(name, (frame: BinaryNode) => log.push(`${name} ${frame.tag} ${frame.attrs?.id}`));
  if (quick) emitWhatIsListenedFor({ ws } as never);
  for (const frame of FRAMES) receive(ws, frame);
  return log;
}

describe("events of frames", () => {
  it("are those that Baileys emits, in its order", () => {
    expect(heard(true)).toEqual(heard(false));
    expect(heard(true)).toHaveLength(21);
  });

  it("reach listeners that come and go", () => {
    const ws = new EventEmitter();
    emitWhatIsListenedFor({ ws } as never);
    const log: string[] = [];
    const listen = (): unknown => log.push("heard");
    const [question] = FRAMES;
    receive(ws, question!);
    ws.on("TAG:1", listen).prependListener("CB:iq", listen);
    receive(ws, { ...(question as BinaryNode) });
    expect(log).toEqual(["heard", "heard"]);
    ws.off("TAG:1", listen).off("CB:iq", listen);
    receive(ws, { ...(question as BinaryNode) });
    expect(log).toHaveLength(2);
  });

  it("are not even looked up when nobody listens", () => {
    const ws = new EventEmitter();
    ws.on("CB:message", () => undefined);
    let emitted = 0;
    const { emit } = ws;
    ws.emit = ((...args: Parameters<typeof emit>) => (emitted++, emit.apply(ws, args))) as typeof emit;
    emitWhatIsListenedFor({ ws } as never);
    emitted = 0;
    receive(ws, FRAMES[4]!);
    expect(emitted).toBe(2);
  });

  it("other than of frames pass with all they carry", () => {
    const ws = new EventEmitter();
    emitWhatIsListenedFor({ ws } as never);
    const log: unknown[] = [];
    ws.on("close", (...args: unknown[]) => log.push(args));
    ws.emit("close", 1006, "reason");
    ws.emit("close");
    expect(log).toEqual([[1006, "reason"], [undefined]]);
  });
});
