import type { AnyContext, Dialogue } from "../types/context.ts";
import type { DialogueState, Turn } from "../types/dialogue.ts";
import {
  chosen,
  goneFrom,
  inLanguage,
  refuseDoubles,
  refuseNumbers,
  showChoices,
  shownIn,
  type Choice,
  type Rendering,
  type Shown,
} from "./choices.ts";
import { readPolicy, type DialogueOptions } from "./texts.ts";

/** A text, a key of `locales/*.json`, or a function that returns one. */
type Text<Ctx> = string | ((ctx: Ctx) => string | Promise<string>);

/** One option of a menu: it calls a function, sends a text, or starts another dialogue. */
export interface MenuOption<Ctx = AnyContext> {
  /** A text, or a key of `locales/*.json`. */
  label: string;
  run?: (ctx: Ctx) => unknown;
  reply?: string;
  start?: Dialogue<undefined>;
  /** Keeps the menu open after this option. Default false. */
  again?: boolean;
}

/** What a menu asks, and its options. */
export interface MenuDefinition<Ctx = AnyContext> extends DialogueOptions {
  /** The question above the options. */
  text: Text<Ctx>;
  /** The options by key. The contact may also answer with the key, and decisions name it. */
  options: Readonly<Record<string, MenuOption<Ctx>>>;
  /** Default `text`. */
  render?: Rendering;
}

/** A dialogue that starts other dialogues. Registering the menu registers those too. */
export interface Menu extends Dialogue<undefined> {
  readonly kind: "menu";
  readonly leadsTo: readonly Dialogue<undefined>[];
  /** What the author may not have meant. */
  readonly warnings: readonly string[];
}

/**
 * Asks one question with options. The contact answers with a number, a keycap emoji, a label, a key, or a vote when the menu
 * is shown as a poll.
 *
 * @param id unique within the bot
 * @throws {TypeError} when there are no options, or when an answer could mean two of them
 */
export function menu<Ctx = AnyContext>(id: string, definition: MenuDefinition<Ctx>): Menu {
  const { options, render = "text" } = definition as MenuDefinition;
  const name = `menu(${JSON.stringify(id)})`;
  const { choices, warnings } = readOptions(name, options);
  const policy = readPolicy(name, definition, "route");
  const { texts } = policy;

  const wording = wordingOf(definition.text as Text<AnyContext>, choices);

  /** Asks, and keeps what was shown for the answer. */
  async function ask(ctx: AnyContext, state: DialogueState): Promise<DialogueState> {
    const shown = await wording(ctx);
    showChoices(ctx, shown, render);
    return { ...state, shown };
  }

  async function choose(ctx: AnyContext, state: DialogueState, { key }: Choice): Promise<Turn> {
    if (!Object.hasOwn(options, key)) {
      // Nobody did anything wrong: no try is used up.
      ctx.reply(policy.say(ctx, "gone"));
      return { kind: "continue", state: await ask(ctx, state), note: `${key} is gone` };
    }
    const option = options[key]!;
    await option.run?.(ctx);
    if (option.reply !== undefined) ctx.reply(ctx.t(option.reply));
    if (option.start) ctx.start(option.start);
    const note = `chose ${key}`;
    return option.again && !option.start
      ? { kind: "continue", state: { ...state, tries: 0 }, note }
      : { kind: "end", note };
  }

  async function misunderstood(ctx: AnyContext, state: DialogueState): Promise<Turn> {
    const tries = Number(state.tries ?? 0) + 1;
    if (tries >= policy.tries) {
      ctx.reply(policy.say(ctx, "givenUp"));
      return { kind: "end", note: "given up" };
    }
    ctx.reply(policy.say(ctx, "retry"));
    return { kind: "continue", state: await ask(ctx, { ...state, tries }), note: "not understood" };
  }

  return {
    kind: "menu",
    id,
    idle: policy.idle,
    was: policy.was,
    warnings,
    leadsTo: Object.values(options).flatMap(({ start }) => (start ? [start] : [])),
    async begin(ctx) {
      return { kind: "continue", state: await ask(ctx, { tries: 0 }) };
    },
    async take(ctx, state) {
      if (!policy.isAnswer(ctx)) return { kind: "pass" };
      const choice = chosen(ctx, shownIn(state) ?? (await wording(ctx)));
      if (choice !== null) return choose(ctx, state, choice);
      // A vote in another poll answers another question.
      if (ctx.message.type === "poll_vote") return { kind: "pass" };
      if (policy.isCancel(ctx)) {
        ctx.reply(policy.say(ctx, "cancelled"));
        return { kind: "end", note: "cancelled" };
      }
      return policy.routesMayAnswer ? { kind: "pass" } : misunderstood(ctx, state);
    },
    async remind(ctx, state) {
      if (texts.reminder !== undefined) ctx.reply(ctx.t(texts.reminder));
      return ask(ctx, state);
    },
    foresee: (_ctx, state) => ({
      kind: "goes_on",
      gone: goneFrom(shownIn(state), (key) => Object.hasOwn(options, key)),
    }),
    expired(ctx) {
      if (texts.expired !== undefined) ctx.reply(ctx.t(texts.expired));
    },
  };
}

/** The menu as the code has it now. */
const wordingOf =
  (text: Text<AnyContext>, choices: readonly Choice[]) =>
  async (ctx: AnyContext): Promise<Shown> => ({
    text: typeof text === "string" ? ctx.t(text) : await text(ctx),
    options: inLanguage(ctx, choices),
  });

/** @throws {TypeError} when there are none, or when an answer could mean two of them */
function readOptions(
  name: string,
  options: MenuDefinition["options"],
): { choices: Choice[]; warnings: string[] } {
  const choices: Choice[] = Object.entries(options).map(([key, { label }]) => ({ key, label }));
  if (choices.length === 0) throw new TypeError(`${name} needs at least one option.`);
  const nameless = choices.find(({ label }) => typeof label !== "string" || label.trim() === "");
  if (nameless) throw new TypeError(`${name}: option ${JSON.stringify(nameless.key)} has no label.`);
  refuseDoubles(name, choices);
  refuseNumbers(name, Object.keys(options));
  const idle = Object.entries(options).filter(
    ([, { run, reply, start }]) => !run && reply === undefined && !start,
  );
  const warnings = idle.map(
    ([key]) =>
      `${name}: option ${JSON.stringify(key)} does nothing: give it \`run\`, \`reply\` or \`start\`.`,
  );
  return { choices, warnings };
}
