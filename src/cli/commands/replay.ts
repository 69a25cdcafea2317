import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";

const REPLAYING_MS = 10 * 60_000;

/** `parley replay`: asks the gateway to post deliveries again, all that match. */
export default command({
  meta: {
    name: "replay",
    description: "Post deliveries to their webhooks again; by default those that were given up",
  },
  args: {
    account: { type: "string", description: "Id or name of the account; default: the only one" },
    device: { type: "string", description: "Only of this number, digits" },
    state: {
      type: "string",
      description: "Only in this state: dead, disabled, … Default: dead and disabled",
    },
    since: { type: "string", description: "Only of events since then: 2030-01-31, or with a time" },
    until: { type: "string", description: "Only of events until then" },
    id: { type: "string", description: "Only these, by webhook-id, separated by commas" },
  },
  async run({ args }) {
    const filter = {
      ...(args.device && { device: args.device }),
      ...(args.state && { state: args.state }),
      ...(args.since && { since: timeOf("since", args.since) }),
      ...(args.until && { until: timeOf("until", args.until) }),
      ...(args.id && { ids: args.id.split(",").map((id) => id.trim()) }),
    };
    const operator = await findOperator();
    const account = await operator.account(args.account);
    const { replayed } = await operator.withKey(account, ["webhooks"], (gateway) =>
      gateway.patient(REPLAYING_MS).post<{ replayed: number }>("/deliveries/replay", filter),
    );
    if (replayed === 0) say("There is nothing to replay.");
    if (replayed === 0) return { replayed };
    const what = replayed === 1 ? "1 delivery is" : `${replayed} deliveries are`;
    say(
      `${paint.green("✓")} ${what} on the way again, oldest first. See GET /deliveries for what comes of it.`,
    );
    return { replayed };
  },
});

/** A day alone begins at midnight, by the clock of who asks. */
function timeOf(name: string, text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = new Date(day ? `${text}T00:00` : text);
  if (Number.isNaN(time.getTime()))
    throw new Error(`--${name} ${text} is no time. Give 2030-01-31 or 2030-01-31T12:00:00Z.`);
  return time.toISOString();
}
