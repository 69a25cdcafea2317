import type { Draft, MediaKind } from "../model/messages.ts";
import type { Sent } from "./wire.ts";

/** One message of the bot, as its chat shows it. */
export interface Reply {
  id: string;
  kind: Draft["kind"];
  /** What a person reads: the text, a caption, a poll's question, a reaction's emoji; "" when there is nothing. */
  text: string;
  poll: { question: string; options: string[]; multiple: boolean } | null;
  file: { kind: MediaKind; name: string | null } | null;
  /** Message that the bot quotes, or reacts to. */
  about: string | null;
  /** Digits or ids of people that the text mentions. */
  mentions: string[];
}

/** What `expect` takes: the whole text, an expression, or what some fields must be. */
export type Expected = string | RegExp | ((reply: Reply) => boolean) | ExpectedFields;

export interface ExpectedFields {
  kind?: Reply["kind"];
  text?: string | RegExp;
  /** A poll's options, in order. */
  options?: readonly string[];
}

export function replyOf({ id, draft }: Sent): Reply {
  const reply: Reply = {
    id,
    kind: draft.kind,
    text: "",
    poll: null,
    file: null,
    about: draft.quote?.id ?? null,
    mentions: [],
  };
  switch (draft.kind) {
    case "text":
      return { ...reply, text: draft.text, mentions: (draft.mentions ?? []).map(digits) };
    case "poll": {
      const { name: question, options, selectable } = draft;
      return { ...reply, text: question, poll: { question, options, multiple: selectable === 0 } };
    }
    case "reaction":
      return { ...reply, text: draft.emoji, about: draft.target.id };
    default:
      return {
        ...reply,
        text: draft.caption ?? "",
        file: { kind: draft.kind, name: draft.fileName ?? null },
      };
  }
}

const digits = (id: string): string => id.replace(/@s\.whatsapp\.net$/, "");

export function fits(reply: Reply, expected: Expected): boolean {
  if (typeof expected === "function") return expected(reply);
  if (typeof expected === "string") return reply.text === expected;
  if (expected instanceof RegExp) return new RegExp(expected.source, expected.flags).test(reply.text);
  const { kind, text, options } = expected;
  return (
    (kind === undefined || reply.kind === kind) &&
    (text === undefined || fits(reply, text)) &&
    (options === undefined || options.join("\0") === reply.poll?.options.join("\0"))
  );
}

/** As it stands in a transcript. */
export function describeReply({ kind, text, poll, file, about }: Reply): string {
  if (poll !== null) return `[poll] ${text} (${poll.options.join(" / ")})`;
  if (kind === "reaction") return `[reaction] ${text}`;
  const head = file === null ? "" : `[${file.kind}${file.name === null ? "" : ` ${file.name}`}] `;
  return `${head}${text}${about === null ? "" : " [quoting]"}`.trim();
}

export function describeExpected(expected: Expected): string {
  if (typeof expected === "string") return JSON.stringify(expected);
  if (typeof expected === "function") return expected.name || "something that fits the function";
  if (expected instanceof RegExp) return String(expected);
  return JSON.stringify(expected, (_key, value: unknown) =>
    value instanceof RegExp ? String(value) : value,
  );
}
