import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { SECOND_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { counts, createNodeGauges, type MeasuredNode } from "./node.ts";
import { createQueueGauges } from "./queue-gauges.ts";

/** What the gateway measures of itself. No phone number, chat or account is ever a label. */
export interface Metrics {
  received(type: string): void;
  /** @param seconds from the commit to the outcome */
  sent(message: { kind: string; result: "sent" | "failed" | "expired" | "cancelled"; seconds: number }): void;
  webhookAttempt(attempt: { result: string; statusCode: number | null; durationMs: number }): void;
  webhookDead(): void;
  webhookTurned(webhook: { to: "paused" | "ok" | "disabled" }): void;
  disconnected(code: number): void;
  authFailed(reason: string): void;
  ssrfBlocked(address: { reason: string }): void;
  decryptFailed(message: { reason: string }): void;
  /** @param reason null: the everyday way */
  way(taken: { direction: string; reason: string | null }): void;
  /** @param count messages that were there already */
  redelivered(count: number): void;
  /** Prometheus' text format. */
  read(): Promise<string>;
  readonly contentType: string;
}

/** What measuring takes. */
interface MetricsDeps {
  store: Store;
  /** Numbers per state. */
  sessions(): Map<string, number>;
  /** The client version that is named to WhatsApp, and whether it was refused. Default: it is not told. */
  clientVersion?(): { version: string; refused: boolean };
  /** What is measured here stands under its name; what all nodes see is counted by one of them. Default: alone. */
  node?: MeasuredNode | undefined;
}

const FAST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

/** Counting costs an addition; what has to be looked up is looked up when somebody reads. */
export function createMetrics({ store, sessions, clientVersion, node }: MetricsDeps): Metrics {
  const register = new Registry();
  if (node !== undefined) register.setDefaultLabels({ node: node.name });
  const { counter, histogram, gauge } = instrumentsIn(register);

  const received = counter("messages_received_total", "Messages that arrived and were stored.", ["type"]);
  const sent = counter("messages_sent_total", "Sent messages with a known outcome.", ["kind", "result"]);
  const sendSeconds = histogram("send_duration_seconds", "Time from commit to outcome.", FAST_SECONDS, []);
  const attempts = counter("webhook_attempts_total", "Attempts to deliver to webhooks.", [
    "result",
    "code_class",
  ]);
  const attemptSeconds = histogram("webhook_duration_seconds", "Webhook response times.", FAST_SECONDS, []);
  const dead = counter("webhook_dead_total", "Deliveries that Parley gave up.", []);
  const turns = counter("webhook_turns_total", "Webhooks paused, resumed or switched off.", ["to"]);
  const disconnects = counter("disconnects_total", "Connections to WhatsApp that closed.", ["code"]);
  const undecryptable = counter("decrypt_failures_total", "Messages that could not be decrypted.", [
    "reason",
  ]);
  const ways = counter(
    "everyday_total",
    "Messages and receipts by their way; reason is everyday, or why they went through Baileys.",
    ["direction", "reason"],
  );
  const redelivered = counter("redeliveries_total", "Messages that WhatsApp delivered again.", []);
  const blocked = counter("ssrf_blocked_total", "Addresses that Parley refused to call.", ["reason"]);
  const refused = counter("auth_failures_total", "Requests without a valid key or token.", ["reason"]);
  const commits = histogram("db_commit_seconds", "From submitting work to its commit.", COMMIT_SECONDS, []);
  const lookAtQueues = createQueueGauges(gauge, store);
  const numbers = gauge("sessions", "Numbers by their state.", ["state"]);
  const client = gauge("client_version", "Client version reported to WhatsApp.", ["version", "refused"]);
  timeCommits(store, (seconds) => commits.observe(seconds));
  const lookAtNode = node && createNodeGauges(gauge, node);
  let reading = false;

  async function lookUp(): Promise<void> {
    await lookAtQueues(counts(node));
    lookAtNode?.();
    numbers.reset();
    for (const [state, count] of sessions()) numbers.set({ state }, count);
    showVersion(client, clientVersion?.());
  }

  return {
    received: (type) => received.inc({ type }),
    sent({ kind, result, seconds }) {
      sent.inc({ kind, result });
      sendSeconds.observe(Math.max(0, seconds));
    },
    webhookAttempt({ result, statusCode, durationMs }) {
      attempts.inc({
        result,
        code_class: statusCode === null ? "none" : `${Math.floor(statusCode / 100)}xx`,
      });
      attemptSeconds.observe(durationMs / 1000);
    },
    webhookDead: () => dead.inc(),
    webhookTurned: ({ to }) => turns.inc({ to }),
    disconnected: (code) => disconnects.inc({ code }),
    authFailed: (reason) => refused.inc({ reason }),
    ssrfBlocked: ({ reason }) => blocked.inc({ reason }),
    way: ({ direction, reason }) => ways.inc({ direction, reason: reason ?? "everyday" }),
    decryptFailed: ({ reason }) => undecryptable.inc({ reason }),
    redelivered: (count) => redelivered.inc(count),
    async read() {
      // Watching the event loop and the garbage collector is for those who look.
      if (!reading) collectDefaultMetrics({ register, prefix: "parley_" });
      reading = true;
      await lookUp();
      return register.metrics();
    },
    contentType: register.contentType,
  };
}

/** How metrics are made that stand in this register. */
function instrumentsIn(register: Registry) {
  const registers = [register];
  return {
    counter: <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
      new Counter({ name: `parley_${name}`, help, labelNames, registers }),
    histogram: <L extends string>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: L[],
    ): Histogram<L> => new Histogram({ name: `parley_${name}`, help, buckets, labelNames, registers }),
    gauge: <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
      new Gauge({ name: `parley_${name}`, help, labelNames, registers }),
  };
}

/** One sample, and none of an earlier version. */
function showVersion(
  gauge: Gauge<"version" | "refused">,
  named: { version: string; refused: boolean } | undefined,
): void {
  gauge.reset();
  if (named !== undefined) gauge.set({ version: named.version, refused: String(named.refused) }, 1);
}

function timeCommits(store: Store, observe: (seconds: number) => void): void {
  const { writer, time } = store;
  const commit = writer.commit.bind(writer);
  writer.commit = async (statements, options) => {
    const since = time.monotonic();
    const results = await commit(statements, options);
    observe((time.monotonic() - since) / SECOND_MS);
    return results;
  };
}
