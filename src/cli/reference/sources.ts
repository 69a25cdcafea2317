import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync, type ESTree } from "rolldown/utils";

type Statement = ESTree.Program["body"][number];
type Import = Extract<Statement, { type: "ImportDeclaration" }>;
/** Statements that declare something with a name. */
export type DeclarationNode =
  | ESTree.TSInterfaceDeclaration
  | ESTree.TSTypeAliasDeclaration
  | ESTree.Function
  | ESTree.Class
  | ESTree.VariableDeclaration;
/** Anything of the source with a place in it. */
export interface Span {
  start: number;
  end: number;
}

/** Something with a name, where it is declared. A function has a node for each overload. */
export interface Declared {
  source: Source;
  name: string;
  nodes: DeclarationNode[];
  /** Text of the comment in front of it, null without one. */
  doc: string | null;
}
/** All that one file exports, under one name: `export * as fields`. */
export interface Namespace {
  source: Source;
  namespace: true;
  doc: string | null;
}
/** What an exported name stands for: a declaration, or a whole file. */
export type Found = Declared | Namespace;

const KINDS = new Set<string>([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "FunctionDeclaration",
  "TSDeclareFunction",
  "ClassDeclaration",
  "VariableDeclaration",
]);

/** One file of TypeScript: its declarations, its exports, and its comments by place. */
export class Source {
  readonly path: string;
  readonly #text: string;
  readonly #program: ESTree.Program;
  readonly #comments: (Span & { value: string; type: string })[];
  readonly #load: (path: string) => Source;

  constructor(path: string, load: (path: string) => Source) {
    this.path = path;
    this.#text = readFileSync(path, "utf8");
    this.#load = load;
    const { program, comments, errors } = parseSync(path, this.#text);
    if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
    this.#program = program;
    this.#comments = comments;
  }

  /** By name, what the file exports, in the order in which it does. */
  exports(): Map<string, Found> {
    const all = new Map<string, Found>();
    for (const statement of this.#program.body) {
      if (statement.type === "ExportDefaultDeclaration") this.#fail("a default export", statement);
      if (statement.type === "ExportAllDeclaration") {
        const source = this.#sibling(statement.source.value);
        if (statement.exported) {
          all.set(nameOf(statement.exported), { source, namespace: true, doc: this.docBefore(statement) });
        } else for (const [name, found] of source.exports()) all.set(name, found);
      }
      if (statement.type !== "ExportNamedDeclaration") continue;
      const from = statement.source ? this.#sibling(statement.source.value) : null;
      for (const { local, exported } of statement.specifiers) {
        const found = from ? from.exports().get(nameOf(local)) : this.find(nameOf(local));
        if (!found) this.#fail(`${nameOf(local)}, which is not there`, statement);
        all.set(nameOf(exported), found);
      }
      if (!statement.declaration) continue;
      const name = declaredName(statement.declaration);
      const found = name === null ? null : this.find(name);
      if (!found) this.#fail(`an export of a kind that the reference does not know`, statement);
      all.set(name!, found);
    }
    return all;
  }

  /** What a name means in this file, if it is Parley's own: declared here, or imported by a relative path. */
  find(name: string): Found | null {
    const nodes: DeclarationNode[] = [];
    let doc: string | null = null;
    for (const statement of this.#program.body) {
      if (statement.type === "ImportDeclaration") {
        const found = this.#imported(statement, name);
        if (found) return found;
      }
      const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (!node || declaredName(node) !== name) continue;
      nodes.push(node as DeclarationNode);
      doc ??= this.docBefore(statement);
    }
    return nodes.length > 0 ? { source: this, name, nodes, doc } : null;
  }

  /** The doc comment that ends right in front of a node: no empty line stands between them. */
  docBefore({ start }: Span): string | null {
    const before = this.#comments.filter(({ end }) => end <= start);
    let place = start;
    for (const comment of before.toReversed()) {
      if (!/^[ \t]*\n?[ \t]*(?:\|[ \t]*)?$/.test(this.#text.slice(comment.end, place))) return null;
      if (comment.type === "Block" && comment.value.startsWith("*")) return comment.value;
      place = comment.start;
    }
    return null;
  }

  /** The code of a place, formatted as in the file, without comments. */
  code({ start, end }: Span): string {
    let text = this.#text.slice(start, end);
    const inside = this.#comments.filter((comment) => comment.start >= start && comment.end <= end);
    for (const comment of inside.toReversed()) {
      const [from, to] = [comment.start - start, comment.end - start];
      text = text.slice(0, from).replace(/\n?[ \t]*$/, "") + text.slice(to);
    }
    const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(this.#text.slice(0, start))![1]!;
    return text.replaceAll(`\n${indent}`, "\n").trim();
  }

  #imported({ specifiers, source }: Import, name: string): Found | null {
    if (!source.value.startsWith(".")) return null;
    for (const specifier of specifiers) {
      if (specifier.type !== "ImportSpecifier" || specifier.local.name !== name) continue;
      return this.#sibling(source.value).exports().get(nameOf(specifier.imported)) ?? null;
    }
    return null;
  }

  #sibling(target: string): Source {
    if (!target.startsWith("."))
      throw new Error(`${this.path}: exports what "${target}" has; that has no source here.`);
    return this.#load(join(dirname(this.path), target));
  }

  #fail(what: string, { start }: Span): never {
    const line = this.#text.slice(0, start).split("\n").length;
    throw new Error(`${relative(process.cwd(), this.path)}:${line}: cannot document ${what}.`);
  }
}

/** Reads each file once. */
export function sourceReader(): (path: string) => Source {
  const read = new Map<string, Source>();
  return function load(path) {
    const source = read.get(path) ?? new Source(path, load);
    read.set(path, source);
    return source;
  };
}

const nameOf = (name: ESTree.ModuleExportName): string => (name.type === "Literal" ? name.value : name.name);

function declaredName(node: Statement): string | null {
  if (!KINDS.has(node.type)) return null;
  if (node.type === "VariableDeclaration") {
    const [first, ...more] = node.declarations;
    return first?.id.type === "Identifier" && more.length === 0 ? first.id.name : null;
  }
  return "id" in node && node.id?.type === "Identifier" ? node.id.name : null;
}
