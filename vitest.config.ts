import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LEFT_OUT } from "./test/_setup/drills.ts";
import { useMemoryForTemporaryFiles } from "./test/_setup/fast-temp.ts";
import { LongFirst } from "./test/_setup/long-first.ts";
import { startsBuiltPrograms } from "./test/_setup/programs.ts";
import SlowestFiles from "./test/_setup/slowest.ts";
import Verdict, { reportsFolder } from "./test/_setup/verdict.ts";

useMemoryForTemporaryFiles();

const inRoot = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { BOTS_DIR } = process.env;

/**
 * Structure, lists that are complete, and pages that match the sources: seconds together. The gate runs them before anything else
 * (`npm run test:quick`).
 */
const QUICK_TESTS = [
  "test/{architecture,walks,statistics,packages,expressions,readme-text}.test.ts",
  "test/security/documentation.test.ts",
  "test/unit/store/{clock,sealed-columns,erase,queries}.test.ts",
  "test/unit/bot/reference.test.ts",
  "test/unit/log/convention.test.ts",
  "test/unit/console/locales.test.ts",
  "test/openapi/client.test.ts",
  "test/unit/api/openapi.test.ts",
  "test/bots/crash-stories.test.ts",
];

/** Tests that start the built gateway; the others run against the sources alone and need no build. */
const GATEWAY_TESTS = [
  "test/{api,app,attack,client,cluster,compat,console,crash,browser,dev,e2e,faults,gateway,security}/**/*.test.ts",
  "test/cli/{parley,bots,built}.test.ts",
  "test/deploy/{caddy,guide-commands,health}.test.ts",
  "test/readme.test.ts",
];

/** Baileys as it is, at the simulator's wire. In processes of their own: the gateway's sources patch libsignal. */
const SIMULATOR_TESTS = "test/simulator/**/*.test.ts";

/** `npm run test:long`: whole matrices and drills, of which `npm test` has the short forms. Half an hour and more. */
const LONG = process.env["PARLEY_TEST_LONG"] === "1";
const LONG_TESTS = "test/long/**/*.test.ts";
/** Files that do more in it. */
const LONGER_TESTS = [
  "test/security/bad-requests.test.ts",
  "test/e2e/{mcp-protocol,year}.test.ts",
  "test/bots/crash.test.ts",
  "test/crash/mutations.test.ts",
  // Every width in every theme.
  "test/console/**/*.test.ts",
];

/**
 * Run a second time with gateways that are nodes: of everything by `npm run test:cluster`, of little in every run. Left out is what
 * is about the database's own file.
 */
const AS_NODES = LONG || process.env["PARLEY_TEST_CLUSTER"] === "1";
const NODE_TESTS = AS_NODES
  ? "test/{api,compat,e2e,security}/**/*.test.ts"
  : "test/e2e/first-conversation.test.ts";
const OF_ONE_PROCESS = [
  "test/e2e/{backup,rotate-key,scheduled-backups}.test.ts",
  "test/security/upgrade.test.ts",
];

/** Run a second time with the everyday way off: of everything by `npm run test:baileys`, of little in every run. */
const BAILEYS_TESTS =
  LONG || process.env["PARLEY_TEST_BAILEYS"] === "1"
    ? ["test/{compat,e2e,whatsapp}/**/*.test.ts", "test/crash/{kill,order,points}.test.ts"]
    : ["test/e2e/first-conversation.test.ts", "test/crash/{order,points}.test.ts"];

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
    reporters: process.env["CI"]
      ? [
          "default",
          ["json", { outputFile: `${reportsFolder()}/results.json` }],
          new SlowestFiles(),
          new Verdict(),
        ]
      : ["default", new SlowestFiles(), new Verdict()],
    pool: "forks",
    // Files of one project share processes: to load Baileys, the simulator and the sources costs more than most tests. What
    // they import must register no hooks, because it is loaded once; see `gateway-hooks.ts`.
    isolate: false,
    // Tests with a gateway wait for it, and for time, as much as they compute.
    // The gate prefers to be sure: on a slow machine, five workers make each test wait for the others.
    maxWorkers: process.env["CI"] ? 3 : 5,
    // No function of a test run is hot for long: V8 optimises late, and collects young objects seldom. Decision 0099.
    execArgv: ["--interrupt-budget=540000", "--min-semi-space-size=16"],
    sequence: { sequencer: LongFirst },
    setupFiles: [inRoot("./test/_setup/patience.ts"), inRoot("./test/_setup/cpu.ts")],
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        plugins: [startsBuiltPrograms()],
        test: {
          name: "sources",
          globalSetup: [PROGRAMS],
          include: ["test/**/*.test.ts"],
          exclude: [...GATEWAY_TESTS, ...QUICK_TESTS, SIMULATOR_TESTS, LONG_TESTS, ...LEFT_OUT],
        },
      },
      {
        extends: true,
        plugins: [startsBuiltPrograms()],
        test: {
          name: "quick",
          globalSetup: [PROGRAMS],
          include: QUICK_TESTS,
        },
      },
      {
        extends: true,
        test: {
          name: "simulator",
          include: [SIMULATOR_TESTS],
          exclude: [...LEFT_OUT],
        },
      },
      {
        extends: true,
        test: {
          name: "gateway",
          include: GATEWAY_TESTS,
          exclude: [...QUICK_TESTS, ...LEFT_OUT],
          globalSetup: [PROGRAMS, "./test/_setup/build.ts"],
          setupFiles: [inRoot("./test/_setup/gateway-hooks.ts")],
        },
      },
      {
        extends: true,
        test: {
          name: "nodes",
          include: [NODE_TESTS],
          exclude: OF_ONE_PROCESS,
          globalSetup: [PROGRAMS, "./test/_setup/build.ts"],
          setupFiles: [inRoot("./test/_setup/gateway-hooks.ts")],
          env: { PARLEY_TEST_CLUSTER: "1" },
        },
      },
      {
        extends: true,
        test: {
          name: "baileys",
          include: BAILEYS_TESTS,
          exclude: [...LEFT_OUT],
          globalSetup: [PROGRAMS, "./test/_setup/build.ts"],
          setupFiles: [inRoot("./test/_setup/gateway-hooks.ts")],
          env: { EVERYDAY_PATH: "off" },
        },
      },
      ...(LONG
        ? [
            {
              extends: true as const,
              test: {
                name: "long",
                include: [LONG_TESTS, ...LONGER_TESTS],
                globalSetup: [PROGRAMS, "./test/_setup/build.ts"],
                setupFiles: [inRoot("./test/_setup/gateway-hooks.ts")],
              },
            },
          ]
        : []),
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
