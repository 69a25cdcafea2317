import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";

const REPLAYING_MS = 10 * 60_000;

/** `parley replay`: asks the gateway to post deliveries again, all that match. */
export default command({
  meta: {
    name: "replay",
    description: "Post deliveries to their webhooks again; by default deliveries that Parley gave up",
  },
  args: {
    account: { type: "string", description: "Id or name of the account; default: the only one" },
    device: { type: "string", description: "Only this number, digits" },
    state: {
      type: "string",
      description: "Only in this state: dead, disabled, … Default: dead and disabled",
    },
    since: { type: "string", description: "Only events since then: 2030-01-31, or with a time" },
    until: { type: "string", description: "Only events until then" },
    id: { type: "string", description: "Only these deliveries: webhook-ids, separated by commas" },
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
    say(`${paint.green("✓")} ${what} queued again, oldest first. GET /deliveries shows the outcome.`);
    return { replayed };
  },
});

/** A day alone begins at midnight, by the clock of who asks. */
function timeOf(name: string, text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = new Date(day ? `${text}T00:00` : text);
  if (Number.isNaN(time.getTime()))
    throw new Error(`--${name} ${text} is not a time. Use 2030-01-31 or 2030-01-31T12:00:00Z.`);
  return time.toISOString();
}
