import { isNumber, isOffered, isText, isYesOrNo } from "../dialogues/accepted.ts";
import * as fields from "../dialogues/fields.ts";
import type { ChoiceOptions, Field } from "../dialogues/fields.ts";
import { UNDER_NAMES, type SendsUnderNames } from "../sending.ts";
import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import type { FlowTurn } from "./turn.ts";
import { callOf } from "./calls.ts";
import type { AskOptions, CallOptions, Flow, FlowContext, StepOptions } from "./types.ts";

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
export function flowContext(turn: FlowTurn, beside: Beside, input: unknown, prefix = ""): FlowContext<never> {
  const { ctx } = turn;

  function keyOf(key: unknown, call: string): string {
    if (typeof key === "string" && NAME.test(key)) return `${prefix}${key}`;
    throw new FlowMistake(
      `f.${call}(${JSON.stringify(key)}): the first argument is its key, for instance "name": letters, digits and - _ . :, at most 64. It is stored.`,
    );
  }

  /** Known by an id before it is sent, and whenever the code runs again. No key of an author has the sign. */
  function send(call: string, effect: () => void): string {
    const { idOf: idFor, under } = (ctx as AnyContext & SendsUnderNames)[UNDER_NAMES];
    const id = idFor(`${turn.seed}:${turn.journal.keyOf(`${prefix}>${call}`)}`);
    turn.later(() => under(id, effect));
    return id;
  }

  /** @param accepts whether an answer is still one, from what the question is declared with; left out: any is */
  const question = (
    kind: string,
    make: (...rest: never[]) => Field<unknown>,
    accepts: (value: unknown, ...rest: never[]) => boolean = () => true,
  ) => {
    return (key: string, ...rest: unknown[]) => {
      const options = rest.at(-1);
      const was = typeof options === "object" ? (options as AskOptions | null)?.was : undefined;
      return turn.ask(keyOf(key, kind), {
        make: () => make(...(rest as never[])),
        accepts: (value) => accepts(value, ...(rest as never[])),
        was,
      });
    };
  };

  function choose<Item>(
    key: string,
    text: string,
    items: readonly Item[],
    label: (item: Item) => string,
    options: ChoiceOptions & AskOptions = {},
  ): Promise<unknown> {
    const name = keyOf(key, "choose");
    if (!Array.isArray(items) || items.length === 0)
      throw new FlowMistake(
        `f.choose(${JSON.stringify(key)}) has nothing to choose from. Look at the list before: \`if (list.length === 0) …\`.`,
      );
    return turn.ask(name, {
      make() {
        // A letter before the number: keys that are numbers would be answers as well, counted from 0.
        const choices = Object.fromEntries(items.map((item, index) => [`item-${index}`, label(item)]));
        return fields.choice(text, () => choices, options) as Field<string>;
      },
      // It was to be had when it was chosen.
      accepts: () => true,
      items,
      value: (chosen, shown) => shown.items?.[Number(chosen.slice("item-".length))],
      was: options.was,
    });
  }

  const f = {
    input,
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
    async history(count: number) {
      if (turn.isInStep()) return ctx.history(count);
      throw new FlowMistake(
        "f.history() gives something else at every run: read it inside of f.step, which keeps what you make of it.",
      );
    },
    t: ctx.t,
    text: question("text", fields.text as never, (value, _text, options) => isText(value, options)),
    email: question("email", fields.email as never),
    phone: question("phone", fields.phone as never),
    number: question("number", fields.number as never, (value, _text, options) => isNumber(value, options)),
    choice: question("choice", fields.choice as never, (value, _text, choices) => isOffered(value, choices)),
    confirm: question(
      "confirm",
      ((text: string, options: object = {}) => fields.confirm(text, { ...options, onNo: "go_on" })) as never,
      isYesOrNo,
    ),
    file: question("file", fields.file as never),
    location: question("location", fields.location as never),
    choose,
    ask: (key: string, field: Field<unknown>, options: AskOptions = {}) =>
      turn.ask(keyOf(key, "ask"), {
        make: () => field,
        accepts: (value) => field.accepts?.(value) !== false,
        was: options.was,
      }),
    say: (content: never) => send("say", () => ctx.reply(content)),
    sendTo: (chat: string, content: never) => send("sendTo", () => ctx.sendTo(chat, content)),
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
    at: (id: string | number) => flowContext(turn, beside, input, `${prefix}${idOf(id, "at")}/`),
    run(flow: Flow<unknown>, part: unknown) {
      const name = turn.journal.keyOf(`${prefix}${flow.id}`);
      return flow.body(flowContext(turn, beside, part, `${name}/`));
    },
    spawn: (flow: Flow<never>, id: never, value: unknown) =>
      turn.later(() => beside.spawn(flow, idOf(id, "spawn"), value)),
    stop: (flow: Flow<never>, id: never) => turn.later(() => beside.stop(flow, idOf(id, "stop"))),
    send: (flow: Flow<never>, id: never, signal: string, value: unknown = null) =>
      turn.later(() => beside.send(flow, idOf(id, "send"), signal, value)),
    again: (value: unknown) => turn.stop({ kind: "again", input: value }),
    handoff: (options = {}) => turn.later(() => ctx.handoff(options)),
  };
  return f as unknown as FlowContext<never>;
}

const idOf = (id: unknown, call: string): string => {
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text === "string" && text.length > 0 && text.length <= 64) return text;
  throw new FlowMistake(`f.${call}() needs an id of 1 to 64 characters, for instance that of the order.`);
};
