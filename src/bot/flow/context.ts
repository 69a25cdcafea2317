import { UNDER_NAMES, type SendsUnderNames } from "../handlers/sending.ts";
import type { AnyContext } from "../types/context.ts";
import { DECLARATIONS } from "./declarations.ts";
import { FlowMistake } from "./errors.ts";
import type { FlowTurn } from "./turn.ts";
import { callOf } from "./calls.ts";
import { digest } from "./digest.ts";
import type { FileAnswer } from "../dialogues/fields.ts";
import type { CallOptions, Flow, FlowContext, StepOptions } from "./types.ts";

/** What a flow does to flows beside it; done when the code stands still. */
export interface Beside {
  spawn(flow: Flow<never>, id: string, input: unknown): void;
  stop(flow: Flow<never>, id: string): void;
  send(flow: Flow<never>, id: string, signal: string, value: unknown): void;
}

const NAME = /^[\p{L}\p{N}_.:-]{1,64}$/u;

/**
 * The functions of `f` for one run.
 *
 * @param prefix of its keys: `f.at(id)` and flows within flows have their own
 */
export function flowContext(turn: FlowTurn, beside: Beside, prefix = ""): FlowContext<never> {
  const { ctx } = turn;

  function keyOf(key: unknown, call: string): string {
    if (typeof key === "string" && NAME.test(key)) return `${prefix}${key}`;
    throw new FlowMistake(
      `f.${call}(${JSON.stringify(key)}): the first argument is the key, for instance "name": at most 64 letters, digits and - _ . :. The key is stored.`,
    );
  }

  /**
   * Known by an id before it is sent, and whenever the code runs again: other words at the same place are another message. No
   * key of an author has the sign.
   */
  function send(call: string, words: string, effect: () => void): string {
    const { idOf: idFor, under } = (ctx as AnyContext & SendsUnderNames)[UNDER_NAMES];
    const key = turn.journal.keyOf(`${prefix}>${call}`);
    const id = idFor(`${turn.seed}:${key}:${digest(words)}`);
    const done = (): void => under(id, effect);
    if (call === "say") turn.say(done);
    else turn.later(done, `f.${call}`);
    return id;
  }

  const f = {
    from: ctx.from,
    chat: ctx.chat,
    config: ctx.config,
    get locale() {
      return ctx.locale;
    },
    get log() {
      return ctx.log;
    },
    fetch: turn.fetch,
    store: turn.store,
    ...readings(turn),
    get session() {
      return turn.session();
    },
    setLocale: (locale: string) => turn.once(() => ctx.setLocale(locale), "f.setLocale"),
    react: (emoji: string) => send("react", emoji, () => ctx.react(emoji)),
    t: ctx.t,
    say: (content: never) => send("say", wordsOf(content), () => ctx.reply(content)),
    sendTo: (chat: string, content: never) =>
      send("sendTo", `${chat} ${wordsOf(content)}`, () => ctx.sendTo(chat, content)),
    step(key: string, work: never, options = {}) {
      const made = turn.step(keyOf(key, "step"), work, options);
      // Of one that nobody awaits the author hears as a mistake of the flow, not as a rejection that nobody handles.
      made.catch(() => undefined);
      return made;
    },
    call(key: string, address: string, options: CallOptions<unknown> = {}) {
      const { tries, timeout, of, was, ...request } = options;
      const made = { tries, timeout, of, was } as StepOptions;
      return f.step(key, callOf(ctx, address, request) as never, made);
    },
    until: turn.until,
    now: () => turn.value(`${prefix}now`, ctx.now),
    random: () => turn.value(`${prefix}random`, Math.random),
    at: (id: string | number) => flowContext(turn, beside, `${prefix}${idOf(id, "at")}/`),
    run(flow: Flow<unknown>, part: unknown) {
      const name = turn.journal.keyOf(`${prefix}${flow.id}`);
      return flow.body(flowContext(turn, beside, `${name}/`), part);
    },
    ...toOthers(turn, beside),
    again: turn.again,
    handoff: (options = {}) => turn.later(() => ctx.handoff(options), "f.handoff"),
  };
  const asking = f as unknown as Record<string, (key: string, ...of: never[]) => Promise<unknown>>;
  for (const [kind, declare] of DECLARATIONS)
    asking[kind] = (key, ...of) => {
      const name = keyOf(key, kind);
      return turn.ask(name, declare(ctx, of));
    };
  return f as unknown as FlowContext<never>;
}

/** What changes from run to run, and is read in steps alone. */
function readings(turn: FlowTurn) {
  const { ctx } = turn;
  return {
    async history(count: number) {
      if (turn.isInStep()) return ctx.history(count);
      throw new FlowMistake(
        "f.history() changes from run to run: read it inside f.step, which stores your result.",
      );
    },
    async bytes({ messageId }: FileAnswer) {
      if (turn.isInStep()) return (ctx as AnyContext & SendsUnderNames)[UNDER_NAMES].fileOf(messageId);
      throw new FlowMistake(
        "f.bytes() downloads at each run: call it inside f.step, and return what you need of the file.",
      );
    },
  };
}

/** What a flow does to flows beside it. */
const toOthers = (turn: FlowTurn, beside: Beside) => ({
  spawn: (flow: Flow<never>, id: never, value: unknown) =>
    turn.later(() => beside.spawn(flow, idOf(id, "spawn"), value), "f.spawn"),
  stop: (flow: Flow<never>, id: never) => turn.later(() => beside.stop(flow, idOf(id, "stop")), "f.stop"),
  send: (flow: Flow<never>, id: never, signal: string, value: unknown = null) =>
    turn.later(() => beside.send(flow, idOf(id, "send"), signal, value), "f.send"),
});

/** A content in words; of a file's bytes, how many there are. */
const wordsOf = (content: unknown): string =>
  typeof content === "object" && content !== null
    ? JSON.stringify(
        Object.entries(content).map(([name, value]) => [
          name,
          ArrayBuffer.isView(value) ? value.byteLength : value,
        ]),
      )
    : String(content);

const idOf = (id: unknown, call: string): string => {
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text === "string" && text.length > 0 && text.length <= 64) return text;
  throw new FlowMistake(`f.${call}() needs an id of 1 to 64 characters, for instance the order's id.`);
};
