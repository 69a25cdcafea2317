import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { command } from "../command.ts";
import { asJson, WRITTEN } from "../plainly.ts";
import { findBotTests } from "../bots/tests.ts";
import { loadConfig, repositoryRoot } from "../../config.ts";

/** `parley bots test`: in a process of its own; its exit code is that of vitest. */
export default command({
  meta: { name: "test", description: "Run the tests beside the bots" },
  args: { id: { type: "positional", description: "Id of a bot; default: all bots", required: false } },
  async run({ args }) {
    const root = repositoryRoot();
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    if (!existsSync(vitest))
      throw new Error("Tests need vitest, which is not installed. Install it with: npm ci");
    const { botsDir } = loadConfig(process.env);
    const files = await findBotTests(root, botsDir, args.id);
    const reporters = asJson ? ["--reporter=json", "--silent"] : [];
    const child = spawn(process.execPath, [vitest, "run", "--project", "bots", ...reporters, ...files], {
      cwd: root,
      env: { ...process.env, ...(botsDir === null ? {} : { BOTS_DIR: botsDir }) },
      stdio: "inherit",
    });
    const [code] = (await once(child, "close")) as [number | null];
    process.exitCode = code ?? 1;
    return WRITTEN;
  },
});
