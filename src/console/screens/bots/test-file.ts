/** Text that stands between backticks as it is. */
const inBackticks = (text: string): string => text.replaceAll(/[\\`]|\$(?=\{)/g, "\\$&");

const imported = (names: string, file: string): string => `import ${names} from ${JSON.stringify(file)};`;

/**
 * A conversation as a file for vitest, which lies beside the bots: the story is in it, is told again, and what they answer is
 * compared.
 *
 * @param story text of a `.story.yaml`
 * @param bots  ids of those that answered, each a file beside the test
 */
export function testFile(story: string, title: string, bots: readonly string[]): string {
  const names = bots.map((id, index) => ({ id, name: `bot${index + 1}` }));
  const imports = names.map(({ id, name }) => imported(name, `./${id}.ts`));
  const used = names.map(({ id, name }) => `${JSON.stringify(id)}: ${name}`).join(", ");
  return `${imported("{ existsSync, readdirSync, readFileSync }", "node:fs")}
${imported("{ expect, it }", "vitest")}
${imported("{ differenceOf, playStory, readStory }", "parley/testing")}
${imports.join("\n")}

/** What was said, and what is right. */
const STORY = \`${inBackticks(story)}\`;

/** Settings of the bots, when they need some; by id when there are several. */
const config = {};

/** Texts of locales/<language>.json, where there are some. */
const folder = new URL("./locales/", import.meta.url);
const locales = Object.fromEntries(
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((file) => file.endsWith(".json"))
    .map((file) => [file.slice(0, -5), JSON.parse(readFileSync(new URL(file, folder), "utf8"))]),
);

it(${JSON.stringify(title)}, async () => {
  const story = readStory(STORY, "the story of this test");
  const { lines, troubles } = await playStory(story, { ${used} }, { config, locales });
  expect(differenceOf(story.lines, lines)?.lines.join("\\n") ?? "").toBe("");
  expect(troubles).toEqual([]);
});
`;
}
