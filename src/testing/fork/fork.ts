import type { Forked, ForkAsked, ForkLine, ForkTurn } from "../../path/fork.ts";
import type { AnyBot } from "../options.ts";
import { storyLines } from "../stories/lines.ts";
import { playStory, type Played } from "../stories/play.ts";
import type { Story, StoryLine } from "../stories/story.ts";
import { storyText, tellStory } from "../stories/told.ts";
import { findFiles } from "./files.ts";
import { besideEachOther } from "./turns.ts";

const TITLE = "A conversation that was continued in the sandbox";
/** Enough to see what is wrong. */
const MOST_LOGGED = 20;
/** Real milliseconds until a bot that does not come to rest is named. */
const PATIENCE_MS = 8_000;

/**
 * Tells a stored conversation again to bots as their files are now, and goes on with it.
 *
 * @param onTold gets what was answered then, before any bot is asked
 */
export async function fork(asked: ForkAsked, onTold: (turns: ForkTurn[]) => void): Promise<Forked> {
  const told = tellStory(asked.chat, asked.happened);
  const stored = told.story.lines.length;
  const story = { ...told.story, lines: [...told.story.lines, ...linesOf(asked.more, told.story)] };
  onTold(besideEachOther(story.lines, stored, null));
  const files = await findFiles(asked.folders);
  const found = await Promise.all(
    asked.bots.map(async (bound) => ({ ...bound, ...(await files.open(bound.id)) })),
  );
  const bots = Object.fromEntries(found.map(({ id, bot, priority }) => [id, withPriority(bot, priority)]));
  const played = await play(asked, story, bots, files.locales);
  return {
    turns: besideEachOther(story.lines, stored, played.lines),
    bots: found.map(({ id, from }) => ({ id, from })),
    troubles: played.troubles,
    logged: [...new Set(played.logged)].slice(0, MOST_LOGGED),
    story: storyText(
      { story: { ...story, bots: usedBots(asked), lines: played.lines }, names: told.names },
      TITLE,
    ),
  };
}

function play(
  { bots: bound, settings }: ForkAsked,
  story: Story,
  bots: Record<string, AnyBot>,
  locales: Record<string, unknown>,
): Promise<Played> {
  const [only] = bound;
  const config =
    bound.length === 1
      ? (only!.config ?? {})
      : Object.fromEntries(bound.flatMap(({ id, config: own }) => (own === null ? [] : [[id, own]])));
  return playStory(story, bots, { config, locales, patienceMs: PATIENCE_MS, ...settings });
}

const usedBots = ({ bots }: ForkAsked): string[] => bots.map(({ id }) => id);

/** As it stands at the number, whatever the file says. */
const withPriority = (bot: AnyBot, priority: number): AnyBot =>
  typeof bot === "function" ? { routes: bot, priority } : { ...bot, priority };

/** @throws Error when it is none of what a person can do */
function linesOf(more: readonly ForkLine[], { lines }: Story): StoryLine[] {
  const writer = lines.findLast((line) => line.who === "user");
  const as = writer?.who === "user" && writer.as !== null ? { as: writer.as } : {};
  const written = more.map((line) =>
    typeof line === "object" && "after" in line ? line : { user: line, ...as },
  );
  return storyLines.parse(written);
}
