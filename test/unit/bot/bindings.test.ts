import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createBindings } from "../../../src/bot/bindings/bindings.ts";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { GatewayError } from "../../../src/model/errors/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryStore } from "../store/temporary.ts";
import { asking, textsOf } from "./asking.ts";
import { listeningLog, stored } from "./messages.ts";

const says = (text: string) => (b: Routes) => b.keyword("hi", (ctx) => ctx.reply(text));
const { log } = listeningLog();

const registry = createRegistry(
  [
    { id: "everywhere", file: "everywhere", exported: says("everywhere") },
    { id: "shipped", file: "shipped", exported: { enable: "bound", routes: says("shipped") } },
    {
      id: "configured",
      file: "c",
      exported: {
        enable: "bound",
        routes: (b: Routes) => b.keyword("hi", (ctx) => ctx.reply(JSON.stringify(ctx.config))),
      },
    },
    { id: "broken", file: "broken", failure: "SyntaxError" },
  ],
  log,
);

async function start(store: Store) {
  const bindings = createBindings(store, registry, () => undefined);
  await bindings.load();
  const ask = asking({ tableOf: bindings.tableOf, log, store });
  const hi = async (deviceId: number): Promise<string | null> =>
    textsOf(await ask(stored({ text: "hi" }, deviceId)))?.join() ?? null;
  return { bindings, hi };
}

describe("which bots a number has", () => {
  it("without bindings: those that are on for every number", async () => {
    const { bindings, hi } = await start(await temporaryStore());
    expect(await hi(1)).toBe("everywhere");
    const listed = bindings.list(1);
    expect(listed.map(({ id, enabled, priority, config }) => [id, enabled, priority, config])).toEqual([
      ["broken", false, 50, null],
      ["configured", false, 50, null],
      ["everywhere", true, 50, null],
      ["shipped", false, 50, null],
    ]);
    expect(listed[0]!.error).toBeDefined();
    expect(listed[2]).toMatchObject({ enable: "all", routes: [{ kind: "keyword" }] });
  });

  it("a binding turns on, off and reorders at once, for its number only", async () => {
    const { bindings, hi } = await start(await temporaryStore());

    await bindings.put(1, [{ id: "shipped", enabled: true, priority: 0 }]);
    expect([await hi(1), await hi(2)]).toEqual(["shipped", "everywhere"]);
    await bindings.put(1, [{ id: "everywhere", enabled: false }]);
    expect([await hi(1), await hi(2)]).toEqual([null, "everywhere"]);
    await bindings.put(1, []);
    expect(await hi(1)).toBe("everywhere");
  });

  it("settings of the number reach the handler", async () => {
    const { bindings, hi } = await start(await temporaryStore());
    await bindings.put(1, [{ id: "configured", enabled: true, priority: 1, config: { hours: "9–18" } }]);
    expect(await hi(1)).toBe('{"hours":"9–18"}');
  });

  it("bindings are there after a restart", async () => {
    const store = await temporaryStore();
    const first = await start(store);
    await first.bindings.put(7, [{ id: "shipped", enabled: true, priority: 3, config: { a: 1 } }]);

    const second = await start(store);
    expect(await second.hi(7)).toBe("shipped");
    expect(second.bindings.list(7)).toEqual(first.bindings.list(7));
  });

  it.each([
    ["no list", { bots: [] }, /must be a list/],
    ["an unknown id", [{ id: "nobody", enabled: true }], /Unknown bot "nobody"/],
    ["no id", [{ enabled: true }], /Unknown bot without id/],
    [
      "the same id twice",
      [
        { id: "shipped", enabled: true },
        { id: "shipped", enabled: false },
      ],
      /listed twice/,
    ],
    ["no enabled", [{ id: "shipped" }], /enabled must be/],
    ["a wrong priority", [{ id: "shipped", enabled: true, priority: 1.5 }], /priority must be/],
    ["a list as config", [{ id: "shipped", enabled: true, config: [] }], /config must be/],
  ])("%s is refused and changes nothing", async (_what, input, problem) => {
    const { bindings, hi } = await start(await temporaryStore());
    await bindings.put(1, [{ id: "shipped", enabled: true, priority: 0 }]);

    const error = await bindings.put(1, input).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({
      code: "INVALID_PARAMETERS",
      details: { fields: { bots: [expect.stringMatching(problem)] } },
    });
    expect(await hi(1)).toBe("shipped");
  });
});

describe("a change of single bindings", () => {
  it("leaves the others, and what is not said, as they are, also after a restart", async () => {
    const store = await temporaryStore();
    const { bindings, hi } = await start(store);
    await bindings.put(1, [{ id: "configured", enabled: true, priority: 7, config: { a: 1 } }]);
    await bindings.change(1, [{ id: "everywhere", enabled: false }]);
    expect(await hi(1)).toBe('{"a":1}');
    await bindings.change(1, [{ id: "configured", enabled: false }]);
    await bindings.change(1, [{ id: "configured", enabled: true }, { id: "shipped" }]);
    expect(await (await start(store)).hi(1)).toBe('{"a":1}');
    const listed = (await start(store)).bindings.list(1);
    expect(listed.map(({ id, enabled, priority }) => [id, enabled, priority])).toEqual([
      ["broken", false, 50],
      ["configured", true, 7],
      ["everywhere", false, 50],
      ["shipped", false, 50],
    ]);
    await bindings.change(1, [{ id: "configured", priority: null, config: null }]);
    expect(bindings.list(1)[1]).toMatchObject({ enabled: true, priority: 50, config: null });
  });

  it("refuses what is wrong with it and changes nothing", async () => {
    const { bindings } = await start(await temporaryStore());
    const before = bindings.list(1);
    for (const input of [
      [{ id: "nobody" }],
      [{ id: "shipped", enabled: "yes" }],
      [{ id: "shipped", priority: 101 }],
    ])
      await expect(bindings.change(1, input)).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
    expect(bindings.list(1)).toEqual(before);
  });
});

describe("settings that a bot does not know", () => {
  const config = z.object({ diary: z.string().optional(), zone: z.string().optional() });
  const withSettings = (schema: unknown): ReturnType<typeof createRegistry> =>
    createRegistry(
      [{ id: "clinic", file: "c", exported: { config: schema, enable: "bound", routes: says("hi") } }],
      log,
    );
  const begun = async (schema: unknown = config, store?: Store) => {
    const bindings = createBindings(store ?? (await temporaryStore()), withSettings(schema), () => undefined);
    await bindings.load();
    return bindings;
  };
  const bound = (settings: object): unknown => [{ id: "clinic", enabled: true, config: settings }];

  it("are named, with the one that was meant, and nothing is saved", async () => {
    const bindings = await begun();
    await expect(bindings.put(1, bound({ dairy: "x", hours: 9, locale: "es" }))).rejects.toMatchObject({
      code: "INVALID_PARAMETERS",
      details: {
        fields: {
          bots: [
            'Bot "clinic": config "dairy" is not known: did you mean "diary"?',
            'Bot "clinic": config "hours" is not known. The bot\'s settings: diary, zone.',
          ],
        },
      },
    });
    expect(bindings.list(1)).toMatchObject([{ enabled: false, config: null }]);
    await expect(bindings.change(1, bound({ dairy: "x" }))).rejects.toMatchObject({
      code: "INVALID_PARAMETERS",
    });
    await bindings.put(1, bound({ diary: "x", locale: "es" }));
  });

  it("are anything where the schema takes anything", async () => {
    const bindings = await begun(z.looseObject({ diary: z.string() }));
    const settings = { diary: "x", dairy: "y" };
    expect(await bindings.put(1, bound(settings))).toMatchObject([{ config: settings, warnings: [] }]);
  });

  it("that were saved before the bot forgot them stay, and are told", async () => {
    const store = await temporaryStore();
    await (await begun(config.extend({ hours: z.number() }), store)).put(1, bound({ hours: 9 }));
    const bindings = await begun(config, store);
    expect(await bindings.change(1, [{ id: "clinic", priority: 3 }])).toMatchObject([
      {
        enabled: true,
        priority: 3,
        config: { hours: 9 },
        warnings: ['config "hours" is not known. The bot\'s settings: diary, zone.'],
      },
    ]);
  });
});

describe("what in a number's bots works otherwise than it may look", () => {
  it("is reported once at the start, when it comes up, and when other bots come", async () => {
    const store = await temporaryStore();
    const problems: string[] = [];
    const bindings = createBindings(store, registry, (text) => problems.push(text));
    await bindings.load();
    expect(problems).toEqual([]);
    for (const deviceId of [1, 2]) await bindings.put(deviceId, [{ id: "shipped", enabled: true }]);
    const hidden = 'shipped (keyword:hi) is asked only when everywhere (keyword:hi) passes: both take "hi".';
    expect(problems).toEqual([hidden]);
    await bindings.use(registry);
    expect(problems).toEqual([hidden, hidden]);
    await createBindings(store, registry, (text) => problems.push(`again: ${text}`)).load();
    expect(problems.at(-1)).toBe(`again: ${hidden}`);
    expect(problems).toHaveLength(3);
  });
});

describe("other bots for many numbers", () => {
  async function startWith(numbers: number) {
    const store = await temporaryStore();
    const row = "insert into bot_bindings (device_id, bot_id, enabled) values (?, 'shipped', 1)";
    await store.writer.commit(
      Array.from({ length: numbers }, (_, index) => ({ sql: row, args: [index + 1] })),
    );
    return start(store);
  }

  it("let everybody else in between two numbers, and the old bots answer until all are ready", async () => {
    const { bindings } = await startWith(50);
    const shown = () => bindings.tableOf(50).active.map(({ bot }) => bot.id);
    const seen: string[][] = [];
    let isDone = false;
    const look = (): void => {
      if (isDone) return;
      seen.push(shown());
      setImmediate(look);
    };

    setImmediate(look);
    await bindings.use(createRegistry([{ id: "shipped", file: "new", exported: says("new") }], log));
    isDone = true;

    expect(seen.length).toBeGreaterThan(25);
    expect(seen.every((ids) => ids.includes("everywhere"))).toBe(true);
    expect(shown()).toEqual(["shipped"]);
  });

  it("do not come back for a number that is erased meanwhile", async () => {
    const { bindings } = await startWith(3);
    const hasShipped = (deviceId: number) =>
      bindings.tableOf(deviceId).active.some(({ bot }) => bot.id === "shipped");
    const used = bindings.use(registry);
    await new Promise((resolve) => setImmediate(resolve));
    bindings.forget(1);
    await used;

    expect([hasShipped(1), hasShipped(2)]).toEqual([false, true]);
  });
});
