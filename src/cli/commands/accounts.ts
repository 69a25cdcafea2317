import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator, type Account } from "../operator.ts";
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

const change = command({
  meta: { name: "change", description: "Rename an account, change its plan, disable it or enable it again" },
  args: {
    account: { type: "positional", description: "Id or name of the account", required: true },
    plan: { type: "string", description: "basic or pro", valueHint: "basic|pro" },
    name: { type: "string", description: "Its new name" },
    enabled: { type: "string", description: "yes or no: whether its keys work", valueHint: "yes|no" },
  },
  async run({ args }) {
    const { plan, name, enabled } = args;
    if (plan === undefined && name === undefined && enabled === undefined)
      throw new Error("Say what to change: --plan, --name or --enabled.");
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const { data } = await operator.gateway.patch<{ data: Account }>(`/admin/accounts/${id}`, {
      ...(plan !== undefined && { plan }),
      ...(name !== undefined && { name }),
      ...(enabled !== undefined && { enabled }),
    });
    const state = data.enabled ? "enabled" : "disabled";
    say(
      `Account ${paint.bold(data.name)} (${data.id}) is on the plan ${paint.bold(data.plan)} and ${state}.`,
    );
    return data;
  },
});

export default defineCommand({
  meta: { name: "accounts", description: "Accounts of this gateway" },
  subCommands: { list, create, change },
});
