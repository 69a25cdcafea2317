import { defineBot, fields, url, type AnyContext } from "parley";
import { z } from "zod";

/** Where leads go: an address that takes JSON by POST. Without it the bot passes every message on. */
const config = z.object({
  crmUrl: url().optional(),
  /** Sent as `Authorization: Bearer …`. */
  crmToken: z.string().optional(),
});
type Config = z.infer<typeof config>;

interface Lead {
  name: string;
  email: string;
  interest: string;
  message: string | null;
}

/** What waits for the CRM to be there again. */
interface Retry {
  lead: Lead;
  key: string;
  tries: number;
}

const CRM_TIME = "10s";
const MOST_TRIES = 20;

export default defineBot({ enable: "bound", config }, (b) => {
  // Each answer is stored with the question that follows: a restart in the middle loses nothing.
  const quote = b.form(
    "quote",
    {
      name: fields.text("What is your name?", { min: 2, max: 80 }),
      email: fields.email("Thank you. Which e-mail address may we write to?", {
        retry: "That does not look like an e-mail address.",
      }),
      interest: fields.choice("What are you interested in?", {
        coffee: "Coffee for the office",
        machine: "A machine",
        training: "Barista training",
      }),
      message: fields.text("Anything else that we should know? Write “no” if not.", { skip: ["no", "skip"] }),
    },
    async (ctx, values) => {
      await report(ctx, { lead: values, key: ctx.idempotencyKey("crm"), tries: 0 });
      ctx.reply(`Thank you, ${values.name}. We will write to ${values.email} within a day.`);
    },
    { remind: "15m", expire: "12h", texts: { reminder: "Are you still there?" } },
  );

  b.keyword(["quote", "offer", "request a quote"], (ctx) =>
    ctx.config.crmUrl === undefined ? ctx.next() : ctx.start(quote),
  );

  // A row in the database, not a setTimeout: it runs after a restart as well.
  b.timer<Retry>("retry", (ctx) => report(ctx, ctx.timer.data));
});

/** Tells the CRM. When it is away the person need not know: a timer tries again, under the same key. */
async function report(ctx: AnyContext, { lead, key, tries }: Retry): Promise<void> {
  try {
    // What the step gave is stored: after a crash the handler runs again, the request does not.
    await ctx.step("crm", (signal) => post(ctx, { ...lead, from: ctx.from.number }, key, signal));
  } catch (error) {
    ctx.log.warn({ err: error, tries }, "the CRM did not take a lead");
    if (tries + 1 < MOST_TRIES) ctx.after("10m", "retry", { lead, key, tries: tries + 1 }, { id: key });
  }
}

async function post(ctx: AnyContext, lead: object, key: string, signal: AbortSignal): Promise<number> {
  const { crmUrl, crmToken } = ctx.config as Config;
  const response = await ctx.fetch(crmUrl!, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // A crash between the CRM's answer and its being stored sends the lead again: the CRM knows it by this key.
      "idempotency-key": key,
      ...(crmToken !== undefined && { authorization: `Bearer ${crmToken}` }),
    },
    body: JSON.stringify(lead),
    timeout: CRM_TIME,
    signal,
  });
  if (!response.ok) throw new Error(`The CRM answered ${response.status}.`);
  return response.status;
}
