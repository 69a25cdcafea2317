import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { RegExpParser, visitRegExpAST, type AST } from "@eslint-community/regexpp";
import {
  getFirstConsumedChar,
  isPotentiallyEmpty,
  toCharSet,
  type ReadonlyFlags as Flags,
  type ToCharSetElement,
} from "regexp-ast-analysis";
import { parseSync, Visitor, type ESTree } from "rolldown/utils";
import { analyse } from "scslre";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A regular expression in the sources, and where it stands. */
export interface Expression {
  /** From the root, with `/`. */
  file: string;
  line: number;
  /** As it is written. */
  raw: string;
  /** The expression itself; null when the code puts it together at run time. */
  literal: string | null;
}

/** Every expression below these folders: literals, `new RegExp(…)`, `RegExp(…)`, and texts that `match` and `search` make one of. */
export function findExpressions(folders: readonly string[]): Expression[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.[mc]?[jt]s$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .flatMap((path) =>
        expressionsOf(relative(root, path).replaceAll("\\", "/"), readFileSync(path, "utf8")),
      ),
  );
}

/** @throws {Error} when the source cannot be parsed: what is not read is not examined */
export function expressionsOf(file: string, text: string): Expression[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: Expression[] = [];
  const note = (node: ESTree.Node): void => {
    const literal = madeBy(node, text);
    if (literal === undefined) return;
    const line = text.slice(0, node.start).split("\n").length;
    found.push({ file, line, raw: text.slice(node.start, node.end), literal });
  };
  new Visitor({ Literal: note, NewExpression: note, CallExpression: note }).visit(program);
  return found;
}

/** The literal that a node is or makes; null when only the running code knows it, undefined when the node makes none. */
function madeBy(node: ESTree.Node, text: string): string | null | undefined {
  if (node.type === "Literal" && "regex" in node) return text.slice(node.start, node.end);
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  const { callee } = node;
  if (callee.type === "Identifier" && callee.name === "RegExp") return null;
  const method =
    callee.type === "MemberExpression" && callee.property.type === "Identifier" ? callee.property.name : "";
  const [first] = node.arguments;
  // A text is made an expression here, and nowhere else.
  const isText = first?.type === "TemplateLiteral" || (first?.type === "Literal" && !("regex" in first));
  return ["match", "matchAll", "search"].includes(method) && isText ? null : undefined;
}

/**
 * What can make an expression slower than its text is long.
 *
 * Three examinations, none of which knows the text: scslre finds every repeated character that can be shared out among
 * quantifiers, or walked over again from each start. What it cannot see are repeated *words*: so a quantifier without end
 * around a group is named, and one that can run over further beginnings of the expression before it is refused.
 *
 * @param literal with slashes and flags
 * @returns one line for each, none when it is linear
 */
export function slowPartsOf(literal: string): string[] {
  try {
    return [...new Set(examine(literal))];
  } catch (error) {
    // Newer syntax than the examination knows (`v`): what cannot be examined is not used on foreign text.
    return [`cannot be examined: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function examine(literal: string): string[] {
  const ast = new RegExpParser().parseLiteral(literal);
  const flags = ast.flags as Flags;
  const { reports } = analyse(ast);
  const found = reports.map(
    ({ type, exponential }) => `${exponential ? "exponential" : "quadratic"}: ${type}`,
  );
  visitRegExpAST(ast, {
    onQuantifierEnter(quantifier) {
      if (quantifier.max !== Infinity) return;
      if (!isCharacter(quantifier.element)) found.push(`repeats a group: ${quantifier.raw}`);
      else if (runsOverBeginnings(quantifier, ast.pattern, flags))
        found.push(`runs over further beginnings: ${quantifier.raw}`);
    },
  });
  return found;
}

type Single = AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass;
const isCharacter = (element: AST.QuantifiableElement): element is Single =>
  ["Character", "CharacterClass", "CharacterSet", "ExpressionCharacterClass"].includes(element.type);

/**
 * `<!--[^]*?-->` on `<!--<!--<!--…`: each beginning walks to the end and fails there. It cannot happen where the expression
 * begins at one place only, or where something that must stand before the quantifier is nothing that it takes.
 */
function runsOverBeginnings(
  quantifier: AST.Quantifier,
  { alternatives }: AST.Pattern,
  flags: Flags,
): boolean {
  if (isWithinLookbehind(quantifier)) return true;
  if (!canFailBehind(quantifier)) return false;
  const eaten = setOf(quantifier.element as Single, flags);
  const isStop = (element: AST.Element): boolean => {
    if (element.type === "Quantifier")
      return element.min > 0 && isCharacter(element.element) && isStop(element.element);
    if (element.type === "Assertion")
      return element.kind === "start" && (!flags.multiline || !eaten.has("\n".codePointAt(0)!));
    return isCharacter(element) && setOf(element, flags).isDisjointWith(eaten);
  };
  if (before(quantifier).some(isStop)) return false;
  if (isWithinLookaround(quantifier)) return true;
  const whole = alternatives.find(({ start, end }) => start <= quantifier.start && quantifier.end <= end)!;
  return !getFirstConsumedChar(whole, "ltr", flags).char.isDisjointWith(eaten);
}

/** What must have been read before a node is, on every way to it. */
function before(node: AST.Element): AST.Element[] {
  const { parent } = node;
  if (parent.type === "Quantifier") return before(parent);
  if (parent.type !== "Alternative") return [];
  const beside = parent.elements.slice(0, parent.elements.indexOf(node));
  return parent.parent.type === "Pattern" ? beside : [...before(parent.parent as AST.Element), ...beside];
}

/** Whether something behind the node, at any level above it, may refuse. */
function canFailBehind(node: AST.Element): boolean {
  const { parent } = node;
  if (parent.type === "Quantifier") return canFailBehind(parent);
  if (parent.type !== "Alternative") return true;
  const behind = parent.elements.slice(parent.elements.indexOf(node) + 1);
  if (behind.some((element) => element.type === "Assertion" || !isPotentiallyEmpty(element, {} as Flags)))
    return true;
  return parent.parent.type !== "Pattern" && canFailBehind(parent.parent as AST.Element);
}

function isWithinLookbehind(node: AST.Node): boolean {
  if (node.type === "Assertion" && node.kind === "lookbehind") return true;
  return node.parent !== null && isWithinLookbehind(node.parent);
}

function isWithinLookaround(node: AST.Node): boolean {
  if (node.type === "Assertion") return true;
  return node.parent !== null && isWithinLookaround(node.parent);
}

const setOf = (element: Single, flags: Flags) => toCharSet(element as ToCharSetElement, flags);
