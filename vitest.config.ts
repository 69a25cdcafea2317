import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { useMemoryForTemporaryFiles } from "./test/_setup/fast-temp.ts";
import { LongFirst } from "./test/_setup/long-first.ts";
import SlowestFiles from "./test/_setup/slowest.ts";

useMemoryForTemporaryFiles();

const inRoot = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { BOTS_DIR } = process.env;

/** Tests that start the built gateway; the others run against the sources alone and need no build. */
const GATEWAY_TESTS = [
  "test/{api,app,attack,compat,crash,browser,dev,e2e,faults,gateway,security}/**/*.test.ts",
  "test/cli/{parley,bots}.test.ts",
  "test/readme.test.ts",
];

/** Tests on the wire with the simulator in their process. Of both kinds many share a process; the gateway's patches libsignal. */
const WIRE_TESTS = ["simulator", "whatsapp"];

/** Small parts alone. They leave nothing behind in the process, and so may share one. */
const UNIT_TESTS = "test/unit/**/*.test.ts";

export default defineConfig({
  resolve: {
    alias: {
      "parley/testing/matchers": inRoot("./src/testing/matchers.ts"),
      "parley/testing": inRoot("./src/testing/index.ts"),
      parley: inRoot("./src/bot/index.ts"),
      "#routes": inRoot("./test/_setup/routes.ts"),
    },
  },
  define: { __FAILPOINTS__: "true" },
  test: {
    // `.ci/run` counts from the JSON file.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: ".test/results.json" }], new SlowestFiles()]
      : ["default", new SlowestFiles()],
    pool: "forks",
    // Tests with a gateway wait for it, and for time, as much as they compute.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    setupFiles: [inRoot("./test/_setup/cpu.ts")],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: "sources",
          include: ["test/**/*.test.ts"],
          exclude: [
            ...GATEWAY_TESTS,
            UNIT_TESTS,
            ...WIRE_TESTS.map((folder) => `test/${folder}/**/*.test.ts`),
          ],
        },
      },
      ...WIRE_TESTS.map((folder) => ({
        extends: true as const,
        test: {
          name: folder,
          include: [`test/${folder}/**/*.test.ts`],
          // As for units: a load of Baileys, the simulator and the sources costs more than most of these tests.
          isolate: false,
          testTimeout: 90_000,
        },
      })),
      {
        extends: true,
        test: {
          name: "units",
          include: [UNIT_TESTS],
          // One load of the sources for all of them. What they import must register no hooks: it is loaded once.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "gateway",
          include: GATEWAY_TESTS,
          globalSetup: ["./test/_setup/build.ts"],
        },
      },
      {
        // Tests that stand beside bots, also outside of the repository: `npm run parley -- bots test`.
        extends: true,
        resolve: { alias: { vitest: inRoot("./node_modules/vitest/dist/index.js") } },
        test: {
          name: "bots",
          include: ["bots", ...(BOTS_DIR ? [BOTS_DIR] : [])].map(
            (folder) => `${folder}/**/*.test.{ts,js,mjs}`,
          ),
        },
      },
    ],
  },
});
