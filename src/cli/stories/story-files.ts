import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { readStory, type Story } from "../../testing/index.ts";
import type { WorkingBots } from "./working-bots.ts";

/** A story and where it stands. */
export interface StoryFile {
  /** Absolute. */
  path: string;
  /** As messages name it. */
  name: string;
  story: Story;
  /** Who answers in it. */
  bots: string[];
}

const STORY = /\.story\.ya?ml$/;

/**
 * Stories beside the bots.
 *
 * @param wanted files, or ids of bots; none: all stories
 * @throws Error that says how to begin when there is none; {StoryError} when a file is no story
 */
export async function findStories(bots: WorkingBots, wanted: readonly string[]): Promise<StoryFile[]> {
  const beside = (await Promise.all(bots.folders.map(storiesIn))).flat();
  const chosen = wanted.length === 0 ? beside : wanted.flatMap((one) => chosenBy(one, beside, bots));
  if (chosen.length === 0)
    throw new Error(
      `No story in ${bots.folders.join(" or ")}. Record one: npm run parley -- bots record <chat> --out bots/<id>.story.yaml`,
    );
  return Promise.all([...new Set(chosen)].map((path) => openStory(path, bots)));
}

async function storiesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names
    .filter((name) => STORY.test(name) && !/(^|[\\/])node_modules[\\/]/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

function chosenBy(one: string, beside: readonly string[], bots: WorkingBots): string[] {
  if (STORY.test(one)) return [resolve(one)];
  const found = beside.filter((path) => botBeside(path, bots) === one);
  if (found.length > 0) return found;
  throw new Error(`“${one}” is neither a bot with a story nor a file that ends in .story.yaml.`);
}

async function openStory(path: string, bots: WorkingBots): Promise<StoryFile> {
  const name = relative(process.cwd(), path);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${name} cannot be read: ${error.code === "ENOENT" ? "the file does not exist." : error.message}`,
    );
  });
  const story = readStory(text, name);
  const beside = botBeside(path, bots);
  const who = story.bots.length > 0 ? story.bots : beside === null ? [] : [beside];
  if (who.length === 0)
    throw new Error(
      `${name} does not say who answers. Write \`bots: [<id>]\`, or put it beside its bot as <id>.story.yaml.`,
    );
  return { path, name, story, bots: who };
}

/** `clinic.story.yaml` and `clinic.moved.story.yaml` are of `clinic`, and so is what stands in its folder. */
function botBeside(path: string, { folders, ids }: WorkingBots): string | null {
  const folder = folders.find((one) => path.startsWith(join(one, "/")));
  if (folder === undefined) return null;
  const place = relative(folder, path).replaceAll("\\", "/").replace(STORY, "");
  const short = join(dirname(place), basename(place).split(".", 1)[0]!).replaceAll("\\", "/");
  return [place, short, dirname(place)].find((id) => ids.includes(id)) ?? null;
}
