import type { Happened } from "../../path/happened.ts";
import { anonymise } from "./anonymise.ts";
import { storyOf } from "./record.ts";
import type { Story } from "./story.ts";
import { writeStory } from "./write.ts";

/** A stored conversation as a story, with the names that stand in it. */
export interface StoredStory {
  chat: string;
  story: Story;
  /** Names as WhatsApp showed them, the one who wrote first at the front. */
  names: string[];
}

/** Shorter pauses are not worth a line. */
const SHORTEST_PAUSE_MS = 30_000;

/** @param chat its canonical key */
export function tellStory(chat: string, happened: readonly Happened[]): StoredStory {
  const isGroup = chat.endsWith("@g.us");
  const story = storyOf(happened, { shortestPauseMs: SHORTEST_PAUSE_MS, isGroup }, "");
  const names = happened.flatMap((one) =>
    one.kind === "came" && !one.message.fromMe && one.message.pushName !== "" ? [one.message.pushName] : [],
  );
  const members = [
    ...new Set(story.lines.flatMap((line) => (line.who === "user" && line.as !== null ? [line.as] : []))),
  ];
  const [person] = names;
  return {
    chat,
    names: [...new Set(names)],
    story: {
      ...story,
      ...(isGroup ? { group: { name: chat, members } } : person !== undefined && { person }),
    },
  };
}

/** A stored conversation as the text of a story, without the people it was with. @param replace other words to replace */
export function storyText(
  { story, names }: Pick<StoredStory, "story" | "names">,
  title: string,
  replace: Readonly<Record<string, string>> = {},
): string {
  return writeStory(anonymise({ ...story, title }, { names, replace }));
}
