import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

/** Where the simulator's sources are. */
export const SIMULATOR = fileURLToPath(new URL("../../src/simulator/", import.meta.url));

/** Any node of a syntax tree, with the one around it. */
export interface Node {
  type: string;
  start: number;
  up: Node | undefined;
  [key: string]: unknown;
}

/** One file of the simulator. */
export interface Source {
  file: string;
  text: string;
  nodes: Node[];
}

/** Whether a value of a syntax tree is a node. */
export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** How deep names are followed to what they stand for. */
const DEPTH = 12;

function read(file: string): Source {
  const text = readFileSync(join(SIMULATOR, file), "utf8");
  const nodes: Node[] = [];
  const visit = (node: Node, up: Node | undefined): void => {
    node.up = up;
    nodes.push(node);
    for (const [key, value] of Object.entries(node))
      if (key !== "up") for (const one of [value].flat()) if (isNode(one)) visit(one, node);
  };
  visit(parseSync(file, text).program as unknown as Node, undefined);
  return { file, text, nodes };
}

/** All files of the simulator. */
export const sources = readdirSync(SIMULATOR, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .sort()
  .map(read);

/** The sources' files, relative to the simulator's folder. */
export const files = sources.map(({ file }) => file);

/** The name that a node is, if it is one. */
export const nameOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Identifier" ? (node["name"] as string) : undefined;
/** What a call is given. */
export const args = (call: Node): Node[] => call["arguments"] as Node[];
const wordOf = (node: Node): string | undefined =>
  node.type === "Literal" && node["value"] !== null ? String(node["value"]) : undefined;

/** Exported constants of all sources, for names that are imported. */
const constants = new Map(
  sources.flatMap(({ nodes }) =>
    nodes.flatMap((node) =>
      node.type === "VariableDeclarator" && node.up?.up?.type === "ExportNamedDeclaration"
        ? [[nameOf(node["id"]), node["init"] as Node] as const]
        : [],
    ),
  ),
);

/** What a name stands for at a place: an initial value, the values of a loop, or what a parameter is called with. */
function meanings(source: Source, name: string, from: Node): Node[] {
  for (let around = from.up; around; around = around.up) {
    if (around.type === "ForOfStatement") {
      const [declared] = ((around["left"] as Node)["declarations"] ?? []) as Node[];
      if (declared && nameOf(declared["id"]) === name)
        return ground(source, around["right"] as Node).flatMap((list) => (list["elements"] ?? []) as Node[]);
    }
    if (FUNCTIONS.has(around.type)) {
      const index = (around["params"] as Node[]).findIndex((param) => nameOf(param) === name);
      if (index >= 0) return givenTo(source, around, index);
    }
    for (const statement of [around["body"]].flat().filter(isNode)) {
      const declared = ((statement["declarations"] ?? []) as Node[]).find(({ id }) => nameOf(id) === name);
      if (declared) return isNode(declared["init"]) ? [declared["init"]] : [];
    }
  }
  const isImported = source.nodes.some(
    (node) => node.type === "ImportSpecifier" && nameOf(node["local"]) === name,
  );
  return isImported ? [constants.get(name)].filter(isNode) : [];
}

/** The values of a function's parameter: those that its type allows, or those that calls in its file give. */
function givenTo({ nodes }: Source, called: Node, index: number): Node[] {
  const param = (called["params"] as Node[])[index]!;
  const annotation = (param["typeAnnotation"] as Node | null)?.["typeAnnotation"] as Node | undefined;
  const allowed = [annotation?.["types"] ?? annotation ?? []].flat() as Node[];
  const words = allowed.filter(({ type }) => type === "TSLiteralType").map(({ literal }) => literal as Node);
  if (words.length > 0) return words;
  const name = nameOf(called["id"]) ?? nameOf(called.up?.["id"]);
  return nodes.flatMap((node) =>
    node.type === "CallExpression" && nameOf(node["callee"]) === name && args(node)[index]
      ? [args(node)[index]!]
      : [],
  );
}

/** The expressions that a value can be, as far as the file says so. */
export function ground(source: Source, value: Node | undefined, depth = DEPTH): Node[] {
  if (!value || depth === 0) return [];
  const on = (...next: unknown[]): Node[] =>
    next.filter(isNode).flatMap((node) => ground(source, node, depth - 1));
  if (value.type === "Identifier") return on(...meanings(source, value["name"] as string, value));
  if (value.type === "ConditionalExpression") return on(value["consequent"], value["alternate"]);
  if (value.type === "LogicalExpression") return on(value["left"], value["right"]);
  if (value.type.startsWith("TS") && isNode(value["expression"])) return on(value["expression"]);
  return [value];
}

/** The words that a value can be, as far as its file says so. */
export const wordsOf = (source: Source, value: Node | undefined): string[] =>
  ground(source, value).flatMap((node) => wordOf(node) ?? []);

/** The words that a key of an object can have; those of what is spread into it included. */
export function attribute(source: Source, object: Node | undefined, key: string): string[] {
  for (const one of ground(source, object)) {
    for (const property of ((one["properties"] ?? []) as Node[]).toReversed()) {
      if (nameOf(property["key"]) === key) return wordsOf(source, property["value"] as Node);
      const spread =
        property.type === "SpreadElement" ? attribute(source, property["argument"] as Node, key) : [];
      if (spread.length > 0) return spread;
    }
  }
  return [];
}
