import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";
import { showTable } from "../terminal.ts";

const list = command({
  meta: { name: "list", description: "All accounts" },
  async run() {
    const accounts = await (await findOperator()).accounts();
    const rows = accounts.map(({ id, name, plan, enabled }) => [id, name, plan, enabled ? "yes" : "no"]);
    say(showTable(paint, ["ID", "NAME", "PLAN", "ENABLED"], rows) || "No accounts yet.");
    return accounts;
  },
});

const create = command({
  meta: { name: "create", description: "Create an account with its first API key" },
  args: {
    name: { type: "positional", description: "Its name", required: true },
    plan: { type: "string", description: "basic or pro", valueHint: "basic|pro" },
  },
  async run({ args }) {
    const made = await (await findOperator()).createAccount(args.name, args.plan);
    say(
      `Account ${paint.bold(made.account.name)} (${made.account.id}) was created. Its API key, shown only now:`,
    );
    say(`\n  ${made.api_key}\n`);
    return made;
  },
});

export default defineCommand({
  meta: { name: "accounts", description: "Accounts of this gateway" },
  subCommands: { list, create },
});
