import type { JoinedPath } from "../../_setup/path.ts";
import { nothingSaid, type Incoming } from "../../../src/model/messages.ts";
import type { Answer, Answerer, StoredMessage } from "../../../src/model/answerer.ts";
import { DEVICE, jid, OWN_NUMBER, startRun, type Run, type RunOptions } from "../outbox/harness.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import type { Store } from "../../../src/store/store.ts";
import { rawRows } from "../store/rows.ts";

export interface PipelineRun extends Run {
  /** The way of a message as far as it is about what came in. */
  pipeline: Pick<JoinedPath, "receive" | "settle" | "isPlaced" | "open" | "close"> & {
    drain(): Promise<void>;
  };
  /** Receives messages as a connection hands them in. */
  receive(...messages: Incoming[]): Promise<void>;
  decision(waId: string): Promise<Decision | null>;
  /** Rows of the inbox that have no decision. */
  undecided(): Promise<number>;
  letStart(): void;
}

export interface Decision {
  by: string | null;
  route: string | null;
  guard: string | null;
  trail: { by: string; outcome: string; detail?: string }[];
}

export interface PipelineOptions extends RunOptions {
  answerers?: Answerer[];
  /** Default: as the gateway does, `start` before the first message. */
  started?: boolean;
  /** The list of what is undecided is read only after `letStart`. */
  slowStart?: boolean;
}

/** What lists the rows that wait for a decision has to wait until it may. */
function gated(store: Store, mayList: Promise<void>): Store {
  const pages: Store["pages"] = async function* (query, ...rest) {
    if (/FROM inbox i/.test(query.sql)) await mayList;
    yield* store.pages(query, ...rest);
  };
  return { ...store, pages };
}

/** A run of the way of a message, with answerers of the test's own. */
export async function startPipeline(options: PipelineOptions = {}): Promise<PipelineRun> {
  const { answerers = [echo()], started = true, slowStart = false, wrap = (store) => store } = options;
  let letStart!: () => void;
  const mayStart = new Promise<void>((resolve) => (letStart = resolve));
  const run = await startRun({
    ...options,
    opens: false,
    wrap: (store) => wrap(slowStart ? gated(store, mayStart) : store),
    parts: { besides: answerers, ...options.parts },
  });
  const { path } = run;
  if (started) await path.open(DEVICE);
  return {
    ...run,
    pipeline: { ...path, drain: () => path.drain(60_000) },
    letStart,
    receive: async (...messages) =>
      commitIntake(run.store.writer, path.receive(DEVICE, OWN_NUMBER, messages)),
    async decision(waId) {
      const [row] = await rawRows(run.store, "SELECT * FROM decisions WHERE wa_id = ?", [waId]);
      if (row === undefined) return null;
      const { by, route, guard } = row as unknown as Decision;
      return { by, route, guard, trail: JSON.parse(String(row.trail)) };
    },
    async undecided() {
      const [row] = await rawRows(run.store, "SELECT count(*) AS n FROM inbox WHERE state = 'pending'", []);
      return Number(row!.n);
    },
  };
}

let serial = 0;

/** A text from somebody, now. */
export function text(from: number | string, words: string, more: Partial<Incoming> = {}): Incoming {
  const chat = jid(from);
  serial++;
  return {
    id: `IN${serial}`,
    chat,
    chatKey: chat,
    chatKind: "dm",
    sender: chat,
    number: String(from),
    lid: null,
    participant: null,
    fromMe: false,
    pushName: "",
    timestamp: Math.floor(Date.now() / 1000),
    ...nothingSaid(),
    type: "text",
    text: words,
    ...more,
  };
}

/** What the owner typed on the phone, to somebody. */
export function typed(to: number | string, words: string, more: Partial<Incoming> = {}): Incoming {
  return text(to, words, { fromMe: true, sender: jid(OWN_NUMBER), number: OWN_NUMBER, ...more });
}

export const saying = (stored: StoredMessage, ...texts: string[]): Answer => ({
  kind: "answer",
  by: "bot:echo",
  route: "fallback",
  replies: texts.map((words) => ({ jid: stored.message.chat, draft: { kind: "text", text: words } })),
  trail: [{ by: "bot:echo", outcome: "answered" }],
});

/** Answers everything with `re: <text>`, as a bot. */
export function echo(): Answerer {
  return {
    name: "bots",
    ignoresTakeover: false,
    answer: async (stored) => saying(stored, `re: ${stored.message.text}`),
  };
}

/** An answerer that writes down what it was asked and told. */
export function witness(answer: (stored: StoredMessage) => Answer = () => ({ kind: "pass", trail: [] })) {
  const asked: string[] = [];
  const forwarded: { text: string; handledBy: string | null }[] = [];
  const told: string[] = [];
  const answerer: Answerer = {
    name: "webhook",
    ignoresTakeover: true,
    async answer(stored) {
      asked.push(stored.message.text);
      return answer(stored);
    },
    forward(stored, handledBy) {
      forwarded.push({ text: stored.message.text, handledBy });
      return { statements: [], afterCommit: async () => void told.push(stored.message.text) };
    },
  };
  return { answerer, asked, forwarded, told };
}

/** Ends a run as a crash does: nothing is waited for, nothing more is written. */
export async function crash(run: Run): Promise<void> {
  await run.connect(null);
  await run.close();
}
