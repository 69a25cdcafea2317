import { describe, expect, it } from "vitest";
import { createLife, mortalStore, type Side } from "../../src/testing/gateway/life.ts";
import { buildStage } from "../../src/testing/gateway/stage.ts";
import { temporaryStore } from "../unit/store/temporary.ts";
import { rawRows } from "../unit/store/rows.ts";

const ADD = {
  sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (1, ?, '1', 0)",
  args: [],
};

async function mortal(side: Side | null) {
  const store = await temporaryStore();
  const life = createLife(() => undefined);
  const run = mortalStore(store, life, () => side);
  const { writer } = run;
  const told: string[] = [];
  const add = (lid: string) =>
    void writer.commit([{ ...ADD, args: [lid] }]).then(
      () => told.push(`${lid} stored`),
      () => told.push(`${lid} refused`),
    );
  const stored = async () =>
    (await rawRows(store, "SELECT lid_user FROM lid_map ORDER BY lid_user", [])).map(
      ({ lid_user }) => lid_user,
    );
  return {
    life,
    add,
    told,
    stored,
    rows: () => rawRows(run, "SELECT 1"),
    settled: () => store.writer.drain(),
  };
}

describe("a run that has ended", () => {
  it("stores nothing any more, and nobody in it is told", async () => {
    const { life, add, told, stored, rows, settled } = await mortal(null);
    add("a");
    await settled();
    expect(told).toEqual(["a stored"]);

    life.end();
    add("b");
    void rows().then(() => told.push("read"));
    await settled();
    await stored();

    expect(await stored()).toEqual(["a"]);
    expect(told).toEqual(["a stored"]);
  });

  it("before a commit: it is not stored; after it: it is, and nobody was told", async () => {
    const before = await mortal("before");
    before.add("a");
    await before.settled();
    expect(await before.stored()).toEqual([]);
    expect(before.life.over).toBe(true);

    const after = await mortal("after");
    after.add("a");
    await after.settled();
    expect(await after.stored()).toEqual(["a"]);
    expect(after.life.over).toBe(true);
    expect([...before.told, ...after.told]).toEqual([]);
  });
});

describe("a chat that waits for nothing", () => {
  it("plans nothing: a year that passes costs no more than a second", async () => {
    const { world, close } = await buildStage([() => undefined], {}, () => null);
    await world.advance(1_000);
    const { waits } = await world.run();

    expect(waits.nextAt()).toBeNull();
    await close();
  });
});
