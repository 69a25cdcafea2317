import { defineCommand } from "citty";
import { findOperator } from "../operator.ts";
import { paint, plainly, say } from "../plainly.ts";
import { showTable } from "../terminal.ts";

interface Bot {
  id: string;
  priority: number;
  enable: string;
  routes: { kind: string; pattern: string | null }[];
  error?: string;
}

const list = defineCommand({
  meta: { name: "list", description: "Bots that the gateway loaded, and those that it could not" },
  args: { account: { type: "string", description: "Id or name of the account" } },
  run: plainly(async ({ args }) => {
    const operator = await findOperator();
    const account = await operator.account(args.account);
    const { data } = await operator.withKey(account, ["bots"], (gateway) =>
      gateway.get<{ data: Bot[] }>("/bots"),
    );
    const rows = data.map((bot) => [
      bot.id,
      String(bot.priority ?? ""),
      bot.enable === "bound" ? "where bound" : "every number",
      bot.error ? `broken: ${bot.error}` : bot.routes.map((route) => route.pattern ?? route.kind).join(", "),
    ]);
    say(showTable(paint, ["BOT", "PRIORITY", "ON", "ANSWERS"], rows) || "No bot is loaded.");
  }),
});

export default defineCommand({
  meta: { name: "bots", description: "Bots of this gateway" },
  subCommands: { list },
});
