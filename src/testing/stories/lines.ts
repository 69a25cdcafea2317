import { z } from "zod";
import { milliseconds } from "../../bot/duration.ts";
import type { MediaKind } from "../../model/messages.ts";
import type { Answerer, Said, StoryLine, StoryReply } from "./story.ts";

/** Kinds of files, as stories name them. */
export const FILE_KINDS: readonly MediaKind[] = ["image", "video", "audio", "voice", "document", "sticker"];

const MOST_LINES = 10_000;
const word = z.preprocess((given) => given ?? "", z.string().max(65_536));
const words = z.array(word).max(1000);
/** All scalars of these lines come as they are written: `007` keeps its zeros, and `no` is a word. */
const number = z.string().transform((text, context) => {
  const read = Number(text);
  if (text.trim() === "" || !Number.isFinite(read)) context.addIssue("must be a number");
  return read;
});
const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const duration = z.string().transform((text, context) => {
  try {
    return milliseconds(text, "after");
  } catch {
    context.addIssue("must be a time: 90s, 20m, 2h or 3d");
    return z.NEVER;
  }
});

/** An object with one of these words in it, read by that word; a bare text is the shortest form of `text`. */
function byWord<Read>(kinds: Record<string, z.ZodType<Read>>): z.ZodType<Read> {
  return z.unknown().transform((given, context) => {
    const isList = typeof given === "object" && given !== null;
    const parts: object = isList ? given : { text: given };
    const kind = Object.keys(kinds).find((one) => Object.hasOwn(parts, one));
    if (kind === undefined) {
      context.addIssue(`must be a text, or have one of ${Object.keys(kinds).join(", ")}`);
      return z.NEVER;
    }
    const read = kinds[kind]!.safeParse(parts, { reportInput: true });
    if (read.success) return read.data;
    for (const issue of read.error.issues) context.issues.push(issue as never);
    return z.NEVER;
  });
}

const fileKinds = Object.fromEntries(
  FILE_KINDS.map((kind) => [
    kind,
    z
      .strictObject({ [kind]: word, name: word.default("") } as Record<string, z.ZodType<string>>)
      .transform((given) => ({
        kind: "file" as const,
        file: kind,
        caption: given[kind]!,
        name: given["name"]!,
      })),
  ]),
);

const said = byWord<Said>({
  text: z
    .strictObject({ text: word, quote: word.nullable().default(null) })
    .transform((given) => ({ kind: "text", ...given })),
  vote: z.strictObject({ vote: words }).transform(({ vote }) => ({ kind: "vote", options: vote })),
  react: z.strictObject({ react: word }).transform(({ react }) => ({ kind: "react", emoji: react })),
  edit: z.strictObject({ edit: word }).transform(({ edit }) => ({ kind: "edit", text: edit })),
  location: z
    .strictObject({
      location: z.tuple([number, number]),
      name: word.nullable().default(null),
      address: word.nullable().default(null),
    })
    .transform(({ location: [latitude, longitude], ...rest }) => ({
      kind: "location",
      latitude,
      longitude,
      ...rest,
    })),
  card: z
    .strictObject({ card: word, numbers: words.default([]) })
    .transform(({ card, numbers }) => ({ kind: "card", name: card, numbers })),
  other: z.strictObject({ other: word }).transform(({ other }) => ({ kind: "other", type: other })),
  ...fileKinds,
});

const reply = byWord<StoryReply>({
  text: z
    .strictObject({ text: word, quotes: flag.default(false) })
    .transform((given) => ({ kind: "text", ...given })),
  poll: z
    .strictObject({ poll: word, options: words, multiple: flag.default(false) })
    .transform(({ poll, ...rest }) => ({ kind: "poll", question: poll, ...rest })),
  react: z.strictObject({ react: word }).transform(({ react }) => ({ kind: "react", emoji: react })),
  ...fileKinds,
});

const answer = (who: Answerer) =>
  z.strictObject({ [who]: reply } as Record<Answerer, typeof reply>).transform((given) => ({
    who,
    reply: given[who]!,
  }));

const line = byWord<StoryLine>({
  user: z
    .strictObject({
      user: z.preprocess((given) => (Array.isArray(given) ? given : [given]), z.array(said).min(1).max(100)),
      as: word.nullable().default(null),
    })
    .transform(({ user, as }) => ({ who: "user", as, says: user })),
  owner: z.strictObject({ owner: word }).transform(({ owner }) => ({ who: "owner", text: owner })),
  after: z.strictObject({ after: duration }).transform(({ after }) => ({ who: "time", ms: after })),
  bot: answer("bot"),
  webhook: answer("webhook"),
  sent: answer("sent"),
});

/** The lines of a story, every scalar of which is a text. */
export const storyLines = z.array(line).max(MOST_LINES);
