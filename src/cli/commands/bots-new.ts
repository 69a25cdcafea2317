import { relative, resolve } from "node:path";
import { command } from "../command.ts";
import { linesAfterMaking } from "../bots/made-lines.ts";
import { makeBot } from "../bots/make.ts";
import { TEMPLATES } from "../bots/templates.ts";
import { loadConfig, repositoryRoot } from "../../config.ts";
import { findOperator } from "../operator.ts";
import { say } from "../plainly.ts";

/** `parley bots new <id>`. */
export default command({
  meta: { name: "new", description: "Create a bot: its file, and a test that passes" },
  args: {
    id: { type: "positional", description: "Its id, for instance menu or sales/menu", required: true },
    template: {
      type: "string",
      description: Object.keys(TEMPLATES).join(", "),
      valueHint: Object.keys(TEMPLATES).join("|"),
      default: "hello",
    },
  },
  async run({ args }) {
    const { botsDir } = loadConfig(process.env);
    // npm goes to the package's folder, and says where it was called.
    const cwd = resolve(process.env["INIT_CWD"] ?? process.cwd());
    const made = await makeBot({ ...args, botsDir });
    for (const file of [made.bot, made.test]) say(`made ${relative(cwd, file)}`);
    say();
    const where = { id: args.id, botsDir, root: repositoryRoot(), cwd, env: process.env };
    for (const line of linesAfterMaking({ ...where, number: await someNumber() })) say(line);
    return made;
  },
});

/** A number of the gateway that runs, digits; null when none runs, when it has none, or when it is not clear whose. */
async function someNumber(): Promise<string | null> {
  try {
    const operator = await findOperator();
    const account = await operator.account();
    const devices = await operator.withKey(account, ["devices"], (gateway) =>
      gateway.all<{ device: string }>("/devices"),
    );
    return devices[0]?.device ?? null;
  } catch {
    return null;
  }
}
