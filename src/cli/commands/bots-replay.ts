import { command } from "../command.ts";
import { paint, say } from "../plainly.ts";
import { readCount, readSince } from "../stories/arguments.ts";
import {
  isAsBefore,
  runFiles,
  runStory,
  showOutcome,
  summaryOf,
  type Outcome,
} from "../stories/run-stories.ts";
import {
  botsAt,
  findNumber,
  storedChat,
  storedSince,
  withStored,
  type StoredStory,
} from "../stories/stored.ts";
import { findStories } from "../stories/story-files.ts";
import { workingBots, type WorkingBots } from "../stories/working-bots.ts";

/** What the command was given. */
interface Wanted {
  chat?: string;
  since?: string;
  device?: string;
  limit?: string;
  outside?: string;
}

/** `parley bots replay`: what people said is said again, to the bots as their files are now. */
export default command({
  meta: {
    name: "replay",
    description: "Run stories or stored conversations through the current bots and show the differences",
  },
  args: {
    stories: {
      type: "positional",
      description: "Files that end in .story.yaml, or ids of bots; default: all stories",
      required: false,
    },
    chat: {
      type: "string",
      description: "Replay the stored conversation with this contact or group instead",
    },
    since: {
      type: "string",
      description: "Replay all conversations since then instead: 24h, yesterday, 2030-01-31",
    },
    limit: { type: "string", description: "Maximum number of conversations, newest first. Default 300" },
    device: { type: "string", description: "Your own number, digits; default: the only number" },
    outside: {
      type: "string",
      description: "Story whose `outside:` answers the bots' calls to other systems",
    },
    update: { type: "boolean", description: "Write the current answers into the stories' files" },
  },
  async run({ args }) {
    const bots = await workingBots();
    const isStored = args.chat !== undefined || args.since !== undefined;
    if (isStored && (args._.length > 0 || args.update))
      throw new Error("Give stories, or one of --chat and --since; --update works with stories only.");
    const outcomes = isStored
      ? await runStored(args, bots)
      : await runStories(args._, bots, args.update === true);
    say();
    say(summaryOf(isStored ? ["conversation", "conversations"] : ["story", "stories"], outcomes));
    if (!args.update && !outcomes.every(isAsBefore)) process.exitCode = 1;
    return outcomes.map((outcome) => ({ ...outcome, as_before: isAsBefore(outcome) }));
  },
});

async function runStories(wanted: readonly string[], bots: WorkingBots, update: boolean): Promise<Outcome[]> {
  return runFiles(await findStories(bots, wanted), bots, { update });
}

/** Shows those that differ; the others are counted. */
async function runStored(wanted: Wanted, bots: WorkingBots): Promise<Outcome[]> {
  const since = readSince(wanted.since);
  const limit = readCount("limit", wanted.limit, 300);
  const outside =
    wanted.outside === undefined ? [] : (await findStories(bots, [wanted.outside]))[0]!.story.outside;
  return withStored(async (store) => {
    const number = await findNumber(store, wanted.device);
    const { ids, config } = await botsAt(store, number, bots);
    if (ids.length === 0)
      throw new Error(
        `No bot is on at ${number.number}. Switch one on: npm run parley -- bots bind ${number.number} <id>`,
      );
    say(paint.dim(`${ids.join(", ")} at ${number.number}`));
    const outcomes: Outcome[] = [];
    for await (const { chat, story } of conversations()) {
      const { played: _, ...outcome } = await runStory(chat, story, bots, ids, { config, outside });
      outcomes.push(outcome);
      if (!isAsBefore(outcome)) showOutcome(outcome);
    }
    return outcomes;

    async function* conversations(): AsyncGenerator<StoredStory, void, undefined> {
      if (wanted.chat === undefined) yield* storedSince(store, number, { since, limit });
      else yield await storedChat(store, number, wanted.chat, { since, limit: 1000 });
    }
  });
}
