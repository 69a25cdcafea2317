import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { chatsOf, takeTurnsByChat } from "../../../src/whatsapp/receive/chat-turns.ts";

const OWN = { pn: "3160@s.whatsapp.net", lid: "900@lid" };
const ANA = { from: "3155@s.whatsapp.net" };
const BEN = { from: "3166@s.whatsapp.net" };

/** A socket whose messages are handled when the test says so. */
function openTurns() {
  const ws = Object.assign(new EventEmitter(), { isOpen: true });
  const begun: string[] = [];
  const handled: string[] = [];
  const seen: BinaryNode[] = [];
  const ends = new Map<string, () => void>();
  ws.on("CB:message", async (node: BinaryNode) => {
    seen.push(node);
    begun.push(node.attrs.id!);
    await new Promise<void>((resolve) => ends.set(node.attrs.id!, resolve));
  });
  const socket = { ws, messageMutex: { mutex: () => Promise.reject(new Error("all chats wait")) } };
  const turns = takeTurnsByChat(socket as unknown as WASocket, {
    own: () => OWN,
    onHandled: async ({ attrs }) => void handled.push(attrs.id!),
  });
  return {
    ws,
    begun,
    handled,
    seen,
    turns,
    socket: socket as unknown as WASocket,
    come: (id: string, attrs: Record<string, string>) =>
      void ws.emit("CB:message", { tag: "message", attrs: { id, ...attrs } }),
    async end(id: string) {
      ends.get(id)!();
      await rest();
    },
  };
}

const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("messages that come in", () => {
  it("wait for those of their chat, and for no others", async () => {
    const { come, end, begun, handled, turns } = openTurns();
    come("a1", { ...ANA, offline: "0" });
    come("a2", { from: "3155:7@s.whatsapp.net" });
    come("b1", BEN);
    await rest();
    expect(begun).toEqual(["a1", "b1"]);

    await end("b1");
    await end("a1");
    expect(begun).toEqual(["a1", "b1", "a2"]);
    const idle = turns.idle();
    await end("a2");
    await idle;
    expect(handled).toEqual(["b1", "a1", "a2"]);
  });

  it("do not take Baileys' own queue, nor the mutex in which all chats wait for one another", async () => {
    const { come, seen, socket } = openTurns();
    come("a1", { ...ANA, offline: "3", t: "17" });
    await rest();
    expect(seen[0]!.attrs).toEqual({ id: "a1", ...ANA, t: "17" });
    expect(await socket.messageMutex.mutex(async () => "at once")).toBe("at once");
  });

  it("are left to the next connection when this one has ended", async () => {
    const { come, end, begun, ws, turns } = openTurns();
    come("a1", ANA);
    come("a2", ANA);
    await rest();
    ws.isOpen = false;
    await end("a1");
    await turns.idle();
    expect(begun).toEqual(["a1"]);
  });

  it("of many chats are begun a few in each turn of the event loop, and so many at once", async () => {
    const { come, end, begun } = openTurns();
    for (let n = 0; n < 100; n++) come(`m${n}`, { from: `31${n}@s.whatsapp.net` });
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(begun.length).toBeLessThanOrEqual(10);
    await rest();
    expect(begun).toHaveLength(32);
    await end("m31");
    expect(begun).toHaveLength(33);
  });

  it.each([
    ["a LID and its number", { from: "555@lid", sender_pn: "3155@s.whatsapp.net" }, ANA],
    [
      "what the owner writes to somebody",
      { from: "900:3@lid", recipient: "555@lid", peer_recipient_pn: "3155@s.whatsapp.net" },
      ANA,
    ],
    [
      "two members of a group",
      { from: "12@g.us", participant: "555@lid" },
      { from: "12@g.us", participant: "666@lid" },
    ],
    ["the own number under both ids", { from: "900@lid" }, { from: "3160:2@s.whatsapp.net" }],
  ])("%s are one chat", (_what, one, other) => {
    const names = chatsOf(other as Record<string, string>, OWN);
    expect(chatsOf(one as Record<string, string>, OWN).some((name) => names.includes(name))).toBe(true);
  });
});
