import { loadConfig } from "../config.ts";
import { findNumber, storedChat } from "../cli/stories/stored.ts";
import { storyText, writeStoryFile } from "../cli/stories/written.ts";
import type { Conversation } from "./conversation.ts";
import { openReadOnly } from "../store/file/read-only.ts";

const COMMAND = "/story";
const MOST_MESSAGES = 1000;

/** Where a conversation is kept. */
export interface Chat {
  /** Of its gateway. */
  dataDir: string;
  /** Digits, or the address of a LID or a group. */
  contact: string;
}

/**
 * Reads `/story <file> [title]`, which a person may type instead of a message: the conversation so far becomes a story.
 *
 * @returns what to say then; null when it is a message
 * @throws Error when the file cannot be written, or stands there already
 */
async function saveStory(typed: string, { dataDir, contact }: Chat): Promise<string | null> {
  const [command, file, ...title] = typed.split(" ").filter((word) => word !== "");
  if (command !== COMMAND) return null;
  if (file === undefined || !/\.story\.ya?ml$/.test(file))
    throw new Error("Name a file: /story bots/menu.story.yaml, with an optional title after it.");
  await writeStoryFile(file, await storyOfChat({ dataDir, contact }, title.join(" ")));
  return `${file} has the conversation so far. Run it: ${replayCommand(file)}`;
}

/** How a story is run. */
export const replayCommand = (file: string): string => `npm run parley -- bots replay ${file}`;

/** The text of a story of a conversation so far. @throws Error when nobody has written in it */
export async function storyOfChat({ dataDir, contact }: Chat, title: string): Promise<string> {
  const store = await openReadOnly(loadConfig({ DATA_DIR: dataDir }));
  try {
    const number = await findNumber(store, undefined);
    const stored = await storedChat(store, number, contact, { since: 0, limit: MOST_MESSAGES });
    return storyText(stored, title);
  } finally {
    store.close();
  }
}

/** What a person types: a message, or `/story`. @param say shows a row */
export async function takeTyped(
  text: string,
  conversation: Pick<Conversation, "say">,
  chat: Chat,
  say: (row: string) => void,
): Promise<void> {
  try {
    const saved = await saveStory(text, chat);
    if (saved === null) await conversation.say(text);
    else say(saved);
  } catch (error) {
    say((error as Error).message);
  }
}
