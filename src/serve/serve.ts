import { closeSync, openSync } from "node:fs";
import type { RequestListener, Server } from "node:http";
import { useNitroApp } from "nitro/app";
import { serve } from "srvx/node";
import { announce } from "./announce.ts";
import { guardConnections, MAX_CONNECTIONS, TIMES } from "./connections.ts";
import { exit } from "../process/crashes.ts";
import { MAX_HEADER_BYTES, MAX_REQUEST_LINE_BYTES } from "./head.ts";
import { createRefusals } from "./refuse.ts";
import { GatewayError, StartError } from "../model/errors/errors.ts";
import { app, config, drain, log, orExit } from "../start.ts";

/** Nothing is lost when the end is forced: what was not done is done at the next start. */
const STOP_WITHIN_MS = 24_000;

const nitro = useNitroApp();
const server = serve({
  port: config.port,
  hostname: config.host,
  trustProxy: config.trustProxy,
  fetch: nitro.fetch,
  // Ending is handled below: srvx closes the port first, and does nothing at all when CI is set.
  gracefulShutdown: false,
  manual: true,
  silent: true,
  node: {
    ...TIMES,
    maxHeaderSize: MAX_REQUEST_LINE_BYTES + MAX_HEADER_BYTES,
    // Refused by us, with a body.
    requireHostHeader: false,
  },
});
const http = server.node!.server as Server;
const [handle] = http.listeners("request") as RequestListener[];
http.removeAllListeners("request");
http.on("request", (_request, response) => drain.track(response));
http.maxConnections = MAX_CONNECTIONS;
guardConnections(http, handle!, {
  refusals: createRefusals(config.mpwaCompat),
  perAddress: !config.trustProxy,
});

let ending = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end());
process.on("SIGHUP", () => void (isTerminalGone() ? end() : reloadBots()));

await orExit(listen);
announce(app);
await orExit(() => app.start());

async function listen(): Promise<void> {
  try {
    await server.serve();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const cure =
      code === "EADDRINUSE"
        ? `PORT ${config.port} is in use at ${config.host}: end the other program or set another PORT.`
        : `Cannot listen at ${config.host}:${config.port} (${code}): check HOST and PORT.`;
    await app.stop();
    throw new StartError(cure);
  }
}

/** SIGTERM: the other nodes get the numbers while requests are served; then the port stays open and refuses, what is under way ends, then the process does. A second signal ends it now. */
async function end(): Promise<void> {
  if (ending) exit(1);
  ending = true;
  log.info("ending: waiting for what is under way");
  drain.leave();
  await app.handOver().catch((err: unknown) => log.error({ err }, "handing numbers over failed"));
  setTimeout(() => {
    log.warn("ending now: something did not end in time; it is taken up again at the next start");
    exit(process.exitCode ?? 0);
  }, STOP_WITHIN_MS);
  await app.stop(drain.begin()).catch((err: unknown) => log.error({ err }, "ending was not orderly"));
  http.closeAllConnections();
  http.close();
  exit(process.exitCode ?? 0);
}

/** `kill -HUP` of an operator. What went wrong is in the log already. */
async function reloadBots(): Promise<void> {
  await app.bots.reload().catch((err: unknown) => {
    if (!(err instanceof GatewayError)) log.error({ err }, "loading the bots again failed");
  });
}

/** A terminal that is closed sends SIGHUP as well, and nobody is there any more to end the gateway. */
function isTerminalGone(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync("/dev/tty", "r"));
    return false;
  } catch {
    return true;
  }
}

/** Nitro wants a default export of its entry; the module does its work when it is loaded. */
export default {};
