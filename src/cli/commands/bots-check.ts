import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { report } from "../../bot/forecast/report.ts";
import { liveBots } from "../../bot/files/live.ts";
import { loadBots } from "../../bot/files/load.ts";
import { loadConfig, repositoryRoot } from "../../config.ts";
import { createLogger } from "../../log.ts";
import { openReadOnly } from "../../store/file/read-only.ts";
import { command } from "../command.ts";
import { ownBuild } from "../place.ts";
import { asJson, WRITTEN } from "../plainly.ts";

/** `parley bots check`: what becomes of everything stored when other bots run. The gateway may run meanwhile; nothing is written. */
export default command({
  meta: {
    name: "check",
    description:
      "Say what will happen to open conversations and sessions with other bots, before those bots run",
  },
  args: {
    bots: {
      type: "string",
      valueHint: "file",
      description: "Future value of BOTS_DIR; default: its present value",
    },
    build: {
      type: "string",
      valueHint: "file",
      description:
        "Folder of the build whose own bots will run; default: the sources in bots/, or the build that has this command",
    },
    data: { type: "string", valueHint: "file", description: "Data folder of the gateway; default: DATA_DIR" },
    each: { type: "boolean", description: "Print one line of JSON for each open conversation" },
    strict: {
      type: "boolean",
      description: "Exit with code 3 when something does not fit; a loss always exits with code 2",
    },
  },
  async run({ args }) {
    const { bots, build, data, each = false, strict = false } = args;
    const env = {
      ...process.env,
      ...(data !== undefined && { DATA_DIR: resolve(data) }),
      ...(bots !== undefined && { BOTS_DIR: resolve(bots) }),
    };
    const folder = build ?? ownBuild;
    const options = { json: asJson, each, strict, say };
    process.exitCode =
      folder === null ? await checkSources(env, options) : await checkBuild(folder, env, options);
    return WRITTEN;
  },
});

/** What a report says is on standard output in any case. */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

type Options = Parameters<typeof report>[2];

async function checkSources(env: NodeJS.ProcessEnv, options: Options): Promise<number> {
  const config = loadConfig(env);
  // Standard output is the report's.
  const log = createLogger(
    { ...config, logLevel: "warn" },
    { write: (line) => void process.stderr.write(line) },
  );
  const store = await openReadOnly(config);
  try {
    const folder = join(repositoryRoot(), "bots");
    const { bots, locales } = existsSync(folder) ? await liveBots(folder) : { bots: {}, locales: {} };
    const loaded = await loadBots({
      buildTime: bots,
      buildTimeLocales: locales,
      botsDir: config.botsDir,
      log,
    });
    return await report(store, loaded, options);
  } finally {
    store.close();
  }
}

/** A build knows its own bots: it is asked, in a process of its own. */
async function checkBuild(build: string, env: NodeJS.ProcessEnv, options: Options): Promise<number> {
  const entry = [join(build, "server/index.mjs"), join(build, "index.mjs"), build].find(
    (path) => path.endsWith(".mjs") && existsSync(path),
  );
  if (entry === undefined)
    throw new Error(`${build} is not a build of Parley: npm run build creates .output.`);
  const wanted = (["json", "each", "strict"] as const)
    .filter((name) => options[name])
    .map((name) => `--${name}`);
  const child = spawn(process.execPath, [entry, "--check-bots", ...wanted], {
    env: { ...env, LOG_LEVEL: "warn" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
