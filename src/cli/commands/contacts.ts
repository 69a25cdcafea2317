import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { asJson, say, WRITTEN } from "../plainly.ts";
import { showNumber } from "../terminal.ts";

const number = { type: "positional", description: "Your number, digits", required: true } as const;
const contact = { type: "positional", description: "The contact: digits, or …@lid", required: true } as const;
const account = { type: "string", description: "Id or name of the account; default: the only one" } as const;

const pathOf = (id: string, of: string, who: string): string =>
  `/admin/accounts/${id}/devices/${encodeURIComponent(of)}/contacts/${encodeURIComponent(who)}`;

const exported = command({
  meta: {
    name: "export",
    description: "Write everything that is stored of a contact, one line of JSON for each row",
  },
  args: { number, contact, account },
  async run({ args }) {
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const chunks = await operator.gateway.download(pathOf(id, args.number, args.contact), "GET");
    const rows: object[] = [];
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines)
        if (asJson) rows.push(JSON.parse(line) as object);
        else process.stdout.write(`${line}\n`);
    }
    return asJson ? rows : WRITTEN;
  },
});

const erase = command({
  meta: { name: "erase", description: "Erase everything that is stored of a contact; it cannot be undone" },
  args: { number, contact, account, yes: { type: "boolean", description: "Do it" } },
  async run({ args }) {
    if (args.yes !== true)
      throw new Error("Erasing cannot be undone. Export first, then repeat the command with --yes.");
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const { data } = await operator.gateway.delete<{
      data: { erased: Record<string, number>; waiting: number };
    }>(pathOf(id, args.number, args.contact));
    const parts = Object.entries(data.erased).map(([table, count]) => `${count} in ${table}`);
    say(
      `Erased of ${args.contact} at ${showNumber(args.number)}: ${parts.join(", ") || "nothing was stored"}.`,
    );
    if (data.waiting > 0)
      say(
        `${data.waiting} rows stay until their message is answered, sent or delivered: repeat the command then.`,
      );
    return data;
  },
});

/** `parley contacts`: one person's data, for who asks for them. */
export default defineCommand({
  meta: { name: "contacts", description: "Export or erase what is stored of one contact of a number" },
  subCommands: { export: exported, erase },
});
