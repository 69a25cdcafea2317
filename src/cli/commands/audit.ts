import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";
import { showNumber, showTable } from "../terminal.ts";

interface Audit {
  since: string;
  until: string;
  lost: number;
  received: number;
  answered_or_forwarded: number;
  pending: number;
  missing: {
    id: string;
    chat: string;
    from: string;
    reason: string;
    state: string;
    noticed_at: string;
  }[];
}

/** What each state means to somebody who looks at it for the first time. */
const MEANING: Record<string, string> = {
  arrived: "came late",
  asked: "asked for again",
  lost: "lost",
  phone_only: "on the phone only",
  unknown_send: "not sent by this gateway",
};

/** `parley audit <number>`: whether messages were lost. */
export default command({
  meta: {
    name: "audit",
    description: "Were messages lost? Compares what WhatsApp announced with what is stored",
  },
  args: {
    number: { type: "positional", description: "The number, digits", required: true },
    account: { type: "string", description: "Id or name of the account" },
    since: { type: "string", description: "A time in ISO 8601. Default: seven days ago" },
  },
  async run({ args }) {
    const operator = await findOperator();
    const query = args.since ? `?since=${encodeURIComponent(args.since)}` : "";
    const path = `/devices/${encodeURIComponent(args.number)}/audit${query}`;
    const account = await operator.account(args.account);
    const { msg, data } = await operator.withKey(account, ["devices"], (gateway) =>
      gateway.get<{ msg: string; data: Audit }>(path),
    );
    say(`${showNumber(args.number)}: ${paint.bold(msg)}`);
    say(
      `${data.received} received, ${data.answered_or_forwarded} answered or forwarded, ${data.pending} waiting.`,
    );
    if (data.missing.length === 0) return data;
    const rows = data.missing.map(({ id, chat, from, reason, state, noticed_at: noticed }) => [
      id,
      chat,
      from,
      reason,
      MEANING[state] ?? state,
      noticed,
    ]);
    say();
    say(showTable(paint, ["MESSAGE", "CHAT", "FROM", "REASON", "STATE", "NOTICED"], rows));
    return data;
  },
});
