import { describe, expect, it } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { BotDefinition } from "../../../src/bot/types.ts";
import { createLogger } from "../../../src/log.ts";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { jid, rest, scriptedLine, until } from "../outbox/harness.ts";
import { echo, saying, text } from "../pipeline/harness.ts";
import { begunFolder, configFor } from "../store/temporary.ts";
import { startPath, type PathOptions, type PathRun } from "./harness.ts";
import { createOwners } from "./owners.ts";

const now = (run: PathRun): { timestamp: number } => ({ timestamp: Math.floor(run.clock.now() / 1000) });

/** Two processes on one database, of which `a` has the number 1; what they log is kept. */
async function startTwo(options: { a?: PathOptions; b?: PathOptions } = {}) {
  const folder = await begunFolder();
  const owners = createOwners();
  owners.give(1, "a");
  const lines: string[] = [];
  const log = createLogger(
    { ...configFor(folder), logLevel: "warn" },
    { write: (line) => void lines.push(line) },
  );
  const a = await startPath({ folder, log, wrap: (store) => owners.fenced(store, "a"), ...options.a });
  const { clock } = a;
  // One process holds the folder at a time: the other one is a second path on the same store.
  const b = await startPath({
    folder,
    log,
    clock,
    sharedStore: a.opened,
    wrap: (store) => owners.fenced(store, "b"),
    ...options.b,
  });
  await a.path.open(1);
  return { a, b, owners, lines };
}

function gate(): { opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe("a number that another process takes while its message is being decided", () => {
  it("commits nothing and says nothing; the other one answers, once", async () => {
    const held = gate();
    let asked = 0;
    const slow: Answerer = {
      name: "bots",
      ignoresTakeover: false,
      async answer(stored) {
        asked++;
        await held.opened;
        return saying(stored, "from a");
      },
    };
    const { a, b, owners, lines } = await startTwo({ a: { answerers: [slow] }, b: { answerers: [echo()] } });
    await a.receive(1, text(4915001, "hello", now(a)));
    await until(() => expect(asked).toBe(1));

    owners.give(1, "b");
    held.open();
    await rest();
    expect(await a.undecided()).toBe(1);
    expect(a.line.texts()).toEqual([]);

    await b.path.open(1);
    await until(() => expect(b.line.texts()).toEqual(["re: hello"]));
    await a.clock.advance(60_000);
    expect([asked, a.line.texts(), lines]).toEqual([1, [], []]);
  });

  it("and that comes back is answered by what is in the rows, not by what was left over", async () => {
    const held = gate();
    let asked = 0;
    const slow: Answerer = {
      name: "bots",
      ignoresTakeover: false,
      async answer(stored) {
        if (asked++ === 0) await held.opened;
        return saying(stored, `answer ${asked}`);
      },
    };
    const { a, b, owners } = await startTwo({ a: { answerers: [slow] } });
    await a.receive(1, text(4915001, "hello", now(a)));
    await until(() => expect(asked).toBe(1));

    owners.give(1, "b");
    await a.path.close(1);
    owners.give(1, "a");
    await a.path.open(1);
    await until(() => expect(a.line.texts()).toEqual(["answer 2"]));
    held.open();
    await rest();
    expect([a.line.texts(), b.line.texts()]).toEqual([["answer 2"], []]);
  });
});

describe("what WhatsApp says of a message after another process has taken its number", () => {
  it("is not written by the one that sent it, and not tried again for ever; the other one sends it under its id", async () => {
    const outcome = gate();
    const { a, b, owners, lines } = await startTwo({
      a: { answerers: [echo()] },
      b: { answerers: [echo()] },
    });
    a.line.answer(async (): Promise<SendOutcome> => {
      await outcome.opened;
      return { kind: "refused", code: 400, reason: "bad-request" };
    });
    await a.receive(1, text(4915001, "hello", now(a)));
    await until(() => expect(a.line.texts()).toEqual(["re: hello"]));

    owners.give(1, "b");
    outcome.open();
    await a.clock.advance(120_000);
    expect(await a.count("SELECT count(*) AS n FROM outbox WHERE state = 'queued'")).toBe(1);
    await a.path.close(1);

    await b.path.open(1);
    await b.path.online(1);
    await until(() => expect(b.line.texts()).toEqual(["re: hello"]));
    expect(b.line.sent[0]!.waId).toBe(a.line.sent[0]!.waId);
    expect(lines.filter((line) => !line.includes("WhatsApp refused a message"))).toEqual([]);
  });

  it("of many numbers holds up none that are still ours", async () => {
    const { a, owners, lines } = await startTwo({ a: { answerers: [echo()], numbers: [1, 2] } });
    owners.give(2, "a");
    await a.path.open(2);
    for (const id of [1, 2]) await a.receive(id, text(4915000 + id, "hello", now(a)));
    await until(() => expect(a.line.texts()).toHaveLength(2));
    await a.clock.advance(1_000);
    const [of1, of2] = [
      a.line.sent.find((sent) => sent.jid === jid(4915001))!,
      a.line.sent.find((sent) => sent.jid === jid(4915002))!,
    ];
    owners.give(1, "b");
    const at = a.clock.now();
    a.path.receipts(1, [{ waId: of1.waId, jid: of1.jid, state: "delivered", at }]);
    a.path.receipts(2, [{ waId: of2.waId, jid: of2.jid, state: "delivered", at }]);
    await a.clock.advance(30_000);
    expect(
      await a.count("SELECT count(*) AS n FROM outbox WHERE state = 'delivered' AND device_id = 2"),
    ).toBe(1);
    expect(
      await a.count("SELECT count(*) AS n FROM outbox WHERE state = 'delivered' AND device_id = 1"),
    ).toBe(0);
    expect(lines).toEqual([]);
  });
});

describe("a timer of a number that another process has", () => {
  const later: BotDefinition = {
    routes(b) {
      b.timer("ready", (ctx) => ctx.reply("ready"));
      b.keyword("go", (ctx) => ctx.after("1h", "ready"));
    },
  };

  it("is run there alone", async () => {
    const bots = { later };
    const { a, b, owners, lines } = await startTwo({ a: { bots }, b: { bots } });
    for (const run of [a, b]) run.path.start();
    await a.receive(1, text(4915001, "go", now(a)));
    await until(async () => expect(await a.count("SELECT count(*) AS n FROM bot_timers")).toBe(1));
    await rest();

    // It does not know yet.
    owners.give(1, "b");
    await b.path.open(1);
    await a.clock.advance(2 * 60 * 60_000);
    await until(() => expect(b.line.texts()).toEqual(["ready"]));
    expect(a.line.texts()).toEqual([]);
    expect(lines).toEqual([]);
  });
});

it("sends and receives nothing of a number before it is open", async () => {
  const { b, owners } = await startTwo({ b: { answerers: [echo()] } });
  owners.give(1, "b");
  b.connect(scriptedLine());
  await b.receive(1, text(4915001, "hello", now(b)));
  await rest();
  expect(await b.undecided()).toBe(1);
});
