import {
  isEmail,
  isNumber,
  isOffered,
  isText,
  isThing,
  isWritten,
  isYesOrNo,
} from "../dialogues/accepted.ts";
import type { Choice } from "../dialogues/choices.ts";
import * as fields from "../dialogues/fields.ts";
import {
  listOf,
  type ChoiceOptions,
  type Choices,
  type Field,
  type FieldOptions,
} from "../dialogues/fields.ts";
import { UNDER_NAMES, type SendsUnderNames } from "../sending.ts";
import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import type { FlowTurn } from "./turn.ts";
import { callOf } from "./calls.ts";
import { digest } from "./digest.ts";
import { itemKey } from "./questions.ts";
import type { Declared } from "./wording.ts";
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

  /** @param offers what can be chosen, from what follows the text; left out: nothing */
  const question = (
    kind: string,
    make: (...rest: never[]) => Field<unknown>,
    accepts: (value: unknown, ...rest: never[]) => boolean,
    offers: (...rest: never[]) => readonly Choice[] | null | "asked" = () => null,
  ) => {
    return (key: string, ...rest: unknown[]) => {
      const list = once(() => offers(...(rest as never[])));
      return turn.ask(keyOf(key, kind), {
        ...optionsIn(rest.at(-1)),
        text: rest[0] as string,
        choices: list,
        confirms: kind === "confirm",
        make: () => make(...(rest as never[])),
        accepts: (value, label) => accepts(value, ...(rest as never[])) && isUnder(list(), value, label),
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
    const list = once(() => items.map((item, index) => ({ key: itemKey(index), label: label(item) })));
    return turn.ask(name, {
      ...optionsIn(options),
      text,
      choices: list,
      confirms: false,
      make() {
        const choices = Object.fromEntries(list().map((choice) => [choice.key, choice.label]));
        return fields.choice(text, () => choices, options) as Field<string>;
      },
      // By what the person has read. An item may say more today than it did then; where its words are not known, it must not.
      accepts: (value, shown) =>
        shown === undefined
          ? items.some((item) => JSON.stringify(item ?? null) === JSON.stringify(value))
          : list().some((choice) => ctx.t(choice.label) === shown),
      items,
    });
  }

  /** Whether what was chosen under a label has it today. */
  const isUnder = (
    list: readonly Choice[] | null | "asked",
    value: unknown,
    label: string | undefined,
  ): boolean =>
    label === undefined ||
    list === null ||
    list === "asked" ||
    list.some((choice) => choice.key === value && ctx.t(choice.label) === label);

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
    email: question("email", fields.email as never, isEmail),
    phone: question("phone", fields.phone as never, isWritten),
    number: question("number", fields.number as never, (value, _text, options) => isNumber(value, options)),
    choice: question(
      "choice",
      fields.choice as never,
      (value, _text, choices) => isOffered(value, choices),
      (_text: string, choices: Choices<string> | (() => unknown)) =>
        typeof choices === "function" ? "asked" : listOf(choices),
    ),
    confirm: question(
      "confirm",
      ((text: string, options: object = {}) => fields.confirm(text, { ...options, onNo: "go_on" })) as never,
      isYesOrNo,
    ),
    file: question("file", fields.file as never, isThing),
    location: question("location", fields.location as never, isThing),
    choose,
    ask: (key: string, field: Field<unknown>, options: AskOptions = {}) =>
      turn.ask(keyOf(key, "ask"), {
        ...optionsIn(options),
        maySkip: () => field.skip.length > 0,
        text: field.question,
        choices: () => (field.options === undefined ? null : (field.list ?? "asked")),
        confirms: field.confirms === true,
        make: () => field,
        accepts: (value, label) =>
          field.accepts?.(value) !== false && isUnder(field.list ?? null, value, label),
      }),
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
    at: (id: string | number) => flowContext(turn, beside, input, `${prefix}${idOf(id, "at")}/`),
    run(flow: Flow<unknown>, part: unknown) {
      const name = turn.journal.keyOf(`${prefix}${flow.id}`);
      return flow.body(flowContext(turn, beside, part, `${name}/`));
    },
    spawn: (flow: Flow<never>, id: never, value: unknown) =>
      turn.later(() => beside.spawn(flow, idOf(id, "spawn"), value), "f.spawn"),
    stop: (flow: Flow<never>, id: never) => turn.later(() => beside.stop(flow, idOf(id, "stop")), "f.stop"),
    send: (flow: Flow<never>, id: never, signal: string, value: unknown = null) =>
      turn.later(() => beside.send(flow, idOf(id, "send"), signal, value), "f.send"),
    again: turn.again,
    handoff: (options = {}) => turn.later(() => ctx.handoff(options), "f.handoff"),
  };
  return f as unknown as FlowContext<never>;
}

/** What every question takes, from its last argument. */
function optionsIn(last: unknown): Pick<Declared<unknown>, "was" | "of" | "maySkip"> {
  const options = (typeof last === "object" && last !== null ? last : {}) as AskOptions & FieldOptions;
  const { was, of } = options;
  return { was, of, maySkip: () => options.skip !== undefined && [options.skip].flat().length > 0 };
}

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

/** Makes it when it is wanted, and once. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

const idOf = (id: unknown, call: string): string => {
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text === "string" && text.length > 0 && text.length <= 64) return text;
  throw new FlowMistake(`f.${call}() needs an id of 1 to 64 characters, for instance that of the order.`);
};
