import type { SignalDataSet } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { holdersOfOurs, keysGoWithHolders } from "../../../src/whatsapp/signal/own-sender-keys.ts";

const GROUP = "12@g.us";
const CREDS = { me: { id: "3160:4@s.whatsapp.net", lid: "900:4@lid" } };
const NAMES = [`${GROUP}::3160::4`, `${GROUP}::900_1::4`];

describe("our sender key of a group", () => {
  it("goes with the note of who has it, under both names, and with nothing else", () => {
    const change = { "sender-key-memory": { [GROUP]: null, "13@g.us": { a: true } } } as SignalDataSet;
    expect(keysGoWithHolders(change, CREDS)["sender-key"]).toEqual({ [NAMES[0]!]: null, [NAMES[1]!]: null });
    for (const other of [{ "sender-key-memory": { [GROUP]: { a: true } } }, { session: { b: null } }, {}])
      expect(keysGoWithHolders(other as SignalDataSet, CREDS)).toBe(other);
  });

  it.each<[string, object, object, object | null]>([
    ["neither", {}, {}, {}],
    ["both", { a: true }, { [NAMES[1]!]: {} }, { a: true }],
    ["a note without a key", { a: true }, {}, null],
    ["a key without a note", {}, { [NAMES[0]!]: {} }, null],
  ])("can be used on only with a note of who has it: %s", async (_what, note, ours, holders) => {
    const rows: Record<string, object> = { "sender-key-memory": { [GROUP]: note }, "sender-key": ours };
    const get = async (type: string) => rows[type] as never;
    expect(await holdersOfOurs({ get } as never, GROUP, CREDS)).toEqual(holders);
  });
});
