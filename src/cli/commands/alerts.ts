import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";

interface ShownAlert {
  alert: string;
  since: string;
  text: string;
  advice: string | null;
}

interface Report {
  host: string | null;
  signed: boolean;
  telling: { failing_since: string | null; last_error: string | null; next_attempt_at: string | null } | null;
  open: ShownAlert[];
}

interface Tried {
  delivered: boolean;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
}

const list = command({
  meta: { name: "list", description: "What is wrong now, as far as alerts look at it" },
  async run() {
    const { data } = await (await findOperator()).gateway.get<{ data: Report }>("/admin/alerts");
    if (data.host === null) {
      say("Nobody is told: set ALERT_URL and restart the gateway.");
      return data;
    }
    for (const { since, text, advice } of data.open)
      say(`${paint.dim(since)} ${text}${advice === null ? "" : ` ${advice}`}`);
    if (data.open.length === 0) say("Nothing is wrong.");
    const { failing_since: since, last_error: reason, next_attempt_at: next } = data.telling ?? {};
    if (since)
      say(`Alerts do not arrive at ${data.host} since ${since} (${reason}). The next attempt is at ${next}.`);
    return data;
  },
});

const test = command({
  meta: { name: "test", description: "Post a sample to ALERT_URL" },
  async run() {
    const { data } = await (await findOperator()).gateway.post<{ data: Tried }>("/admin/alerts/test");
    if (!data.delivered) throw new Error(`The sample did not arrive: ${data.error}.`);
    say(`The sample arrived: ${data.status_code} after ${data.duration_ms} ms.`);
    return data;
  },
});

/** `parley alerts`: what an operator is told at `ALERT_URL`. */
export default defineCommand({
  meta: { name: "alerts", description: "What an operator is told of, and whether it arrives" },
  subCommands: { list, test },
});
