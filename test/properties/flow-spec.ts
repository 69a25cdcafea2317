import { defineBot, type FlowContext } from "../../src/bot/index.ts";

/** One question of a flow that is made up. */
export interface Question {
  /** Which one it is, whatever it is called: its text begins with it. */
  id: string;
  key: string;
  was: readonly string[];
  kind: "text" | "number" | "choice" | "choose" | "confirm";
  version: number;
  options: readonly string[];
  /** Its text has the answers of these, when they stand before it. */
  mentions: readonly string[];
}

/** What somebody may do to the code of a flow. Numbers are taken modulo what there is. */
export type Edit =
  | { do: "add"; at: number; kind: Question["kind"]; options: number; mentions: number }
  | { do: "remove" | "reword" | "rename" | "mention"; at: number }
  | { do: "move"; at: number; to: number }
  | { do: "options"; at: number; options: number };

/** What a step outside has got of one question, and how the code words the question then. */
export interface Got {
  id: string;
  value: unknown;
  text: string;
  options: readonly string[] | null;
}

const DAYS = ["Mon", "Tue", "Wed"] as const;

/** One to three days in some order. */
const daysOf = (seed: number): string[] => {
  const turned = DAYS.map((_, place) => DAYS[(place + seed) % 3]!);
  return turned.slice(0, 1 + (Math.floor(seed / 3) % 3));
};

/** @param ids gives each question that is added one of its own */
export function edited(questions: readonly Question[], edit: Edit, ids: () => string): Question[] {
  const place = edit.at % Math.max(1, questions.length);
  const changed = (change: (question: Question) => Partial<Question>): Question[] =>
    questions.map((question, index) => (index === place ? { ...question, ...change(question) } : question));
  switch (edit.do) {
    case "add": {
      const id = ids();
      const { kind, options, mentions } = edit;
      const mentioned = questions.filter((_, index) => (mentions >> index) % 2 === 1).map((one) => one.id);
      const added = { id, key: id, was: [], kind, version: 1, options: daysOf(options), mentions: mentioned };
      return questions.toSpliced(edit.at % (questions.length + 1), 0, added);
    }
    case "remove":
      return questions.length > 1 ? questions.toSpliced(place, 1) : [...questions];
    case "reword":
      return changed(({ version }) => ({ version: version + 1 }));
    case "rename":
      return changed(({ key, was }) => ({ key: `${key}x`, was: [...was, key] }));
    case "mention":
      return changed(() => ({ mentions: questions.map(({ id }) => id) }));
    case "options":
      return changed(() => ({ options: daysOf(edit.options) }));
    case "move":
      return questions.toSpliced(place, 1).toSpliced(edit.to % questions.length, 0, questions[place]!);
  }
}

/** A bot whose flow asks these questions and then does one step with the answers. */
export function botOf(questions: readonly Question[], book: (got: Got[]) => void) {
  return defineBot((b) => {
    const flow = b.flow("booking", { tries: 9 }, async (f) => {
      const got: Got[] = [];
      for (const question of questions) got.push(await ask(f as never, question, got));
      await f.step("book", () => book(got));
      f.say("booked");
    });
    b.keyword("go", (ctx) => ctx.start(flow));
  });
}

/** How the code words a question, and what it offers. @param before what was answered before it */
export function shownAs(
  { id, kind, version, options, mentions }: Question,
  before: readonly Pick<Got, "id" | "value">[],
): Pick<Got, "text" | "options"> {
  const told = before
    .filter((one) => mentions.includes(one.id))
    .map((one) => `${one.id}=${String(one.value)}`);
  const text = [id, `v${version}`, kind, ...told].join(" ").concat("?");
  return { text, options: kind === "choice" || kind === "choose" ? options : null };
}

async function ask(f: FlowContext, question: Question, before: readonly Got[]): Promise<Got> {
  const { id, key, was, kind, options } = question;
  const shown = shownAs(question, before);
  const { text } = shown;
  const more = { was };
  const made = (value: unknown): Got => ({ id, value, ...shown });
  switch (kind) {
    case "text":
      return made(await f.text(key, text, more));
    case "number":
      return made(await f.number(key, text, more));
    case "confirm":
      return made(await f.confirm(key, text, more));
    case "choice":
      return made(await f.choice(key, text, options, more));
    case "choose": {
      const item = await f.choose(
        key,
        text,
        options.map((day) => ({ day })),
        ({ day }) => day,
        more,
      );
      return made(item?.day);
    }
  }
}
