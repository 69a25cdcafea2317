import { LineCounter, parseDocument, visit, type Document } from "yaml";
import { z } from "zod";
import { fieldProblems } from "../../model/errors/field-problems.ts";
import { storyLines } from "./lines.ts";
import type { Story } from "./story.ts";

const LONGEST_FILE = 4 * 1024 * 1024;
const HEAD = z.strictObject({
  story: z.coerce.string().max(1000).default(""),
  bots: z.array(z.string()).max(100).default([]),
  config: z.record(z.string(), z.unknown()).optional(),
  now: z.iso.datetime({ offset: true }).optional(),
  person: z.coerce.string().max(100).optional(),
  group: z
    .strictObject({ name: z.coerce.string(), members: z.array(z.coerce.string()).min(1).max(1000) })
    .optional(),
  outside: z
    .array(
      z.strictObject({
        url: z.string(),
        method: z.string().optional(),
        answers: z.array(z.unknown()).min(1).max(1000),
      }),
    )
    .max(1000)
    .default([]),
  says: z.array(z.unknown()),
});

/** Thrown for a file that is not a story. The message has one line per fault: file, line and what is wrong. */
export class StoryError extends Error {
  constructor(file: string, problems: readonly string[]) {
    super(problems.map((problem) => `${file}${problem}`).join("\n"));
    this.name = "StoryError";
  }
}

/**
 * Reads a story.
 *
 * @param text YAML 1.2
 * @param file the name of the file in error messages
 * @throws {StoryError}
 */
export function readStory(text: string, file: string): Story {
  if (text.length > LONGEST_FILE) throw new StoryError(file, [": is larger than 4 MiB."]);
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined)
    throw new StoryError(file, [`:${counter.linePos(broken.pos[0]).line}: is no YAML: ${broken.message}`]);
  if (hasAlias(document))
    throw new StoryError(file, [": uses an anchor (&, *). A story writes everything out."]);
  const head = HEAD.safeParse(toPlain(document), { reportInput: true });
  if (!head.success) throw new StoryError(file, placed(head.error, [], document, counter));
  // Once more, with every scalar as it is written.
  const written = toPlain(parseDocument(text, { schema: "failsafe" })) as { says: unknown };
  const lines = storyLines.safeParse(written.says, { reportInput: true });
  if (!lines.success) throw new StoryError(file, placed(lines.error, ["says"], document, counter));
  const { story: title, config, now, person, group, ...rest } = head.data;
  return {
    title,
    bots: rest.bots,
    ...(config && { config }),
    ...(now !== undefined && { now }),
    ...(person !== undefined && { person }),
    ...(group && { group }),
    outside: rest.outside.map(({ method, ...one }) => ({ ...one, ...(method !== undefined && { method }) })),
    lines: lines.data,
  };
}

/** A few of them may stand for more than memory holds. */
function hasAlias(document: Document.Parsed): boolean {
  let found = false;
  visit(document, { Alias: () => ((found = true), visit.BREAK) });
  return found;
}

function toPlain(document: Document.Parsed): unknown {
  return document.toJS({ maxAliasCount: 0 }) ?? {};
}

/** What is wrong, with the line where it stands, or where that should stand which is missing. */
function placed(
  error: z.ZodError,
  under: string[],
  document: Document.Parsed,
  counter: LineCounter,
): string[] {
  return error.issues.slice(0, 20).map((issue) => {
    const path = [...under, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
    const what =
      issue.code === "unrecognized_keys"
        ? `does not know ${issue.keys.join(", ")}`
        : Object.values(fieldProblems([issue])).flat()[0];
    return `:${lineOf(path, document, counter)}: ${path.join(".") || "the story"}: ${what}`;
  });
}

function lineOf(path: (string | number)[], document: Document.Parsed, counter: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as
      | { range?: [number, number, number] }
      | undefined;
    if (node?.range) return counter.linePos(node.range[0]).line;
  }
  return 1;
}
