import { isFlag } from "../fields.ts";

/** A poll that the answer asks for. */
export interface PollReply {
  kind: "poll";
  name: string;
  /** 2 to 5, distinct. */
  options: string[];
  /** 1: one answer; 0: any number. */
  selectable: 0 | 1;
  quoted: boolean;
}

const LONGEST_NAME = 255;
const LONGEST_OPTION = 100;
const FEWEST_OPTIONS = 2;
const MOST_OPTIONS = 5;

/**
 * Reads `{name, option, countable}` by the rules of `/send-poll`: `option` is a list or comma-separated, `countable` `"1"`
 * (default) or `"0"`.
 *
 * @returns null when `value` is no poll; `problem` when it is one and cannot be sent
 */
export function asPoll(value: Record<string, unknown>): { poll: PollReply } | { problem: string } | null {
  const name = textOf(value.name)?.trim();
  const given = typeof value.option === "string" ? value.option.split(",") : value.option;
  if (name === undefined || !Array.isArray(given)) return null;
  if (name.length < 1 || name.length > LONGEST_NAME)
    return { problem: `the poll's name is not 1 to ${LONGEST_NAME} characters long` };
  const options = given.map((option) => textOf(option)?.trim());
  if (
    !options.every((option) => option !== undefined && option.length >= 1 && option.length <= LONGEST_OPTION)
  )
    return { problem: `an option of the poll is not a text of 1 to ${LONGEST_OPTION} characters` };
  const texts = options as string[];
  if (texts.length < FEWEST_OPTIONS || texts.length > MOST_OPTIONS)
    return { problem: `a poll has ${FEWEST_OPTIONS} to ${MOST_OPTIONS} options, this one ${texts.length}` };
  if (new Set(texts).size < texts.length) return { problem: "two options of the poll are the same" };
  const selectable = selectableOf(value.countable);
  if (selectable === null) return { problem: 'countable of a poll must be "1" or "0"' };
  return { poll: { kind: "poll", name, options: texts, selectable, quoted: isFlag(value.quoted) } };
}

function selectableOf(countable: unknown): 0 | 1 | null {
  if (countable === undefined || countable === null) return 1;
  if (countable === "1" || countable === 1 || countable === true) return 1;
  return countable === "0" || countable === 0 || countable === false ? 0 : null;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? value : undefined;
}
