import { addTraceHeaders, inStep, isTraced, messageStored, traceOf } from "../../src/model/spans.ts";
import { median, range } from "./figures.ts";

const MESSAGES = 200_000;
const ROUNDS = 15;

/**
 * `npm run bench -- --traces`: what the steps of a trace cost a message while no SDK listens, beside the same nest of functions
 * without them. In nanoseconds: a whole message costs about a millisecond, in which no such difference could be seen.
 */
export async function benchTraces(say: (line: string) => void): Promise<void> {
  if (isTraced) throw new Error("An SDK is loaded: start the bench without NODE_OPTIONS.");
  const [off, bare]: number[][] = [[], []];
  // The first round warms up.
  for (let round = -1; round < ROUNDS; round++) {
    const withSteps = await nanoseconds(messageWithSteps);
    const without = await nanoseconds(messageWithout);
    if (round < 0) continue;
    off!.push(withSteps);
    bare!.push(without);
  }
  const cost = off!.map((value, round) => value - bare![round]!);
  say(
    `traces without an SDK: ${median(cost).toFixed(0)} ns a message (${range(cost)}): ` +
      `${median(off!).toFixed(0)} ns with the steps, ${median(bare!).toFixed(0)} ns without; ${process.version}`,
  );
}

async function nanoseconds(work: (id: number) => Promise<unknown>): Promise<number> {
  const before = process.hrtime.bigint();
  for (let id = 0; id < MESSAGES; id++) await work(id);
  return Number(process.hrtime.bigint() - before) / MESSAGES;
}

const headersOf = (id: number): Record<string, string> => ({ "webhook-id": `evt_${id}` });

/** The steps of a message that the webhook answers, as pipeline and webhooks make them. */
function messageWithSteps(id: number): Promise<Record<string, string>> {
  const told = { "parley.message.id": "3EB0", "parley.message.type": "text" };
  messageStored(id, id, told);
  const attributes = { ...told, "parley.attempt": 1 };
  return inStep("decide message", { parent: traceOf(id), attributes }, () =>
    inStep("ask webhook", {}, ({ set }) => {
      set({ "parley.decision": "replied" });
      return inStep("POST webhook", { kind: "client" }, async (step) => {
        const headers = headersOf(id);
        addTraceHeaders(headers);
        step.linkTo(null);
        step.set({ "parley.delivery.id": "evt", "http.response.status_code": 200 });
        return headers;
      });
    }),
  );
}

function messageWithout(id: number): Promise<Record<string, string>> {
  const work = async (): Promise<Record<string, string>> => headersOf(id);
  const ask = (next: typeof work): ReturnType<typeof work> => next();
  return ask(() => ask(() => ask(work)));
}
