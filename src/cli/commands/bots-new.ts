import { relative } from "node:path";
import { defineCommand } from "citty";
import { makeBot } from "../bots/make.ts";
import { TEMPLATES } from "../bots/templates.ts";
import { loadConfig } from "../../config.ts";
import { plainly, say } from "../plainly.ts";

/** `parley bots new <id>`. */
export default defineCommand({
  meta: { name: "new", description: "Begin a bot: its file, and a test that passes" },
  args: {
    id: { type: "positional", description: "Its id, for instance menu or sales/menu", required: true },
    template: { type: "string", description: Object.keys(TEMPLATES).join(", "), default: "hello" },
  },
  run: plainly(async ({ args }) => {
    const made = await makeBot({ ...args, botsDir: loadConfig(process.env).botsDir });
    for (const file of [made.bot, made.test]) say(`made ${relative(process.cwd(), file)}`);
    say();
    say(`Test it:       npm run parley -- bots test ${args.id}`);
    say(`Switch it on:  npm run parley -- bots bind <number> ${args.id}`);
    if (made.mounted) say("First, load it: npm run parley -- bots reload");
  }),
});
