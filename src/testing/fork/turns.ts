import type { ForkAnswer, ForkTurn } from "../../path/fork.ts";
import type { StoryLine } from "../stories/story.ts";
import { showReply, showSaid, writeDuration } from "../stories/transcript.ts";

/** One thing that happened, and the answers to it. */
type Turn = Omit<ForkTurn, "before" | "now"> & { answers: ForkAnswer[] };

/** Answers stand with what they follow; what stands before all else belongs to nothing that is told. */
function turnsOf(lines: readonly StoryLine[]): Turn[] {
  const turns: Turn[] = [];
  for (const line of lines) {
    const answers: ForkAnswer[] = [];
    if (line.who === "time") turns.push({ who: "time", as: null, said: [writeDuration(line.ms)], answers });
    else if (line.who === "owner") turns.push({ who: "owner", as: null, said: [line.text], answers });
    else if (line.who === "user")
      turns.push({ who: "user", as: line.as, said: line.says.map(showSaid), answers });
    else turns.at(-1)?.answers.push({ who: line.who, text: showReply(line.reply) });
  }
  return turns;
}

/**
 * What was answered then beside what is answered now.
 *
 * @param before that of the store, and what is said then
 * @param stored how many lines of it are from the store: what follows was said in the sandbox alone
 * @param now    null: nothing yet
 */
export function besideEachOther(
  before: readonly StoryLine[],
  stored: number,
  now: readonly StoryLine[] | null,
): ForkTurn[] {
  const known = turnsOf(before.slice(0, stored)).length;
  const played = now === null ? null : turnsOf(now);
  return turnsOf(before).map(({ answers, ...turn }, index) => ({
    ...turn,
    before: index < known ? answers : null,
    now: played?.[index]?.answers ?? null,
  }));
}
