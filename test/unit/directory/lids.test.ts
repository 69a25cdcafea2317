import { describe, expect, it } from "vitest";
import { createLids } from "../../../src/directory/lids.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryStore } from "../store/temporary.ts";

const DEVICE = 1;

async function tell(store: Store, lidUser: string, pnUser: string): Promise<void> {
  await store.writer.commit([
    { sql: "INSERT INTO lid_map VALUES (?, ?, ?, 0)", args: [DEVICE, lidUser, pnUser] },
  ]);
}

describe("a LID", () => {
  it("is resolved once its number was told, in any spelling, for that number's own device alone", async () => {
    const store = await temporaryStore();
    const lids = createLids({ store, identity: () => null });
    expect(await lids.resolve(DEVICE, "77@lid")).toBeNull();

    await tell(store, "77", "4915001");

    expect(await lids.resolve(DEVICE, "77@lid")).toBe("4915001");
    expect(await lids.resolve(DEVICE, "77:3@lid")).toBe("4915001");
    expect(await lids.resolve(DEVICE, "77")).toBe("4915001");
    expect(await lids.resolve(DEVICE + 1, "77@lid")).toBeNull();
  });

  it("of the linked number itself is known from linking on", async () => {
    const store = await temporaryStore();
    const lids = createLids({ store, identity: () => ({ number: "491700", lid: "55@lid" }) });

    expect(await lids.resolve(DEVICE, "55@lid")).toBe("491700");
  });

  it("that is unknown is looked for once more after asking what may tell it", async () => {
    const store = await temporaryStore();
    let asked = 0;
    const learn = async (): Promise<void> => {
      asked++;
      await tell(store, "77", "4915001");
    };
    const lids = createLids({ store, identity: () => null, learn });

    expect(await lids.resolve(DEVICE, "77@lid")).toBe("4915001");
    expect(await lids.resolve(DEVICE, "77@lid")).toBe("4915001");
    expect(asked).toBe(1);
  });
});

describe("the key of a chat", () => {
  it("is the phone number's form as soon as the pair is known", async () => {
    const store = await temporaryStore();
    const lids = createLids({ store, identity: () => null });
    expect(await lids.canonicalChat(DEVICE, "77@lid")).toBe("77@lid");

    await tell(store, "77", "4915001");

    expect(await lids.canonicalChat(DEVICE, "77@lid")).toBe("4915001@s.whatsapp.net");
    expect(await lids.canonicalChat(DEVICE, "1203@g.us")).toBe("1203@g.us");
  });
});

describe("the other names of a contact", () => {
  it("are the number behind a LID and the LIDs of a number, of its own device alone", async () => {
    const store = await temporaryStore();
    const lids = createLids({ store, identity: () => ({ number: "491700", lid: "55@lid" }) });
    await tell(store, "77", "4915001");
    await tell(store, "78", "4915001");

    expect(await lids.aliasesOf(DEVICE, "77@lid")).toEqual(["4915001"]);
    expect(await lids.aliasesOf(DEVICE, "4915001")).toEqual(["77@lid", "78@lid"]);
    expect(await lids.aliasesOf(DEVICE, "491700")).toEqual(["55@lid"]);
    expect(await lids.aliasesOf(DEVICE, "79@lid")).toEqual([]);
    expect(await lids.aliasesOf(DEVICE, "1203@g.us")).toEqual([]);
    expect(await lids.aliasesOf(DEVICE + 1, "77@lid")).toEqual([]);
  });
});
