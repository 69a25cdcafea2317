import * as fields from "../dialogues/fields.ts";
import type { ChoiceOptions, Field } from "../dialogues/fields.ts";
import { FlowMistake } from "./errors.ts";
import type { FlowTurn } from "./turn.ts";
import type { AskOptions, Flow, FlowContext } from "./types.ts";

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

  const question = (kind: string, make: (...rest: never[]) => Field<unknown>) => {
    return (key: string, ...rest: unknown[]) => {
      const options = rest.at(-1);
      const was = typeof options === "object" ? (options as AskOptions | null)?.was : undefined;
      return turn.ask(keyOf(key, kind), { field: make(...(rest as never[])), ...(was && { was }) });
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
    // A letter before the number: keys that are numbers would be answers as well, counted from 0.
    const choices = Object.fromEntries(items.map((item, index) => [`item-${index}`, label(item)]));
    return turn.ask(name, {
      field: fields.choice(text, () => choices, options) as Field<string>,
      items,
      value: (chosen, shown) => shown.items?.[Number(chosen.slice("item-".length))],
      ...(options.was && { was: options.was }),
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
    fetch: ctx.fetch,
    t: ctx.t,
    text: question("text", fields.text as never),
    email: question("email", fields.email as never),
    phone: question("phone", fields.phone as never),
    number: question("number", fields.number as never),
    choice: question("choice", fields.choice as never),
    confirm: question("confirm", ((text: string, options: object = {}) =>
      fields.confirm(text, { ...options, onNo: "go_on" })) as never),
    file: question("file", fields.file as never),
    location: question("location", fields.location as never),
    choose,
    ask: (key: string, field: Field<unknown>, options: AskOptions = {}) =>
      turn.ask(keyOf(key, "ask"), { field, ...options }),
    say: (content: never) => turn.later(() => ctx.reply(content)),
    sendTo: (chat: string, content: never) => turn.later(() => ctx.sendTo(chat, content)),
    step(key: string, work: never, options = {}) {
      const made = turn.step(keyOf(key, "step"), work, options);
      // Of one that nobody awaits the author hears as a mistake of the flow, not as a rejection that nobody handles.
      made.catch(() => undefined);
      return made;
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
