import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { MUTATIONS, mutated } from "./crash/mutations.ts";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Each folder may import itself and whatever stands in its list; `external` names packages that only it may import. */
const DOMAIN = [
  "accounts",
  "alerts",
  "audit",
  "backup",
  "bot",
  "calls",
  "conversations",
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
  // What processes that share a database need of one another; the others see `model/nodes/cluster.ts` alone.
  cluster: [...BASE],
  // A domain folder may also name the types of WhatsApp's port, and nothing of its neighbours.
  ...Object.fromEntries(DOMAIN.map((folder) => [folder, [...BASE, "whatsapp/port"]])),
  pipeline: [...BASE, ...DOMAIN, "whatsapp/port"],
  // The way of a message, joined once for the gateway, the test kit and the benches.
  path: [...BASE, ...DOMAIN, "pipeline", "whatsapp/port"],
  app: [...BASE, ...DOMAIN, "cluster", "pipeline", "path", "whatsapp", "api/services", "process"],
  // What a process is, whatever runs in it: stalls, errors that nobody caught, the order of its end, free ports.
  process: [...BASE],
  api: [...BASE, ...DOMAIN, "pipeline", "path", "app"],
  // Another way to the same endpoints.
  mcp: [...BASE, "accounts", "api"],
  start: [...BASE, "app", "api", "bot", "process"],
  // The entry of the built gateway: the port, and what never becomes a request.
  serve: [...BASE, "api", "process", "start"],
  // How Nitro's build becomes one script.
  build: ["model", "process"],
  cli: [
    ...BASE,
    ...DOMAIN,
    "api",
    "app",
    "build",
    "client",
    "cluster",
    "path",
    "pipeline",
    "process",
    "simulator",
    "testing",
    "whatsapp",
  ],
  demo: [...BASE, ...DOMAIN, "api", "build", "cli", "client", "path", "process", "simulator", "testing"],
  // A package in all but name: nothing of Parley.
  simulator: [],
  // The same: it is installed without the gateway, and runs in browsers.
  client: [],
  testing: [...BASE, ...DOMAIN, "pipeline", "path", "whatsapp/port"],
  // Runs in browsers: of the gateway it knows what the client knows.
  console: ["client"],
};

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|vue)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function imports(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g);
  return [...found].map((match) => match[1]!);
}

/** What a file imports of this repository, from its root: `src/store/open.ts`. */
const targets = (file: string): string[] =>
  imports(file)
    .filter((name) => name.startsWith("."))
    .map((name) => relative(root, resolve(root, dirname(file), name)));

/** The simulator's public files; who goes inside is a test. */
const SIMULATOR_ENTRIES = ["index.ts", "client.ts", "types.ts"];
function mayImportSimulator(file: string): string[] {
  if (/^(test|src\/testing)\//.test(file)) return [...SIMULATOR_ENTRIES, "inside.ts"];
  return /^src\/(demo|cli)\//.test(file) ? SIMULATOR_ENTRIES : [];
}

/** Groups of files that import one another in a circle, by Tarjan's algorithm. */
function circles(files: string[]): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    open.push(file);
    for (const target of targets(file).filter((one) => files.includes(one))) {
      if (!order.has(target)) visit(target);
      else if (!open.includes(target)) continue;
      lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1 || targets(file).includes(file)) found.push(group.toSorted());
  };
  for (const file of files) if (!order.has(file)) visit(file);
  return found;
}

/** `src/store/open.ts` → `store/open` */
const place = (file: string): string => file.replace(/^src\//, "").replace(/\.(ts|vue)$/, "");
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
    expect(
      wrong,
      "Move the code down, or declare an interface and let src/app hand it in. The lists: MAY_IMPORT in this file.",
    ).toEqual([]);
  });

  it("the tables' schema imports the words of src/model alone", () => {
    const wrong = targets("drizzle/schema.ts").filter(
      (target) => target.startsWith("src/") && !target.startsWith("src/model/"),
    );
    expect(wrong, "Move the words that rows are typed with to src/model.").toEqual([]);
  });

  it("time is passed in: nothing of the engine sets a timer of its own", () => {
    const ENGINE = ["model", "store", "net", "whatsapp", "cluster", ...DOMAIN, "pipeline", "path", "app"];
    const bare = files
      .filter((file) => allows(ENGINE, place(file)) && file !== "src/model/time.ts")
      .filter((file) => /\bset(?:Timeout|Interval)\(/.test(readFileSync(join(root, file), "utf8")));
    expect(bare, "Take `Pick<Time, …>` of src/model/time.ts, so that tests can move the clock.").toEqual([]);
  });

  it("only src/whatsapp (and the simulator) imports Baileys", () => {
    const importers = files
      .filter((file) => !/^src\/(whatsapp|simulator)\//.test(file))
      .filter((file) => imports(file).some((name) => name.startsWith("@whiskeysockets")));
    expect(importers, "Ask for it through src/whatsapp/port.ts.").toEqual([]);
  });

  it("the simulator imports nothing of Parley, by whatever name", () => {
    const wrong = files
      .filter((file) => file.startsWith("src/simulator/"))
      .flatMap((file) => imports(file).map((name) => `${file} → ${name}`))
      .filter((line) => /→ (parley|#)/.test(line));
    expect(wrong, "Copy the fact, not the code: the simulator judges Parley.").toEqual([]);
  });

  it("only the demo, the command and tests import the simulator, and only by its public files", () => {
    const wrong = [...files, ...sources("routes"), ...sources("bots"), ...sources("test")]
      .filter((file) => !/^(src\/simulator|test\/simulator|test\/unit\/simulator)\//.test(file))
      .flatMap((file) => targets(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith("src/simulator/"))
      .filter(({ file, target }) => !mayImportSimulator(file).includes(target.slice("src/simulator/".length)))
      .map(({ file, target }) => `${file} → ${target}`);
    expect(
      wrong,
      "Import src/simulator/index.ts, client.ts or types.ts; from inside, a test under test/simulator.",
    ).toEqual([]);
  });

  it("nothing of the gateway imports the testing kit", () => {
    const importers = [...files, ...sources("routes")]
      // The author's command, which runs stories with it.
      .filter((file) => !/^src\/(testing|cli\/stories)\//.test(file))
      .filter((file) => imports(file).some((name) => /\/testing\/|^parley\/testing/.test(name)));
    expect(importers, "Move what both need below src/testing.").toEqual([]);
  });

  it("routes are thin: at most 40 lines, no SQL, no Baileys, no folder but src/api and src/mcp", () => {
    const wrong = sources("routes").flatMap((file) => {
      const lines = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
      const foreign = imports(file).filter(
        (name) => name.startsWith(".") && !/\/src\/(?:api|mcp)\//.test(name),
      );
      return [
        ...(lines.length > 40 ? [`${file}: ${lines.length} lines`] : []),
        ...foreign.map((name) => `${file} → ${name}`),
      ];
    });
    expect(wrong, "Move the work to src/api: a route reads, authorizes, calls one function.").toEqual([]);
  });

  it("the playground's page imports the console's kit, and of the demo what it is told alone", () => {
    const wrong = files
      .filter((file) => file.startsWith("src/playground/"))
      .flatMap((file) => targets(file).map((target) => ({ file, target })))
      .filter(
        ({ target }) =>
          !/^src\/(playground|console\/(kit|app|data))\/|^src\/demo\/playground\/view.ts$/.test(target),
      )
      .map(({ file, target }) => `${file} → ${target}`);
    expect(
      wrong,
      "Move what both need into src/console/kit, or tell it by src/demo/playground/view.ts.",
    ).toEqual([]);
  });

  it("nothing of the gateway imports the demo or the playground", () => {
    const wrong = [...files, ...sources("routes")]
      .filter((file) => !/^src\/(demo|playground|cli)\//.test(file))
      .flatMap((file) => targets(file).map((target) => ({ file, target })))
      .filter(({ target }) => /^src\/(demo|playground)\//.test(target))
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong, "Move what both need out of the demo.").toEqual([]);
  });

  it("the console imports packages of browsers alone, and its screens nothing of one another", () => {
    const BROWSER =
      /^(vue|vue-router|vue-i18n|reka-ui|uplot(\/.*)?|vite|@vitejs\/plugin-vue|@lucide\/vue|@tanstack\/vue-virtual)$/;
    const screenOf = (path: string): string | undefined =>
      /^src\/console\/screens\/([^/]+)\//.exec(path)?.[1];
    const of = files.filter((file) => file.startsWith("src/console/") && !file.endsWith("vite.config.ts"));
    const foreign = of.flatMap((file) =>
      imports(file)
        .filter((name) => !name.startsWith(".") && !BROWSER.test(name))
        .map((name) => `${file} → ${name}`),
    );
    const neighbours = of.flatMap((file) =>
      targets(file)
        .filter((target) => screenOf(target) !== undefined && screenOf(target) !== screenOf(file))
        .map((target) => `${file} → ${target}`),
    );

    expect(of.length).toBeGreaterThan(50);
    expect(
      [...foreign, ...neighbours],
      "A package that runs in browsers goes into BROWSER in this file; what two screens need goes into src/console/kit.",
    ).toEqual([]);
  });

  // The page's policy allows no style in its text, and right-to-left turns only what is logical.
  it("components have no style in their markup, and no side called left or right", () => {
    const wrong = files
      .filter((file) => file.endsWith(".vue"))
      .filter((file) => {
        const text = readFileSync(join(root, file), "utf8");
        const styles = [...text.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)]
          .map((match) => match[1])
          .join("");
        return /\sstyle="/.test(text) || /\bv-html\b/.test(text) || /[\s-](left|right)\s*:/.test(styles);
      });
    expect(wrong, "Use a class, v-text, and logical sides (inline-start, inline-end).").toEqual([]);
  });

  it("bots import nothing of Parley but 'parley'", () => {
    const wrong = sources("bots").flatMap((file) =>
      imports(file)
        .filter((name) => name.includes("src/"))
        .map((name) => `${file} → ${name}`),
    );
    expect(wrong, "Import from 'parley'.").toEqual([]);
  });
});

describe("no file imports itself by way of others", () => {
  it("not even for a type", () => {
    expect(circles(sources("src")), "Move what the files of a circle share into a file below them.").toEqual(
      [],
    );
  });

  // Unit tests share one process per worker: a module that is loaded once would register its hooks for one file only.
  it("what unit tests import registers no hooks by being imported", () => {
    const wrong = sources("test/unit")
      .filter((file) => !file.endsWith(".test.ts"))
      .filter((file) => /^(before|after)(Each|All)\(/m.test(readFileSync(join(root, file), "utf8")));
    expect(wrong, "Let it take the hook as an argument, as startRedis({ until: afterAll }) does.").toEqual(
      [],
    );
  });
});

describe("what stands beside the sources follows them", () => {
  it.each(MUTATIONS)("the crash drills find the place of $name", (mutation) => {
    expect(
      () => mutated(readFileSync(join(root, mutation.file), "utf8"), mutation),
      "Correct the text that it replaces in test/crash/mutations.ts.",
    ).not.toThrow();
  });
});
