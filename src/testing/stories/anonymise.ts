import type { Said, Story, StoryLine, StoryReply } from "./story.ts";

/** Who a conversation was with: everything by which these people could be known. */
export interface People {
  /** Names as WhatsApp showed them, the one who writes most first. */
  names: readonly string[];
  /** Other words to be replaced, by what stands in their place. */
  replace?: Readonly<Record<string, string>>;
}

const FIRST_NAMES = ["Ana", "Ben", "Chloe", "Dan", "Eva", "Finn", "Gina", "Hugo"];
const LAST_NAMES = ["Lima", "Moreau", "Novak", "Okafor"];
/** The kit's own people have numbers that begin so. */
const FIRST_DIGITS = "49170000";

const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g;
/** Seven digits or more, with what people write between them. Dates are told apart below. */
const DIGITS = /\+?\d[\d ()./-]{5,30}\d/g;
const DATE = /^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(\D.{0,20})?$/;

/**
 * A story without the people it was about: names, numbers and addresses are replaced, each by the same one everywhere, so that
 * bots answer alike. What somebody typed in other words nobody can know.
 */
export function anonymise(story: Story, { names, replace = {} }: People): Story {
  const named = namesInstead(names);
  const byWord = [...Object.entries(replace), ...named.words].toSorted(
    ([one], [other]) => other.length - one.length,
  );
  const known = byWord.map(([word, instead]) => [expressionFor(word), instead] as const);
  const numbers = numbering();
  const emails = counted((count) => `person${count}@example.com`);

  const clean = (text: string): string => {
    let cleaned = text
      .replace(EMAIL, (address) => emails(address.toLowerCase()))
      .replace(DIGITS, (digits) => (isNumber(digits) ? numbers(digits) : digits));
    for (const [word, instead] of known) cleaned = cleaned.replace(word, () => instead);
    return cleaned;
  };
  const { person, group, ...rest } = story;
  const [writer] = names;
  const shown = writer === undefined ? person : (named.whole.get(writer) ?? person);
  return {
    ...rest,
    title: clean(story.title),
    ...(shown !== undefined && shown !== FIRST_NAMES[0] && group === undefined && { person: shown }),
    ...(group && {
      group: {
        name: "The group",
        members: group.members.map((name) => named.whole.get(name) ?? clean(name)),
      },
    }),
    lines: story.lines.map((line) => cleanLine(line, clean, named.whole)),
  };
}

/** A name of two words gets two, so that who is asked for the whole name still gives one. */
function namesInstead(names: readonly string[]): { whole: Map<string, string>; words: [string, string][] } {
  const whole = new Map<string, string>();
  const words: [string, string][] = [];
  for (const [index, name] of [...new Set(names)].entries()) {
    const parts = name.split(/\s+/).filter((part) => part !== "");
    const first = FIRST_NAMES[index] ?? `Person ${index + 1}`;
    const instead = parts.map((_, at) => (at === 0 ? first : LAST_NAMES[(at - 1) % LAST_NAMES.length]!));
    whole.set(name, instead.join(" "));
    if (name.trim() !== "") words.push([name.trim(), instead.join(" ")]);
    for (const [at, part] of parts.entries()) if (part.length >= 3) words.push([part, instead[at]!]);
  }
  return { whole, words };
}

/** A whole word, in whatever letters. */
const expressionFor = (word: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`, "giu");

const digitsOf = (text: string): string => text.replaceAll(/\D/g, "");
const isNumber = (text: string): boolean => digitsOf(text).length >= 7 && !DATE.test(text);

/** The same digits get the same others, as many, and stand as they stood. */
function numbering(): (written: string) => string {
  const known = new Map<string, string>();
  return (written) => {
    const digits = digitsOf(written);
    const instead = known.get(digits) ?? madeUp(digits.length, known.size + 1);
    known.set(digits, instead);
    let at = 0;
    return written.replaceAll(/\d/g, () => instead[at++]!);
  };
}

const madeUp = (length: number, count: number): string => {
  const end = String(count).padStart(3, "0");
  return (
    `${FIRST_DIGITS}${"0".repeat(Math.max(0, length - FIRST_DIGITS.length - end.length))}`.slice(
      0,
      length - end.length,
    ) + end
  );
};

function counted(make: (count: number) => string): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    const instead = known.get(word) ?? make(known.size + 1);
    known.set(word, instead);
    return instead;
  };
}

type Clean = (text: string) => string;

function cleanLine(line: StoryLine, clean: Clean, names: ReadonlyMap<string, string>): StoryLine {
  switch (line.who) {
    case "time":
      return line;
    case "owner":
      return { ...line, text: clean(line.text) };
    case "user": {
      const as = line.as === null ? null : (names.get(line.as) ?? clean(line.as));
      return { ...line, as, says: line.says.map((one) => cleanSaid(one, clean)) };
    }
    default:
      return { ...line, reply: cleanReply(line.reply, clean) };
  }
}

function cleanSaid(one: Said, clean: Clean): Said {
  switch (one.kind) {
    case "text":
      return { ...one, text: clean(one.text), quote: one.quote === null ? null : clean(one.quote) };
    case "file":
      return { ...one, caption: clean(one.caption), name: clean(one.name) };
    case "vote":
      return { ...one, options: one.options.map(clean) };
    case "edit":
      return { ...one, text: clean(one.text) };
    case "location":
      // About the middle of Berlin, for everybody.
      return {
        ...one,
        latitude: 52.52,
        longitude: 13.405,
        name: one.name && clean(one.name),
        address: one.address && "1 Example Street",
      };
    case "card":
      return { ...one, name: clean(one.name), numbers: one.numbers.map(clean) };
    default:
      return one;
  }
}

function cleanReply(reply: StoryReply, clean: Clean): StoryReply {
  switch (reply.kind) {
    case "text":
      return { ...reply, text: clean(reply.text) };
    case "poll":
      return { ...reply, question: clean(reply.question), options: reply.options.map(clean) };
    case "file":
      return { ...reply, caption: clean(reply.caption), name: clean(reply.name) };
    case "react":
      return reply;
  }
}
