import * as fc from "fast-check";
import { partitionOf } from "../../src/model/nodes/cluster.ts";
import type { Incoming } from "../../src/model/messages.ts";
import { StorageUnavailable } from "../../src/store/errors.ts";
import type { Statement, Store } from "../../src/store/store.ts";
import type { Environment } from "../../src/config.ts";
import { DEVICE, impatientTime, rest, scriptedLine } from "../unit/outbox/harness.ts";
import { echo, startPipeline, text, type PipelineRun } from "../unit/pipeline/harness.ts";
import { rawRows } from "../unit/store/rows.ts";

/** What becomes of the next commit of a kind: it is made, it is made and nobody hears of it, or it is not made. */
type Fate = "made" | "unheard" | "lost";
const fates = fc.constantFrom<Fate>("made", "made", "unheard", "lost");

export type Step =
  /** Somebody writes; what had no receipt comes again with the next connection. */
  | { do: "write"; chat: number; count: number; fate: Fate }
  | { do: "decide"; fate: Fate }
  | { do: "connect"; readable: boolean }
  | { do: "reopen" };

/** One thing that happens to a number. */
export const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      chat: fc.integer({ min: 4915001, max: 4915003 }),
      count: fc.integer({ min: 1, max: 3 }),
      fate: fates,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("decide" as const), fate: fates }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("connect" as const), readable: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
);

const DECIDED_WITHIN_MS = 60_000;
/** On a server, whoever writes for a number has its lease. */
const EPOCH = 1;
const LEASE = "INSERT OR IGNORE INTO leases (p, node, epoch, until) VALUES (?, 'one', ?, 9007199254740991)";

/** A store whose commits meet what was planned for them. */
function fatefulStore() {
  const planned = { inbox: [] as Fate[], decisions: [] as Fate[], readable: true };
  const away = (): never => {
    throw new StorageUnavailable("fetch failed");
  };
  return {
    planned,
    wrap: (store: Store): Store => ({
      ...store,
      readOne: async (...question) => (planned.readable ? store.readOne(...question) : away()),
      writer: {
        ...store.writer,
        async commit(statements: Statement[], options) {
          const isAbout = (table: string): boolean =>
            statements.some(({ sql }) => sql.startsWith(`INSERT INTO ${table}`));
          const fate =
            (isAbout("decisions") && planned.decisions.shift()) ||
            (isAbout("inbox") && planned.inbox.shift()) ||
            "made";
          if (fate === "lost") away();
          const results = await store.writer.commit(statements, options);
          return fate === "unheard" ? away() : results;
        },
      },
    }),
  };
}

const decisions = async (store: Store): Promise<number> =>
  Number((await rawRows(store, "SELECT count(*) AS n FROM decisions", []))[0]!["n"]);

/** A number, what was written to it, and what WhatsApp has had no receipt of. */
class World {
  readonly #run: PipelineRun;
  readonly #planned: ReturnType<typeof fatefulStore>["planned"];
  #unacknowledged: Incoming[] = [];
  #isConnected = true;
  readonly #decidedBefore: number;
  written = 0;
  decided = 0;
  /** Rows that were in no lane. */
  readonly forgotten: number[] = [];

  /** @param decidedBefore decisions of other runs on the same server */
  constructor(run: PipelineRun, planned: ReturnType<typeof fatefulStore>["planned"], decidedBefore: number) {
    this.#run = run;
    this.#planned = planned;
    this.#decidedBefore = decidedBefore;
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "write": {
        const messages = Array.from({ length: step.count }, () => text(step.chat, `n${++this.written}`));
        this.#unacknowledged.push(...messages);
        if (this.#isConnected) await this.#deliver(messages, step.fate);
        return;
      }
      case "decide":
        return void this.#planned.decisions.push(step.fate);
      case "connect":
        return this.#connect(step.readable);
      case "reopen":
        void this.#run.pipeline.close(DEVICE);
        return this.#run.pipeline.open(DEVICE);
    }
  }

  /** A failed commit ends the connection: nothing was acknowledged. */
  async #deliver(messages: Incoming[], fate: Fate): Promise<void> {
    this.#planned.inbox.push(fate);
    try {
      await this.#run.receive(...messages);
      this.#unacknowledged = this.#unacknowledged.filter((message) => !messages.includes(message));
    } catch {
      this.#isConnected = false;
    }
  }

  async #connect(readable: boolean): Promise<void> {
    this.#planned.readable = readable;
    try {
      await this.#run.pipeline.settle(DEVICE);
      this.#isConnected = true;
    } catch {
      return;
    } finally {
      this.#planned.readable = true;
    }
    await this.look();
    if (this.#unacknowledged.length > 0) await this.#deliver(this.#unacknowledged, "made");
  }

  /** Stored rows without a decision that are in no lane, although the number reads on. */
  async look(): Promise<void> {
    if (!this.#isConnected) return;
    const { pipeline } = this.#run;
    const lost = (await this.#pending()).filter((id) => !pipeline.isPlaced(DEVICE, id));
    // What is decided just now is neither in its lane nor pending any more.
    const still = lost.length === 0 ? [] : await this.#pending();
    this.forgotten.push(...still.filter((id) => lost.includes(id)));
  }

  async #pending(): Promise<number[]> {
    const rows = await rawRows(this.#run.store, "SELECT id FROM inbox WHERE state = 'pending'", []);
    return rows.map(({ id }) => Number(id));
  }

  async end(): Promise<void> {
    this.#planned.decisions.length = 0;
    await this.#connect(true);
    for (const deadline = Date.now() + DECIDED_WITHIN_MS; (await this.#pending()).length > 0;) {
      if (Date.now() > deadline) break;
      await rest();
    }
    this.decided = (await decisions(this.#run.store)) - this.#decidedBefore;
  }
}

/** What became of the messages of a number to which this happened. */
export async function tryOut(
  sequence: Step[],
  env?: Environment,
): Promise<Pick<World, "written" | "decided" | "forgotten">> {
  const { planned, wrap } = fatefulStore();
  const run = await startPipeline({
    answerers: [echo()],
    // The store itself waits for its server; what waits for the store does not.
    wrap(store) {
      store.serveLeases({ epochOf: () => EPOCH, refused: () => undefined });
      return { ...wrap(store), time: impatientTime };
    },
    ...(env !== undefined && { env }),
  });
  await run.store.writer.commit([{ sql: LEASE, args: [partitionOf(DEVICE), EPOCH] }]);
  await run.connect(scriptedLine());
  const world = new World(run, planned, await decisions(run.store));
  for (const step of sequence) {
    await world.take(step);
    await world.look();
  }
  await world.end();
  await run.close();
  return { written: world.written, decided: world.decided, forgotten: world.forgotten };
}
