import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../../config.ts";
import { command } from "../command.ts";
import { ownBuild } from "../place.ts";
import { WRITTEN } from "../plainly.ts";

/** `parley start`: this process becomes the gateway, so that signals reach it. */
export default command({
  meta: { name: "start", description: "Start the gateway; it runs until SIGTERM or Ctrl-C" },
  args: {
    strict: { type: "boolean", description: "Do not start bots that do not fit the stored conversations" },
  },
  async run({ args }) {
    const entry = join(ownBuild ?? join(repositoryRoot(), ".output"), "server/index.mjs");
    if (!existsSync(entry)) throw new Error("There is no build. Build and start it with: npm start");
    process.env["NODE_ENV"] ??= "production";
    process.argv.splice(1, process.argv.length, entry, ...(args.strict === true ? ["--strict"] : []));
    await import(pathToFileURL(entry).href);
    return WRITTEN;
  },
});
