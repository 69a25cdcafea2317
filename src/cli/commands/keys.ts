import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";
import { showTable } from "../terminal.ts";

const account = { type: "string", description: "Id or name of the account" } as const;

interface ApiKey {
  id: string;
  name: string;
  permissions: string[];
  devices: string[] | null;
  last_used_at: string | null;
  prefix: string;
}

const list = command({
  meta: { name: "list", description: "API keys of an account" },
  args: { account },
  async run({ args }) {
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const keys = await operator.gateway.all<ApiKey>(`/admin/accounts/${id}/api-keys`);
    const rows = keys.map((key) => [
      key.id,
      key.name,
      `${key.prefix}…`,
      key.permissions.join(" "),
      key.devices?.join(" ") ?? "all",
      key.last_used_at ?? "never",
    ]);
    const heading = ["ID", "NAME", "BEGINS", "MAY", "NUMBERS", "LAST USED"];
    say(showTable(paint, heading, rows) || "No keys yet.");
    return keys;
  },
});

const create = command({
  meta: { name: "create", description: "Create an API key" },
  args: {
    name: { type: "positional", description: "What it is for", required: true },
    account,
    permissions: {
      type: "string",
      description: "Comma-separated permissions; * is everything",
      default: "*",
    },
  },
  async run({ args }) {
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const permissions = args.permissions.split(",").map((permission) => permission.trim());
    const made = await operator.gateway.post<{ data: ApiKey; api_key: string }>(
      `/admin/accounts/${id}/api-keys`,
      {
        name: args.name,
        permissions,
      },
    );
    say(`The key “${args.name}”, shown only now:\n\n  ${made.api_key}\n`);
    return { ...made.data, api_key: made.api_key };
  },
});

const remove = command({
  meta: { name: "delete", description: "Delete an API key; it stops working at once" },
  args: {
    id: { type: "positional", description: "Id of the key; keys list shows it", required: true },
    account,
  },
  async run({ args }) {
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    await operator.gateway.delete(`/admin/accounts/${id}/api-keys/${encodeURIComponent(args.id)}`);
    say(`The key ${args.id} is deleted.`);
    return { id: args.id, deleted: true };
  },
});

export default defineCommand({
  meta: { name: "keys", description: "API keys of an account" },
  subCommands: { list, create, delete: remove },
});
