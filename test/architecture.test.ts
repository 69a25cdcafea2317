import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Each folder may import itself and whatever stands in its list; `external` names packages that only it may import. */
const DOMAIN = [
  "accounts",
  "audit",
  "backup",
  "bot",
  "directory",
  "events",
  "inbox",
  "media",
  "metrics",
  "numbers",
  "outbox",
  "retention",
  "webhooks",
];
const BASE = ["model", "store", "net", "config", "log"];
const MAY_IMPORT: Record<string, string[]> = {
  model: [],
  store: [...BASE],
  net: [...BASE],
  whatsapp: [...BASE],
  // A domain folder may also name the types of WhatsApp's port, and nothing of its neighbours.
  ...Object.fromEntries(DOMAIN.map((folder) => [folder, [...BASE, "whatsapp/port"]])),
  pipeline: [...BASE, ...DOMAIN, "whatsapp/port"],
  app: [...BASE, ...DOMAIN, "pipeline", "whatsapp", "api/services", "process/stalls"],
  api: [...BASE, ...DOMAIN, "pipeline", "app"],
  start: [...BASE, "app", "api", "bot", "process"],
  simulator: ["model"],
  // Joins the parts for tests of bots, as the app does for the gateway.
  testing: [...BASE, ...DOMAIN, "pipeline", "whatsapp/port"],
};

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function imports(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g);
  return [...found].map((match) => match[1]!);
}

/** `src/store/open.ts` → `store/open` */
const place = (file: string): string => file.replace(/^src\//, "").replace(/\.ts$/, "");
const allows = (allowed: string[], target: string): boolean =>
  allowed.some((entry) => target === entry || target.startsWith(`${entry}/`));

describe("imports go one way", () => {
  const files = sources("src");

  it("finds the sources", () => {
    expect(files.length).toBeGreaterThan(30);
  });

  it.each(Object.keys(MAY_IMPORT))("%s imports only what stands below it", (folder) => {
    const wrong = files
      .filter((file) => allows([folder], place(file)))
      .flatMap((file) =>
        imports(file)
          .filter((name) => name.startsWith("."))
          .map((name) => ({ file, target: relative(root, resolve(root, dirname(file), name)) }))
          .filter(({ target }) => target.startsWith("src/"))
          .filter(({ target }) => !allows([folder, ...MAY_IMPORT[folder]!], place(target))),
      )
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).toEqual([]);
  });

  it("only src/whatsapp (and the simulator) imports Baileys", () => {
    const importers = files
      .filter((file) => !/^src\/(whatsapp|simulator)\//.test(file))
      .filter((file) => imports(file).some((name) => name.startsWith("@whiskeysockets")));
    expect(importers).toEqual([]);
  });

  it("nothing of the gateway imports the simulator", () => {
    const importers = [...files, ...sources("routes"), ...sources("bots")]
      .filter((file) => !/^src\/(simulator|demo|cli)\//.test(file))
      .filter((file) => imports(file).some((name) => name.includes("simulator")));
    expect(importers).toEqual([]);
  });

  it("nothing of the gateway imports the testing kit", () => {
    const importers = [...files, ...sources("routes")]
      .filter((file) => !file.startsWith("src/testing/"))
      .filter((file) => imports(file).some((name) => /\/testing\/|^parley\/testing/.test(name)));
    expect(importers).toEqual([]);
  });

  it("routes are thin: at most 40 lines, no SQL, no Baileys, no folder but src/api", () => {
    const wrong = sources("routes").flatMap((file) => {
      const lines = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
      const foreign = imports(file).filter((name) => name.startsWith(".") && !name.includes("/src/api/"));
      return [
        ...(lines.length > 40 ? [`${file}: ${lines.length} lines`] : []),
        ...foreign.map((name) => `${file} → ${name}`),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it("bots import nothing of Parley but 'parley'", () => {
    const wrong = sources("bots").flatMap((file) =>
      imports(file)
        .filter((name) => name.includes("src/"))
        .map((name) => `${file} → ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  // Unit tests share one process per worker: a module that is loaded once would register its hooks for one file only.
  it("what unit tests import registers no hooks by being imported", () => {
    const wrong = sources("test/unit")
      .filter((file) => !file.endsWith(".test.ts"))
      .filter((file) => /^(before|after)(Each|All)\(/m.test(readFileSync(join(root, file), "utf8")));
    expect(wrong).toEqual([]);
  });
});
