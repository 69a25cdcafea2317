import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const REGISTRY = "https://registry.npmjs.org/";

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  optionalDependencies?: Record<string, string>;
}
const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));
const locked = Object.entries((read("package-lock.json") as { packages: Record<string, Locked> }).packages);
const { dependencies, devDependencies } = read("package.json") as Record<string, Record<string, string>>;

/** `@scope/name/part` → `@scope/name` */
const packageOf = (name: string): string =>
  name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");

/** Packages that a source file imports, types included, in whatever way its syntax allows. */
function packagesOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const quoted = dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start, end));
  const names = [
    ...staticImports.map((entry) => entry.moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value ?? ".")),
    ...quoted.flatMap((name) => /^["'](.*)["']$/.exec(name)?.[1] ?? []),
  ];
  return names.filter((name) => /^(@[a-z0-9-]+\/)?[a-z][\w.-]*(\/[\w./-]+)?$/.test(name)).map(packageOf);
}

/**
 * What runs where messages are; the demo, the simulator and the kit for tests, with what builds it and the client, do not, and
 * the console is built into files of its own.
 */
const PRODUCTION =
  /^(bots|routes|src\/(?!demo|simulator|testing|console|playground|build\/vue-types|build\/console|cli\/build-kit|cli\/client))/;
const OURS = new Set(["parley", ...builtinModules]);

/** Every import of a package, of all sources. */
const uses = ["src", "routes", "bots", "test", "drizzle", "."]
  .flatMap((folder) => readdirSync(join(root, folder), { withFileTypes: true, recursive: folder !== "." }))
  .filter((entry) => entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .flatMap((file) => packagesOf(file).map((name) => ({ file, name })))
  .filter(({ name }) => !OURS.has(name));

const unknown = (known: Record<string, string>, among = uses): string[] =>
  among.filter(({ name }) => !Object.hasOwn(known, name)).map(({ file, name }) => `${file}: ${name}`);

describe("packages", () => {
  it("are dependencies when the gateway imports them", () => {
    const production = uses.filter(({ file }) => PRODUCTION.test(file));

    expect(production.length).toBeGreaterThan(50);
    expect(unknown(dependencies!, production), "Move the package to dependencies of package.json.").toEqual(
      [],
    );
  });

  it("are named in package.json when tests or tools import them", () => {
    expect(
      unknown({ ...dependencies, ...devDependencies }),
      "Name the package in package.json: npm install --save-exact.",
    ).toEqual([]);
  });

  it("are locked with their checksum, and come from the public registry", () => {
    const faults = locked
      .filter(([path]) => path !== "")
      .filter(
        ([, { integrity = "", resolved = REGISTRY, link }]) =>
          link || !integrity.startsWith("sha512-") || !resolved.startsWith(REGISTRY),
      )
      .map(([path]) => path);

    expect(locked.length).toBeGreaterThan(100);
    expect(faults, "Write package-lock.json anew: npm install --package-lock-only.").toEqual([]);
  });

  it("are locked for every system that they have a part for", () => {
    const paths = new Set(locked.map(([path]) => path));
    const faults = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !found(paths, path, name)),
    );

    expect(faults, "Write package-lock.json anew: npm install --package-lock-only.").toEqual([]);
  });

  it("are asked for in one version, not in a range", () => {
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );

    expect(ranges, "Ask for one version: npm install --save-exact.").toEqual([]);
  });
});

/** As Node looks for it: beside the one who asks, then further up. */
function found(paths: Set<string>, from: string, name: string): boolean {
  if (from === "") return paths.has(`node_modules/${name}`);
  const above = from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/")));
  return paths.has(`${from}/node_modules/${name}`) || found(paths, above, name);
}
