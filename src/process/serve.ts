import { closeSync, openSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { useNitroApp } from "nitro/app";
import { serve } from "srvx/node";
import { announce } from "./announce.ts";
import { failed } from "../api/envelope.ts";
import { requestIdFrom } from "../api/request-id.ts";
import { shownStatus } from "../api/respond.ts";
import { exit } from "./crashes.ts";
import { GatewayError, StartError } from "../model/errors.ts";
import { app, config, drain, log, orExit } from "../start.ts";

/** A GET send may carry 65,536 characters; Node's own limit for a request line with headers is 16 KiB. */
const MAX_HEADER_BYTES = 1_048_576;
/** Nothing is lost when the end is forced: what was not done is done at the next start. */
const STOP_WITHIN_MS = 24_000;

/** Longer than proxies keep an idle connection (60 s): who closes first must be the side that sends the requests. */
const KEEP_ALIVE_MS = 65_000;

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
  node: { maxHeaderSize: MAX_HEADER_BYTES },
});
const http = server.node!.server as Server;
http.keepAliveTimeout = KEEP_ALIVE_MS;
http.on("request", (_request, response) => drain.track(response));
http.on("clientError", refuseUnreadable);

for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end());
process.on("SIGHUP", () => void (isTerminalGone() ? end() : reloadBots()));

await orExit(listen);
await announce(app);
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

/** SIGTERM: the port stays open and refuses, what is under way ends, then the process does. A second signal ends it now. */
let ending = false;
async function end(): Promise<void> {
  if (ending) exit(1);
  ending = true;
  log.info("ending: waiting for what is under way");
  setTimeout(() => {
    log.warn("ending now: something did not end in time; it is taken up again at the next start");
    exit(0);
  }, STOP_WITHIN_MS);
  await app.stop(drain.begin()).catch((err: unknown) => log.error({ err }, "ending was not orderly"));
  http.closeAllConnections();
  http.close();
  exit(0);
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

/** What Node cannot parse never becomes a request, but is answered in JSON all the same. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new GatewayError("BODY_TOO_LARGE", "The request line and headers are larger than 1 MiB.")
      : new GatewayError("INVALID_PARAMETERS", "This is not a valid HTTP request.");
  const body = JSON.stringify(failed(refusal).body);
  const head = [
    `HTTP/1.1 ${shownStatus(refusal.status, config.mpwaCompat)} Refused`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestIdFrom(null)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Nitro wants a default export of its entry; the module does its work when it is loaded. */
export default {};
