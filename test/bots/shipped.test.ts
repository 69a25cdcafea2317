import { readdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { findConflicts } from "../../src/bot/routes/conflicts.ts";
import { loadBots } from "../../src/bot/files/load.ts";
import { buildTable } from "../../src/bot/routes/table.ts";
import { validate } from "../../src/bot/standard-schema.ts";
import type { BotDefinition } from "../../src/bot/types.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createSafeFetch } from "../../src/net/safe-fetch.ts";
import { startBots } from "../unit/bot/harness.ts";
import { listeningLog } from "../unit/bot/messages.ts";
import { locales, shipped } from "./shipped.ts";

const { log } = listeningLog();
const { registry } = await loadBots({ buildTime: shipped, botsDir: null, log });

/** Keys of all texts, joined by dots. */
const keysOf = (value: unknown, key = ""): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => keysOf(inner, key === "" ? name : `${key}.${name}`))
    : [key];

describe("the bots in bots/", () => {
  it("all load", () => {
    expect(registry.list().filter(({ error }) => error)).toEqual([]);
    expect(registry.bots.map(({ id }) => id)).toEqual([
      "assistant",
      "clinic",
      "contact-card",
      "group-helper",
      "lead-form",
      "menu",
      "opening-hours",
      "order-status",
      "ping",
      "restaurant",
      "satisfaction",
      "shop",
    ]);
  });

  it.each(["clinic", "restaurant"])("%s is read at a glance: at most 60 lines", (id) => {
    const lines = readFileSync(join(repositoryRoot(), `bots/${id}.ts`), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeLessThanOrEqual(60);
  });

  it("answer nobody's customers by themselves, and leave the rest to the webhook", () => {
    for (const bot of registry.bots) {
      expect(bot.enable).toBe("bound");
      expect(bot.routes.map(({ kind }) => kind)).not.toContain("fallback");
    }
  });

  it("can all be bound as they are, without settings", async () => {
    for (const { id, config } of registry.bots)
      expect(config === null ? {} : await validate(config, {}), id).not.toHaveProperty("problems");
  });

  it("do not take words from one another", () => {
    const active = registry.bots.map((bot) => ({ bot, priority: bot.priority, config: {} }));
    expect(findConflicts(buildTable(active).active).map(({ text }) => text)).toEqual([]);
  });

  it("have the same texts in every language", () => {
    const keys = keysOf(locales["en"]).toSorted();
    expect(Object.keys(locales)).toEqual(["en", "es", "id", "pt"]);
    for (const texts of Object.values(locales)) expect(keysOf(texts).toSorted()).toEqual(keys);
  });
});

describe("what the bots in bots/ reach", () => {
  const FOLDER = join(repositoryRoot(), "bots");
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );

  it("is asked by ctx.fetch only: nothing in them names another way out", () => {
    const ways = files.flatMap((file) =>
      waysOutOf(readFileSync(join(FOLDER, file), "utf8")).map((way) => `${file}: ${way}`),
    );
    expect(ways).toEqual([]);
    expect(
      waysOutOf(`import http from "node:http"; import { z } from "zod"; import "./_x.ts"; const f = fetch;
        globalThis.fetch("x"); ctx.fetch("x"); await import("undici"); require("net"); process.env.X; new WebSocket("x");`),
    ).toEqual(["node:http", "fetch", "globalThis", "import(", "require", "process", "WebSocket"]);
  });
});

/** Modules that are not of bots, and names of what Node gives to everybody. */
function waysOutOf(source: string): string[] {
  const { program, errors } = parseSync("bot.ts", source);
  expect(errors).toEqual([]);
  const found: string[] = [];
  const FORBIDDEN =
    /^(fetch|globalThis|global|require|process|WebSocket|EventSource|XMLHttpRequest|eval|Function)$/;
  const members = new Set<unknown>();
  new Visitor({
    ImportDeclaration({ source: { value } }) {
      if (!/^(parley|zod|\.\.?\/.*)$/.test(value)) found.push(value);
    },
    ImportExpression: () => void found.push("import("),
    MemberExpression: (node) => void (!node.computed && members.add(node.property)),
    Property: (node) => void (!node.computed && !node.shorthand && members.add(node.key)),
    Identifier(node) {
      if (!members.has(node) && FORBIDDEN.test(node.name)) found.push(node.name);
    },
  }).visit(program);
  return found;
}

describe("somebody on WhatsApp", () => {
  /** Words that make a bot ask elsewhere, and settings that lead into the gateway's own network. */
  const asking: Record<string, { config: (address: string) => object; texts: string[] }> = {
    "order-status": { config: (address) => ({ lookupUrl: `${address}/{order}` }), texts: ["order 1042"] },
    "lead-form": {
      config: (address) => ({ crmUrl: address }),
      texts: ["quote", "Ana", "ana@example.org", "1", "no"],
    },
    assistant: { config: (address) => ({ url: address, key: "k" }), texts: ["hello"] },
    clinic: {
      config: (address) => ({ diaryUrl: address }),
      texts: ["appointment", "1", "Ana Mora"],
    },
    restaurant: { config: (address) => ({ kitchenUrl: address }), texts: ["table", "2"] },
    shop: {
      config: (address) => ({ ordersUrl: address }),
      texts: ["add 1 espresso", "checkout", "Ana", "Harbour Street 12", "1", "no", "yes", "my order"],
    },
  };

  it("has every bot listed that asks elsewhere", () => {
    const files = readdirSync(join(repositoryRoot(), "bots"), { recursive: true, encoding: "utf8" });
    const fetching = files
      .filter(
        (file) =>
          file.endsWith(".ts") &&
          readFileSync(join(repositoryRoot(), "bots", file), "utf8").search(/\.(fetch|call)[(<]/) !== -1,
      )
      .map((file) => file.split(/[/.]/)[0]);
    expect([...new Set(fetching)].toSorted()).toEqual(Object.keys(asking).toSorted());
  });

  it.each(Object.entries(asking))(
    "makes %s ask nothing private, whatever its settings say",
    async (id, { config, texts }) => {
      let connections = 0;
      const server = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const exported = ((await shipped[id in shipped ? id : `${id}/index`]!()) as { default: BotDefinition })
        .default;

      for (const address of [
        `http://127.0.0.1:${port}`,
        `http://localhost:${port}`,
        `http://0x7f.1:${port}`,
      ]) {
        // Saved before addresses were looked at, or under another rule: nothing is checked here but what is connected to.
        const http = createSafeFetch({ allowPrivateNetwork: false });
        const run = await startBots(
          { [id]: exported },
          { http: { ...http, check: async () => undefined }, config: config(address) as never },
        );
        for (const text of texts) await run.say(text);
        expect(run.heard().length).toBeGreaterThan(0);
        expect(run.log.lines.join("")).not.toContain("ContextClosedError");
        await run.run.end();
      }
      expect(connections).toBe(0);
    },
  );
});
