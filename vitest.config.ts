import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { useMemoryForTemporaryFiles } from "./test/_setup/fast-temp.ts";
import { LongFirst } from "./test/_setup/long-first.ts";
import { startsBuiltPrograms } from "./test/_setup/programs.ts";
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

/** Tests on the wire with the simulator in their process. Each kind has processes of its own: the gateway's patches libsignal. */
const WIRE_TESTS = ["simulator", "whatsapp"];

/** Small parts alone. */
const UNIT_TESTS = "test/unit/**/*.test.ts";

/** Made before any test runs; the build of the gateway, which takes longer, goes on while they run. */
const PROGRAMS = "./test/_setup/programs.ts";

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
    // Files of one project share processes: to load Baileys, the simulator and the sources costs more than most tests. What
    // they import must register no hooks, because it is loaded once; see `gateway-hooks.ts`.
    isolate: false,
    // Tests with a gateway wait for it, and for time, as much as they compute.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    setupFiles: [inRoot("./test/_setup/cpu.ts")],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        plugins: [startsBuiltPrograms()],
        test: {
          name: "sources",
          globalSetup: [PROGRAMS],
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
          testTimeout: 90_000,
        },
      })),
      {
        extends: true,
        plugins: [startsBuiltPrograms()],
        test: {
          name: "units",
          globalSetup: [PROGRAMS],
          include: [UNIT_TESTS],
        },
      },
      {
        extends: true,
        test: {
          name: "gateway",
          include: GATEWAY_TESTS,
          globalSetup: [PROGRAMS, "./test/_setup/build.ts"],
          setupFiles: [inRoot("./test/_setup/gateway-hooks.ts")],
        },
      },
      {
        // Tests that stand beside bots, also outside of the repository: `npm run parley -- bots test`.
        extends: true,
        resolve: { alias: { vitest: inRoot("./node_modules/vitest/dist/index.js") } },
        test: {
          name: "bots",
          isolate: true,
          include: ["bots", ...(BOTS_DIR ? [BOTS_DIR] : [])].map(
            (folder) => `${folder}/**/*.test.{ts,js,mjs}`,
          ),
        },
      },
    ],
  },
});
