import { describe, expect, it } from "vitest";
import { eventName, toEvent } from "../../../src/webhooks/events/payload.ts";
import { incoming } from "../bot/messages.ts";

const event = (change: Parameters<typeof incoming>[0], handledBy: string | null = null) =>
  toEvent(incoming(change), "4930555", handledBy);

describe("the event of a message", () => {
  it("of a direct text: every field, what is absent is null", () => {
    expect(event({ id: "3AX", text: "Hi", timestamp: 1_700_000_000 })).toEqual({
      message: "Hi",
      text: "Hi",
      bufferImage: null,
      from: "15550001",
      id: "3AX",
      pushName: "Ana",
      device: "4930555",
      chat: "15550001",
      is_group: false,
      participant: null,
      from_lid: "900@lid",
      timestamp: 1_700_000_000,
      type: "text",
      expires_at: null,
      quoted: null,
      mentions: [],
      media: null,
      location: null,
      contacts: null,
      reaction: null,
      target_id: null,
      poll: null,
      handled_by: null,
    });
  });

  it("of a message that disappears: when", () => {
    expect(event({ expiresAt: 1_700_604_800 })).toMatchObject({ expires_at: "2023-11-21T22:13:20.000Z" });
  });

  it("from a writer whose number is unknown", () => {
    const lid = { number: null, sender: "900@lid", chat: "900@lid", chatKey: "900@lid" };
    expect(event(lid)).toMatchObject({ from: "900@lid", from_lid: "900@lid", chat: "900@lid" });
  });

  it("in a group", () => {
    const group = { chatKind: "group", chat: "1@g.us", chatKey: "1@g.us", participant: "900@lid" } as const;
    expect(event(group)).toMatchObject({
      from: "15550001",
      chat: "1@g.us",
      is_group: true,
      participant: "900@lid",
    });
  });

  it("typed by the owner: from is the number itself, chat the other side", () => {
    const own = { fromMe: true, sender: "4930555@s.whatsapp.net", number: "4930555", lid: "5@lid" };
    expect(event(own)).toMatchObject({ from: "4930555", chat: "15550001", from_lid: null });
  });

  it("message and text are never null, whatever came", () => {
    expect(event({ type: "image", text: "" })).toMatchObject({ message: "", text: "", type: "image" });
  });

  it("with quote, mentions, place, contacts, reaction, edit", () => {
    const quoted = { id: "3AQ", from: "15550002@s.whatsapp.net", text: "before" };
    expect(event({ quoted, mentions: ["15550002", "7@lid"] })).toMatchObject({
      quoted: { id: "3AQ", from: "15550002", text: "before" },
      mentions: ["15550002", "7@lid"],
    });
    const location = { latitude: 1, longitude: 2, name: "Here", address: "" };
    expect(event({ type: "location", text: "Here", location })).toMatchObject({ message: "Here", location });
    const contacts = [{ name: "Ben", numbers: ["15550002"] }];
    expect(event({ type: "contact", contacts })).toMatchObject({ contacts });
    const reaction = { id: "3AR", emoji: "👍" };
    expect(event({ type: "reaction", text: "👍", reaction })).toMatchObject({ message: "👍", reaction });
    expect(event({ type: "edit", text: "new", targetId: "3AT" })).toMatchObject({
      message: "new",
      target_id: "3AT",
    });
  });

  it("says which bot answered", () => {
    expect(event({}, "bot:menu").handled_by).toBe("bot:menu");
  });
});

describe("the name of an event", () => {
  it.each([
    [{}, "message"],
    [{ type: "image" }, "message"],
    [{ type: "poll" }, "message"],
    [{ type: "unknown" }, "message"],
    [{ type: "poll_vote" }, "poll_vote"],
    [{ type: "reaction" }, "reaction"],
    [{ type: "edit" }, "edit"],
    [{ type: "revoke" }, "revoke"],
    [{ type: "call" }, "call"],
    [{ fromMe: true }, "own"],
    [{ fromMe: true, type: "reaction" }, "own"],
    [{ chatKind: "channel" }, "channel"],
    [{ chatKind: "status" }, null],
    [{ chatKind: "status", fromMe: true }, null],
  ] as const)("%j: %s", (change, name) => {
    expect(eventName(incoming(change))).toBe(name);
  });
});
