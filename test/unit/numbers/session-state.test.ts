import { describe, expect, it } from "vitest";
import type { NumberLife } from "../../../src/numbers/number-life.ts";
import { createSessionStates } from "../../../src/numbers/session-state.ts";
import { temporaryStore } from "../store/temporary.ts";

const shownAs = (text: string | null) => text && { text, expiresAt: 2_000 };

/** A number that shows this QR. */
function showing(qr: string | null): NumberLife {
  const device = { id: 7, state: "linking", since: 1_000 };
  return { device, shown: () => ({ qr: shownAs(qr), code: null }) } as unknown as NumberLife;
}

describe("the session state in the cache", () => {
  it("has link state and time for all, and what is shown for nobody without the key", async () => {
    const store = await temporaryStore();
    createSessionStates(store).publish(showing("the text of the QR"));

    const kept = await store.cache.getItem<{ state: string; since: number }>("numbers:7");

    expect(kept).toMatchObject({ state: "linking", since: 1_000 });
    expect(JSON.stringify(kept)).not.toContain("the text of the QR");
  });

  it("gives the picture that somebody else has drawn", async () => {
    const store = await temporaryStore();
    const image = await createSessionStates(store).image(showing("one"), "one");

    expect(image).toMatch(/^data:image\/png;base64,/);
    const kept = store.box.sealJson(
      { qr: shownAs("one"), code: null, image: "drawn elsewhere" },
      "numbers:7",
    );
    await store.cache.setItem("numbers:7", { state: "linking", since: 1, shown: kept.toString("base64") });
    expect(await createSessionStates(store).image(showing("one"), "one")).toBe("drawn elsewhere");
  });

  it.each([
    ["of another QR", async () => ({ qr: shownAs("old"), code: null, image: "old" })],
    ["without a picture", async () => ({ qr: shownAs("one"), code: null, image: null })],
  ])("draws its own beside one %s", async (_what, shown) => {
    const store = await temporaryStore();
    const sealed = store.box.sealJson(await shown(), "numbers:7").toString("base64");
    await store.cache.setItem("numbers:7", { state: "linking", since: 1, shown: sealed });

    expect(await createSessionStates(store).image(showing("one"), "one")).toMatch(/^data:image\/png/);
  });

  it.each(["garbage", 5, { shown: "garbage" }, { shown: 1 }])("takes %j for nothing", async (junk) => {
    const store = await temporaryStore();
    await store.cache.setItem("numbers:7", junk);

    expect(await createSessionStates(store).image(showing("one"), "one")).toMatch(/^data:image\/png/);
  });

  it("is gone with its number", async () => {
    const store = await temporaryStore();
    const sessions = createSessionStates(store);
    sessions.publish(showing("one"));
    sessions.forget(7);

    expect(await store.cache.getItem("numbers:7")).toBeNull();
  });
});
