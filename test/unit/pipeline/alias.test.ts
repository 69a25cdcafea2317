import { describe, expect, it } from "vitest";
import { aliasOf } from "../../../src/pipeline/handle.ts";
import { text } from "./harness.ts";

const NUMBER = "4915001@s.whatsapp.net";
const LID = "70000000000001@lid";
const OWN = { fromMe: true, sender: "4915000@s.whatsapp.net", number: "4915000", lid: "999@lid" };

describe("the other id of a chat", () => {
  it.each([
    ["the writer's LID, when the number is known", text(4915001, "hi", { lid: LID }), LID],
    ["none, while only the LID is known", text(4915001, "hi", { chat: LID, chatKey: LID, lid: LID }), null],
    ["not the owner's own LID, in what the owner writes", text(4915001, "hi", OWN), null],
    ["where the owner wrote to, by its LID", text(4915001, "hi", { ...OWN, chat: LID }), LID],
    ["none of a group", text(4915001, "hi", { chatKind: "group", lid: LID }), null],
  ])("is %s", (_what, message, alias) => {
    expect(message.chatKey === LID || message.chatKey === NUMBER).toBe(true);
    expect(aliasOf(message)).toBe(alias);
  });
});
