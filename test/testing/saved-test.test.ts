import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { testFile } from "../../src/console/screens/bots/test-file.ts";
import { removeFolder } from "../_setup/folders.ts";

/**
 * The file that the console gives away is written beside a bot, and loaded here: the test that it declares is a test of this
 * file. Its story is one that bots are known to answer as it says, with everything in it that a template would read otherwise.
 */
const root = repositoryRoot();
const folder = join(root, ".test", `saved-${process.pid}`);
mkdirSync(join(folder, "locales"), { recursive: true });
afterAll(() => removeFolder(folder));

writeFileSync(
  join(folder, "menu.ts"),
  `export { default } from ${JSON.stringify(join(root, "bots", "menu.ts"))};\n`,
);
writeFileSync(join(folder, "locales", "en.json"), readFileSync(join(root, "bots", "locales", "en.json")));
const story = readFileSync(join(root, "bots", "menu.story.yaml"), "utf8").replace(
  /^story: .*$/m,
  () => 'story: "`${process.exit(1)}` \\\\ and 30 € of $HOME"',
);
const file = join(folder, "conversation.test.ts");
writeFileSync(file, testFile(story, 'is answered as it "was" saved', ["menu"]));

await import(/* @vite-ignore */ pathToFileURL(file).href);
