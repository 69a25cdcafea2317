/** A doc comment in its parts. Text is Markdown; `{@link X}` still stands in it. */
export interface Doc {
  text: string;
  params: { name: string; text: string }[];
  returns: string | null;
  throws: string | null;
  example: string | null;
}

const TAG = /(?:^|\s)@(param|returns|throws|example)\s+/;

/**
 * @param comment what stands between the slashes of a doc comment
 * @throws {Error} for a tag that it does not know
 */
export function readDoc(comment: string): Doc {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim());
  const [text = "", ...parts] = lines.join("\n").trim().split(TAG);
  const doc: Doc = { text: text.trim(), params: [], returns: null, throws: null, example: null };
  for (let index = 0; index < parts.length; index += 2) {
    const value = parts[index + 1]!.trim();
    const tag = parts[index] as "param" | "returns" | "throws" | "example";
    if (tag === "param") {
      const [name = "", ...words] = value.split(/\s+/);
      doc.params.push({ name, text: words.join(" ") });
    } else doc[tag] = value;
  }
  const unknown = lines.find((line) => /^@(?!param|returns|throws|example)/.test(line));
  if (unknown !== undefined) throw new Error(`"${unknown}" is a tag that the reference does not know.`);
  return doc;
}

/** The doc as paragraphs and lists of Markdown. */
export function writeDoc(doc: Doc, link: (name: string) => string): string {
  const text = (markdown: string): string => linked(escaped(markdown), link);
  const facts = [
    ...doc.params.map((param) => `- ${code(param.name)}: ${text(param.text)}`),
    ...(doc.returns === null ? [] : [`- Returns ${text(doc.returns)}`]),
    ...(doc.throws === null
      ? []
      : [`- Throws ${text(doc.throws.replace(/\{(\w+)\}/g, "`$1`")).replace(/^(`\w+`) /, "$1: ")}`]),
  ];
  return [
    text(doc.text),
    facts.map((fact) => fact.replaceAll("\n", " ")).join("\n"),
    doc.example === null ? "" : block(doc.example),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Code within a line. */
export function code(text: string): string {
  const fence = text.includes("`") ? "``" : "`";
  return `${fence}${text}${fence}`;
}

/** Code as a paragraph of its own. */
export const block = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``;

/** Text within a list item: what follows its first line stands two spaces in. */
export const indented = (text: string): string => text.replaceAll(/\n(?=[^\n])/g, "\n  ");

/** One line of code, however the formatter has broken it. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/([(<[]) /g, "$1")
    .replaceAll(/,? ([)\]])/g, "$1")
    .replaceAll(/: \| /g, ": ")
    .replace(/[;,]$/, "");

const escaped = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("*", "\\*").replaceAll("<", "&lt;")))
    .join("");

const linked = (text: string, link: (name: string) => string): string =>
  text.replaceAll(/\{@link (\w+)\}/g, (_found, name: string) => link(name));
