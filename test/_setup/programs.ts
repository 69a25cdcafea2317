import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown, type Plugin } from "rolldown";
import type { TestProject } from "vitest/node";
import { buildBeside, isPackage } from "../../src/build/beside.ts";
import { madeOnce, placeOf, root } from "./made-once.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of {@link testPrograms}. */
    programs: string;
  }
}

/** Programs of the sources that tests start, again and again; `tsx` would read hundreds of files at each start. */
const PROGRAMS = [
  "src/cli/main.ts",
  "src/simulator/main.ts",
  "test/unit/store/busy-process.ts",
  "test/unit/store/committing-process.ts",
  "test/unit/store/holding-process.ts",
];
/** They look for the file that the build makes beside them. */
const STARTS_ANOTHER = /src\/(?:store\/thread|media\/decoder)\/entry\.ts$/;

/** Vitest's global setup. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide("programs", await testPrograms());
}

/** What `node` is given instead of `--import tsx <source>`. @param folder that of {@link testPrograms} */
export function programIn(folder: string, source: string): string {
  if (!PROGRAMS.includes(source))
    throw new Error(`${source} is not among the programs of test/_setup/programs.ts`);
  return join(folder, source.replace(/\.ts$/, ".mjs"));
}

const FOLDER = {
  name: "programs",
  of: ["src", "drizzle/schema.ts", "package-lock.json", "test/_setup/programs.ts", "test/unit/store"],
};
let made: Promise<string> | undefined;

/** @returns the folder of the programs, made of the present sources; several test runs at once share it */
export async function testPrograms(): Promise<string> {
  return await (made ??= madeOnce({ ...FOLDER, make: bundle }));
}

/** Lets sources that tests import start what lies in that folder, as the built gateway does, and not their neighbour by `tsx`. */
export function startsBuiltPrograms(): Plugin {
  let here: string | undefined;
  return {
    name: "starts-built-programs",
    transform(code, id) {
      if (!STARTS_ANOTHER.test(id)) return null;
      here ??= JSON.stringify(pathToFileURL(join(placeOf(FOLDER), "tests.mjs")).href);
      return code.replaceAll("import.meta.url", here);
    },
  };
}

async function bundle(into: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(PROGRAMS.map((path) => [path.replace(/\.ts$/, ""), join(root, path)])),
    platform: "node",
    external: (name) => isPackage(name),
    plugins: [whereTheSourcesAre()],
    logLevel: "warn",
  });
  await build.write({
    dir: into,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name]-[hash].mjs",
  });
  await build.close();
  // As `nitro.config.ts` makes them.
  await buildBeside({
    input: join(root, "src/store/thread/main.ts"),
    file: join(into, "store-thread.mjs"),
    isInstalled: isPackage,
  });
  await buildBeside({
    input: join(root, "src/media/decoder/main.ts"),
    file: join(into, "decoder.mjs"),
    isInstalled: (name) => name === "sharp",
  });
}

/** A module finds migrations, settings and packages from where its source stands, as with `tsx`. */
function whereTheSourcesAre(): Plugin {
  return {
    name: "where-the-sources-are",
    transform: (code, id) =>
      code.includes("import.meta.url") && !STARTS_ANOTHER.test(id)
        ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
        : null,
  };
}
