import { inspect } from "node:util";
import type { H3Event } from "h3";
import { definePlugin } from "nitro";
import { consoleBesideServer, openConsole } from "./api/console.ts";
import { createDrain } from "./api/drain.ts";
import { createRateLimit } from "./api/access/rate-limit.ts";
import { createWrongKeys } from "./api/access/wrong-keys.ts";
import { createApp } from "./app.ts";
import { CHECK_BOTS, checkBuiltBots } from "./app/bots.ts";
import { loadConfig } from "./config.ts";
import { exit, surviveCrashes } from "./process/crashes.ts";
import { createLogger } from "./log.ts";
import { StartError } from "./model/errors/errors.ts";

// Nitro awaits the module, not the plugin: what must be ready before the port opens is awaited here.
/** Settings of this process, checked; a fault in them has ended it before this is read. */
export const config = await orExit(() => loadConfig(withArguments(process.env, process.argv)));
if (process.argv.includes(CHECK_BOTS)) exit(await orExit(() => checkBuiltBots(config, process.argv)));
/** The logger of this process: JSON lines on standard output. */
export const log = createLogger(config);
// `nitro dev` has its own way with errors, and shows them.
if (!import.meta.dev) surviveCrashes(log);
/** The parts of the gateway, joined and with the database open. `serve.ts` starts it. */
export const app = await orExit(() => createApp(config, log, endForRestart));
/** Which requests are under way, so that the end can wait for them. */
export const drain = createDrain();

/** Hands the parts to every request, and makes `/v1/…` the same as `/…`. */
export default definePlugin((nitro) => {
  const rateLimit = createRateLimit(config.apiRatePerMinute, app.redis);
  const wrongKeys = createWrongKeys(config.wrongKeysPerMinute, config.trustProxy, app.redis);
  const console = openConsole(config.consoleDir ?? consoleBesideServer());
  nitro.hooks.hook("request", (request) => {
    const event = request as H3Event;
    event.context.app = app;
    event.context.drain = drain;
    event.context.cameWhileDraining = drain.draining;
    event.context.rateLimit = rateLimit;
    event.context.wrongKeys = wrongKeys;
    event.context.console = console;
    event.url.pathname = routedPath(event.url.pathname);
  });
  // The built server ends through `serve.ts`; this is for `nitro dev`, which starts anew at every save.
  if (import.meta.dev) {
    void app.start();
    void reloadOnChange().then((stopWatching) =>
      nitro.hooks.hook("close", async () => {
        stopWatching();
        await app.stop();
      }),
    );
  }
});

/** `nitro dev`: a bot that is saved answers at once, on the connections that are open. Its lines are for the developer. */
async function reloadOnChange(): Promise<() => void> {
  const { sources } = await import("#bots");
  if (sources === null) return () => {};
  const { reloadLines, watchBots } = await import("./bot/files/live.ts");
  return watchBots(sources, async (files) => {
    const before = (await app.bots.list()).map(({ id }) => id);
    const after = await app.bots.reload();
    for (const line of reloadLines(files, before, after)) process.stdout.write(`bots: ${line}\n`);
  });
}

/** Whoever runs the gateway starts it again. What is under way ends in order. */
function endForRestart(): void {
  process.exitCode = 1;
  process.kill(process.pid, "SIGTERM");
}

/** `/v1/…` is `/…`. The router would drop any number of slashes at the end; an empty segment names nothing. */
function routedPath(path: string): string {
  const plain = path.startsWith("/v1/") ? path.slice(3) : path;
  return plain.includes("//") ? "//" : plain;
}

/** A fault that forbids the start ends the process: one line for people, or the whole error when it is ours. */
export async function orExit<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    process.stderr.write(error instanceof StartError ? `parley: ${error.message}\n` : `${inspect(error)}\n`);
    exit(error instanceof StartError ? error.exitCode : 1);
  }
}

/** `npm start -- --strict` is BOTS_STRICT. */
function withArguments(env: NodeJS.ProcessEnv, args: readonly string[]): NodeJS.ProcessEnv {
  return args.includes("--strict") ? { ...env, BOTS_STRICT: "1" } : env;
}
