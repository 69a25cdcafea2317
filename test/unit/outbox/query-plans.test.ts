import { expect, it } from "vitest";
import { createIdempotency } from "../../../src/outbox/submitting/idempotency.ts";
import type { MessageReceipt } from "../../../src/whatsapp/port.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { silentLog, temporaryFolder } from "../store/temporary.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  jid,
  manualClock,
  reply,
  scriptedLine,
  startRun,
  submitTo,
  type Run,
} from "./harness.ts";
import { loadConfig } from "../../../src/config.ts";

/** What a statement of the outbox may read from end to end, and why that stays short. */
const MAY_SCAN = [
  // One row for each number that WhatsApp limits.
  "send_brakes",
  "reachout_locks",
  // A row for each number.
  "d",
  // The first 500 rows of a queue.
  "(subquery-1)",
  // What one person is called, at most three names.
  "names",
];

it("no statement of the outbox reads a table from end to end", async () => {
  let statements: () => string[] = () => [];
  const clock = manualClock();
  const folder = temporaryFolder();
  const wrap = (store: Run["store"]): Run["store"] => {
    const recording = recordingStore(store);
    const before = statements;
    statements = () => [...before(), ...recording.statements()];
    return recording.store;
  };
  const first = await startRun({ clock, folder, wrap, env: { SEND_WAIT_MS: "0" } });
  await everythingOnce(first, clock.advance);
  await first.close();
  const run = await startRun({ clock, folder, wrap });
  await run.outbox.start();

  const ran = statements();
  expect(ran.length).toBeGreaterThan(20);
  const plans = await Promise.all(ran.map((sql) => fullScans(run.store, sql, MAY_SCAN)));
  const guilty = ran.flatMap((sql, index) => plans[index]!.map((step) => `${step} in: ${sql}`));
  expect(guilty).toEqual([]);
});

/** Goes once through every way that leads to the database. */
async function everythingOnce(run: Run, advance: (ms: number) => Promise<void>): Promise<void> {
  const { outbox, store } = run;
  await outbox.start();
  const line = scriptedLine();
  await run.connect(line);
  await reply(run, 1, jid(4915001), ["one"]);
  const [sent] = await submitTo(outbox, [4915001], "two");
  await advance(1_000);
  const receipts = (["delivered", "read", "played"] as const).map((state): MessageReceipt => {
    return { waId: sent!.id!, jid: jid(4915001), state, at: 1 };
  });
  outbox.receipt(DEVICE, receipts);
  line.answer(() => ({ kind: "refused", code: 463, reason: "463" }));
  await submitTo(outbox, [4915002, 4915003], "first contact");
  await advance(1_000);
  line.answer(() => ({ kind: "limited", reason: "429" }));
  await reply(run, 2, jid(4915001), ["later"]);
  await advance(10_000);
  line.answer(() => ({ kind: "unknown", reason: "no ack" }));
  await advance(60_000);
  line.answer(hang);
  await outbox.find(ACCOUNT, sent!.id!);
  await outbox.has(DEVICE, sent!.id!);
  await outbox.sentContent(DEVICE, sent!.id!);
  const idempotency = createIdempotency({
    store,
    log: silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" })),
  });
  const request = { keyId: "key", route: "/send-message", key: "1", body: {} };
  const begun = await idempotency.begin(request);
  if (begun.kind === "new") {
    await store.writer.commit(begun.claim.statements([{ number: "1", id: sent!.id! }]));
    await begun.claim.end({ httpStatus: 200, body: {}, headers: {} });
  }
  await idempotency.begin(request);
  await advance(2 * 3_600_000);
  await idempotency.begin({ ...request, key: "2" });
  await outbox.abandon(DEVICE);
  await advance(1_000);
}
