import { join } from "node:path";
import { block, code, indented, oneLine, readDoc, writeDoc } from "./markdown.ts";
import { headOf, membersOf, type Member } from "./members.ts";
import { namedTypes } from "./named-types.ts";
import { sourceReader, type Declared, type Found, type Namespace } from "./sources.ts";

/** What bot authors import: the name of the module, and its source. */
export const MODULES = {
  parley: "src/bot/index.ts",
  "parley/testing": "src/testing/index.ts",
} as const;

const INTRODUCTION = `# Reference

Everything that \`parley\` and \`parley/testing\` export, with its doc comments. [Writing a bot](bots.md) explains it with examples.
\`npm run docs:bots\` generates this page from the sources.
`;

interface Section {
  title: string;
  found: Found;
}
interface Chapter {
  title: string;
  text: string;
  sections: Section[];
}

/**
 * The reference of the bot framework, as Markdown.
 *
 * @param root folder of the repository
 * @throws {Error} with everything that has no doc comment, or that cannot be documented
 */
export function writeReference(root: string): string {
  const chapters = collect(root);
  const titles = chapters.flatMap(({ title, sections }) => [
    title,
    ...sections.map((section) => section.title),
  ]);
  const anchors = anchorsOf(["Reference", ...titles]);
  const places = new Map<string, string>();
  const problems: string[] = [];
  const sections = chapters.flatMap((chapter) => chapter.sections);
  // Slot 0 of the anchors is the page's own title; a chapter takes one before its sections.
  let slot = 1;
  for (const chapter of chapters) {
    slot++;
    for (const { title, found } of chapter.sections)
      places.set(keyOf(found), `[${title}](#${anchors[slot++]!})`);
  }
  const linkTo = (found: Found | null | undefined): string | undefined =>
    found ? places.get(keyOf(found)) : undefined;

  const parts = chapters.map(({ title, text, sections }) => {
    const written = sections.map((section) => {
      try {
        return writeSection(section, linkTo);
      } catch (error) {
        problems.push(`${section.title}: ${(error as Error).message}`);
        return "";
      }
    });
    return [`## ${title}`, text, ...written].join("\n\n");
  });
  for (const { title, found } of sections)
    if (found.doc === null) problems.push(`${title} (${found.source.path}) has no doc comment.`);
  if (problems.length > 0) throw new Error(`The reference cannot be written:\n${problems.join("\n")}`);
  return `${[INTRODUCTION.trimEnd(), ...parts].join("\n\n")}\n`;
}

/** Chapters of the modules, then one of the types that their signatures name without exporting them. */
function collect(root: string): Chapter[] {
  const load = sourceReader();
  const seen = new Set<string>();
  const sectionsOf = (all: Iterable<[string, Found]>, prefix: string): Section[] =>
    [...all].flatMap(([name, found]) => {
      if (seen.has(keyOf(found))) return [];
      seen.add(keyOf(found));
      const title = `${prefix}${name}`;
      const inner = "namespace" in found ? found.source.exports() : [];
      return [{ title, found }, ...sectionsOf(inner, `${title}.`)];
    });
  // What a module exports itself goes before what a namespace of it holds.
  const chapters = Object.entries(MODULES).map(([title, path]) => {
    const exported = [...load(join(root, path)).exports()];
    const plain = sectionsOf(
      exported.filter(([, found]) => !("namespace" in found)),
      "",
    );
    const spaces = sectionsOf(
      exported.filter(([, found]) => "namespace" in found),
      "",
    );
    return { title, text: code(`import { … } from "${title}"`), sections: [...plain, ...spaces] };
  });
  const further: Section[] = [];
  const queue = chapters.flatMap(({ sections }) => sections);
  for (const { found } of queue) {
    if ("namespace" in found) continue;
    const named = namedTypes(found).filter(
      (type): type is Declared => "name" in type && type.name !== found.name,
    );
    const added = sectionsOf(
      named.map((type): [string, Found] => [type.name, type]),
      "",
    );
    further.push(...added);
    queue.push(...added);
  }
  further.sort((one, other) => one.title.localeCompare(other.title, "en"));
  const text = "Types that the signatures above use. They are not exported.";
  return [...chapters, { title: "Further types", text, sections: further }];
}

function writeSection(
  { title, found }: Section,
  linkTo: (found: Found | null | undefined) => string | undefined,
): string {
  const link = (name: string): string => {
    const target = linkTo(found.source.find(name) ?? found.source.exports().get(name));
    if (target === undefined) throw new Error(`{@link ${name}} leads nowhere.`);
    return target;
  };
  const doc = found.doc === null ? "" : writeDoc(readDoc(found.doc), link);
  if ("namespace" in found) return [`### ${title}`, doc, holds(found, linkTo)].join("\n\n");
  const types = namedTypes(found).flatMap((type) =>
    keyOf(type) === keyOf(found) ? [] : (linkTo(type) ?? []),
  );
  const head = headOf(found);
  return [
    `### ${title}`,
    // A name alone says no more than the heading.
    /^(?:interface|const|type) \w+$/.test(head) ? "" : block(head),
    doc,
    (membersOf(found) ?? []).map((member) => writeMember(member, link)).join("\n"),
    types.length > 0 ? `See ${[...new Set(types)].join(", ")}.` : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function writeMember({ signature, doc, members }: Member, link: (name: string) => string): string {
  const text = doc === null ? "" : writeDoc(readDoc(doc), link).replace("\n\n- ", "\n- ");
  const inner = members.map((member) => writeMember(member, link)).join("\n");
  // A list begins on a line of its own; a text goes on behind the code.
  const gap = text === "" ? "" : text.startsWith("- ") ? ":\n" : ": ";
  const line = `- ${code(oneLine(signature))}${gap}${text}`;
  return indented(inner === "" ? line : `${line}\n${inner}`);
}

function holds({ source }: Namespace, linkTo: (found: Found) => string | undefined): string {
  const links = [...source.exports().values()].map((found) => linkTo(found));
  return `Holds ${links.join(", ")}.`;
}

const keyOf = (found: Found): string => `${found.source.path} ${"name" in found ? found.name : "*"}`;

/** As GitHub makes them of headings: the second of the same name gets a number. */
function anchorsOf(titles: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return titles.map((title) => {
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
