import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { say } from "../plainly.ts";
import { showNumber } from "../terminal.ts";

const number = { type: "positional", description: "The linked number, digits", required: true } as const;
const chat = {
  type: "positional",
  description: "The chat: digits, …@lid or …@g.us",
  required: true,
} as const;
const account = { type: "string", description: "Id or name of the account; default: the only one" } as const;
const path = (named: string): string => `/chats/${encodeURIComponent(named)}/takeover`;

interface Takeover {
  data: { chat: string; taken_over_until: string | null };
}

const take = command({
  meta: { name: "take", description: "Take over a chat: bots pause there" },
  args: {
    number,
    chat,
    account,
    minutes: { type: "string", description: "Duration of the takeover; default: TAKEOVER_MINUTES" },
  },
  async run({ args }) {
    const operator = await findOperator();
    const minutes = args.minutes === undefined ? {} : { minutes: args.minutes };
    const { data } = await operator.withKey(await operator.account(args.account), ["bots"], (gateway) =>
      gateway.post<Takeover>(path(args.chat), { sender: args.number, ...minutes }),
    );
    say(`Bots of ${showNumber(args.number)} pause in ${data.chat} until ${data.taken_over_until}.`);
    return data;
  },
});

const giveBack = command({
  meta: { name: "give-back", description: "Hand a chat back to the bots" },
  args: { number, chat, account },
  async run({ args }) {
    const operator = await findOperator();
    const { data } = await operator.withKey(await operator.account(args.account), ["bots"], (gateway) =>
      gateway.delete<Takeover>(`${path(args.chat)}?sender=${encodeURIComponent(args.number)}`),
    );
    say(`Bots of ${showNumber(args.number)} answer again in ${data.chat}.`);
    return data;
  },
});

/** `parley chats`: who has a chat, a person or the bots. */
export default defineCommand({
  meta: { name: "chats", description: "Take over a chat from the bots, and hand it back" },
  subCommands: { take, "give-back": giveBack },
});
