import { command } from "../command.ts";
import { loadConfig, type Environment } from "../../config.ts";
import { createLogger } from "../../log.ts";
import { StartError } from "../../model/errors/errors.ts";
import { SECOND_MS, systemTime } from "../../model/time.ts";
import type { Progress } from "../../store/move/copy.ts";
import { moveDatabase, type Moved } from "../../store/move/move.ts";
import { say } from "../plainly.ts";

const SAY_EVERY_MS = 5 * SECOND_MS;

/** `parley move-database`: between the file of a data folder and a libSQL server; nothing may run on either. */
export default command({
  meta: {
    name: "move-database",
    description: "Move all data into a libSQL server, or back into a file; the gateway must be stopped",
  },
  args: {
    to: { type: "string", description: "Where to: http(s)://… or file:…", required: true },
    from: { type: "string", description: "Where from; default: the database of the settings" },
    replace: {
      type: "boolean",
      description: "Clear a target that has an unfinished copy, or data that was moved away from it",
    },
  },
  async run({ args }) {
    const { from, to, config } = settings(process.env, args.from, args.to);
    const log = createLogger(
      { ...config, logLevel: "warn" },
      { write: (line) => void process.stderr.write(line) },
    );
    const moved = await moveDatabase({
      config,
      log,
      from,
      to,
      replace: args.replace === true,
      onProgress: calmly(),
    });
    report(config.dataDir, moved);
    return moved;
  },
});

/** Of both databases only one is that of the settings, and a server among them would want those of a node. */
function settings(env: Environment, from: string | undefined, to: string) {
  const read = (DATABASE_URL: string | undefined) => loadConfig({ ...env, DATABASE_URL });
  const alone = env["DATABASE_URL"]?.startsWith("file:") ? env["DATABASE_URL"] : undefined;
  const config = read(alone);
  const address = (url: string, name: string): string => {
    if (url.startsWith("file:")) return read(url).databaseUrl;
    if (!/^https?:\/\//.test(url)) throw new StartError(`${name} must be file:… or http(s)://….`);
    return url;
  };
  return {
    config,
    from: address(from ?? env["DATABASE_URL"] ?? config.databaseUrl, "--from"),
    to: address(to, "--to"),
  };
}

/** A line every few seconds, so that a log of it stays short. */
function calmly(): (progress: Progress) => void {
  let saidAt = systemTime.monotonic();
  return ({ doing, table, rows, total }) => {
    const now = systemTime.monotonic();
    if (now - saidAt < SAY_EVERY_MS) return;
    saidAt = now;
    say(`${doing} ${table}: ${rows.toLocaleString("en")} of ${total.toLocaleString("en")} rows`);
  };
}

function report(dataDir: string, { tables, rows, resumed, aside, from, to }: Moved): void {
  const toServer = !to.startsWith("file:");
  say(
    `${resumed ? "Continued the interrupted copy. " : ""}Moved ${rows.toLocaleString("en")} rows of ${tables} tables from ${from} to ${to}; every row was compared.`,
  );
  if (aside !== null) say(`The previous file is now ${aside}.`);
  say("Numbers stay linked; API keys and links stay valid. No gateway starts on the original any more.");
  say(
    toServer
      ? `Now set DATABASE_URL=${to}. For several machines, also set CLUSTER=1, REDIS_URL, PARLEY_ADMIN_TOKEN and PARLEY_MASTER_KEY (the text of ${dataDir}/master-key, unless it is set already) on every node.`
      : `Now unset DATABASE_URL${to === `file:${dataDir}/parley.db` ? "" : ` or set it to ${to}`}, and keep PARLEY_MASTER_KEY set, or put it into ${dataDir}/master-key.`,
  );
  say(
    toServer
      ? `The messages' files are still in ${dataDir}: see "Moving in and out" in docs/libsql-server.md.`
      : `The messages' files are where they were: see "Moving in and out" in docs/libsql-server.md.`,
  );
}
