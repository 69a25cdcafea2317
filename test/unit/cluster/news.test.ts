import { describe, expect, it } from "vitest";
import { defineTopic } from "../../../src/model/nodes/cluster.ts";
import { createTestBus, hasSqld, nodesOnOneServer } from "./shared-server.ts";

const COLORS = defineTopic<{ color: string }>("colors");

describe.skipIf(!hasSqld)("news between nodes", () => {
  const open = nodesOnOneServer({}, { news: "asked" });

  async function setUp() {
    const bus = createTestBus();
    const [a, b] = [await open("a", bus), await open("b", bus)];
    const heard: string[] = [];
    let rereads = 0;
    const listener = {
      hear: ({ color }: { color: string }): void => void heard.push(color),
      reread: (): void => void rereads++,
    };
    b.news.listen(COLORS, listener);
    await b.news.start();
    const say = (...colors: string[]) =>
      a.store.writer.commit(colors.flatMap((color) => a.news.of(COLORS, { color })));
    return { a, b, bus, heard, listener, say, rereads: () => rereads };
  }

  it("are heard at once, by the others alone, and in the order of the commits", async () => {
    const { a, heard, say } = await setUp();
    const own: unknown[] = [];
    a.news.listen(COLORS, { hear: (item) => void own.push(item), reread: () => void own.push("all") });

    for (const color of ["red", "green", "blue"]) await say(color);

    await expect.poll(() => heard).toEqual(["red", "green", "blue"]);
    await a.news.look();
    expect(own).toEqual([]);
  });

  it("are heard without the bus, each once", async () => {
    const { b, bus, heard, say } = await setUp();
    bus.cut();

    await say("red");
    await say("green", "red");
    expect(heard).toEqual([]);
    await b.news.look();
    await b.news.look();

    expect(heard).toEqual(["red", "green"]);
  });

  it("are heard of what this node has changed itself just before", async () => {
    const { b, bus, heard, say } = await setUp();
    bus.cut();
    await b.store.writer.commit(b.news.of(COLORS, { color: "red" }));
    await say("red");

    await b.news.look();

    expect(heard).toEqual(["red"]);
  });

  it("are read when the bus is back", async () => {
    const { bus, heard, say } = await setUp();
    bus.cut();
    await say("red");

    bus.mend();

    await expect.poll(() => heard).toEqual(["red"]);
  });

  it("have everything read again by who was away for so long that some are gone", async () => {
    const { a, b, bus, heard, say, rereads } = await setUp();
    bus.cut();
    await say("red", "green", "blue");
    await a.store.writer.commit([
      { sql: "DELETE FROM news WHERE id < (SELECT max(id) FROM news)", args: [] },
    ]);

    await b.news.look();

    expect(heard).toEqual(["blue"]);
    expect(rereads()).toBe(1);
  });

  it("that cannot be read now have everything read again, until it can be", async () => {
    const { b, heard, listener, say, rereads } = await setUp();
    const { hear, reread } = listener;
    const broken = (): never => {
      throw new Error("The database is away.");
    };
    Object.assign(listener, { hear: broken, reread: broken });
    await say("red");
    await b.news.look();

    Object.assign(listener, { hear, reread });
    await b.news.look();
    await b.news.look();

    expect(heard).toEqual([]);
    expect(rereads()).toBe(1);
  });

  it("of a commit that failed are never heard", async () => {
    const { a, b, heard } = await setUp();
    const broken = { sql: "INSERT INTO accounts (id) VALUES ('x')", args: [] };

    await expect(a.store.writer.commit([...a.news.of(COLORS, { color: "red" }), broken])).rejects.toThrow(
      "NOT NULL",
    );
    await b.news.look();

    expect(heard).toEqual([]);
  });
});
