import { milliseconds } from "../duration.ts";
import type { Effects } from "./effects.ts";
import type { AnyContext, Bot, Dialogue } from "../types.ts";

/** Where a conversation goes when its handler is done. */
type Transitions = Pick<AnyContext, "start" | "startIn" | "leave" | "handoff" | "next">;

interface TransitionsInput {
  bot: Pick<Bot, "dialogues">;
  effects: Effects;
  /** Throws when nothing may be changed any more. */
  open(call: string): void;
  answer(call: string, text: string): unknown;
  hasDialogue(bot: string, dialogue: string): boolean;
}

const notOn = (bot: string, dialogue: string): TypeError =>
  new TypeError(
    `ctx.startIn(): no bot ${JSON.stringify(bot)} with a dialogue ${JSON.stringify(dialogue)} is on for this number. Switch it on: npm run parley -- bots bind`,
  );

/** What a handler says of the conversation becomes an effect. */
export function createTransitions({
  bot,
  effects,
  open,
  answer,
  hasDialogue,
}: TransitionsInput): Transitions {
  return {
    start(dialogue, ...[value]) {
      open("start");
      if (typeof dialogue?.begin !== "function")
        throw new TypeError("ctx.start() takes a dialogue made by menu(…) or form(…).");
      if (bot.dialogues.get(dialogue.id) !== (dialogue as unknown))
        throw new TypeError(
          `ctx.start(): the bot does not know the dialogue "${dialogue.id}". Make it with b.menu or b.form, or pass it to b.dialogue, so that it continues after a restart.`,
        );
      effects.dialogue = { dialogue: dialogue as Dialogue<unknown>, input: value };
    },
    startIn(other, dialogue, value = null) {
      open("startIn");
      if (!hasDialogue(other, dialogue)) throw notOn(other, dialogue);
      effects.elsewhere = { bot: other, dialogue, input: value };
    },
    leave(text) {
      open("leave");
      if (text !== undefined) answer("leave", text);
      effects.dialogue = null;
    },
    handoff({ for: duration, say: text } = {}) {
      open("handoff");
      const ms =
        duration === undefined ? null : Math.max(60_000, milliseconds(duration, "ctx.handoff({ for })"));
      if (text !== undefined) answer("handoff", text);
      effects.handoffMs = ms;
    },
    next() {
      open("next");
      effects.passed = true;
    },
  };
}
