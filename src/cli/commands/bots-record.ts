import { command } from "../command.ts";
import { asJson, paint, say } from "../plainly.ts";
import { readCount, readReplacements, readSince } from "../stories/arguments.ts";
import { findNumber, storedChat, withStored } from "../stories/stored.ts";
import { storyText, writeStoryFile } from "../stories/written.ts";

/** `parley bots record <chat>`: a stored conversation as a story, without the people it was with. */
export default command({
  meta: {
    name: "record",
    description: "Write a stored conversation as a story, with names and numbers replaced",
  },
  args: {
    chat: {
      type: "positional",
      description: "Digits of the contact, or the id of a LID or group",
      required: true,
    },
    device: { type: "string", description: "Your own number, digits; default: the only number" },
    since: { type: "string", description: "Only messages since then: 24h, 7d, 2030-01-31" },
    last: { type: "string", description: "Maximum number of messages, newest first. Default 200" },
    title: { type: "string", description: "What the story is about" },
    replace: { type: "string", description: "More words to replace: Rosa=Eva,Bonn=Berlin" },
    out: {
      type: "string",
      valueHint: "file",
      description: "File to write, for instance bots/menu.story.yaml; default: standard output",
    },
  },
  async run({ args }) {
    const limit = readCount("last", args.last, 200);
    const since = readSince(args.since);
    const replace = readReplacements(args.replace);
    const stored = await withStored(async (store) =>
      storedChat(store, await findNumber(store, args.device), args.chat, { since, limit }),
    );
    const text = storyText(stored, args.title ?? "", replace);
    const document = { file: args.out ?? null, lines: stored.story.lines.length, bots: stored.story.bots };
    if (args.out === undefined) {
      if (!asJson) process.stdout.write(text);
      return { ...document, story: text };
    }
    await writeStoryFile(args.out, text);
    say(`${paint.green("✓")} ${args.out}: ${stored.story.lines.length} lines`);
    say(paint.dim("  Read it before you share it: it may still contain names in other forms."));
    if (stored.story.bots.length > 0) say(paint.dim(`  Run it: npm run parley -- bots replay ${args.out}`));
    return document;
  },
});
