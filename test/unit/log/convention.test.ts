import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

/** Every log call there is: an error is handed over whole, as `err`, or its place is lost. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const LEVELS = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);
/** Other names for what has one: `err`, `device` (the record's id), `message` (the id on the wire). */
const OTHER_NAMES =
  /^(?:error|exception|cause|deviceId|device_id|number|sender|own|messageId|message_id|waId)$/;
const CAUGHT = /^(?:e|err|error|caught|failed|failure|thrown|rejection)$/;

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** The node and everything below it, but not what `skip` says. */
function* walk(node: Node, skip: (node: Node) => boolean = () => false): Generator<Node> {
  yield node;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child) && !skip(child)) yield* walk(child, skip);
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return "";
  if (node.type === "MemberExpression") return nameOf(node["property"]);
  if (node.type === "CallExpression") return nameOf(node["callee"]);
  return typeof node["name"] === "string" ? node["name"] : "";
};

/** `log.warn(…)`, `deps.log.warn(…)`, `botLog().warn(…)` */
function isLogCall(node: Node): boolean {
  const callee = node["callee"];
  if (node.type !== "CallExpression" || !isNode(callee) || callee.type !== "MemberExpression") return false;
  return LEVELS.has(nameOf(callee["property"])) && /log(?:ger)?$/i.test(nameOf(callee["object"]));
}

const argumentsOf = (call: Node): Node[] => call["arguments"] as Node[];
const propertiesOf = (call: Node): Node[] => {
  const [fields] = argumentsOf(call);
  if (fields?.type !== "ObjectExpression") return [];
  return (fields["properties"] as Node[]).filter(({ type }) => type === "Property");
};

/** What is wrong with one call, wherever it stands. */
function problemsOf(call: Node): string[] {
  const parts = argumentsOf(call).flatMap((argument) => [...walk(argument)]);
  const taken = parts.filter(
    ({ type, property }) =>
      type === "MemberExpression" && ["message", "name", "stack"].includes(nameOf(property)),
  );
  const misnamed = propertiesOf(call).filter(
    ({ key, value }) => isNode(value) && CAUGHT.test(nameOf(value)) && nameOf(key) !== "err",
  );
  return [
    ...taken.filter((node) => isCaught(node["object"])).map(() => "hands over a part of the error"),
    ...misnamed.map(({ key }) => `calls an error "${nameOf(key)}"`),
  ];
}

/** `error.name`, `(error as Error).name` */
function isCaught(node: unknown): boolean {
  if (!isNode(node)) return false;
  if (node.type === "TSAsExpression" || node.type === "ParenthesizedExpression")
    return isCaught(node["expression"]);
  return node.type === "Identifier" && CAUGHT.test(nameOf(node));
}

/** Where an error is at hand: the block of a `catch`, and what is given to `.catch()`. */
function handlerOf(node: Node): Node | null {
  if (node.type === "CatchClause") return node["body"] as Node;
  if (node.type !== "CallExpression" || nameOf(node["callee"]) !== "catch") return null;
  const [handler] = argumentsOf(node);
  return handler?.type === "ArrowFunctionExpression" ? (handler["body"] as Node) : null;
}

function problemsIn(file: string): string[] {
  const text = readFileSync(file, "utf8");
  if (!/log(?:ger)?(?:\(\))?\.\w+\(/i.test(text)) return [];
  const program = parseAst(text, { lang: "ts" }) as unknown as Node;
  const at = ({ start }: Node): string =>
    `${relative(root, file)}:${text.slice(0, start).split("\n").length}`;
  const found: string[] = [];
  for (const node of walk(program)) {
    if (isLogCall(node) || nameOf(node["callee"]) === "child")
      for (const { key } of propertiesOf(node))
        if (OTHER_NAMES.test(nameOf(key)))
          found.push(`${at(node)} has "${nameOf(key)}", which has another name`);
    if (isLogCall(node)) found.push(...problemsOf(node).map((problem) => `${at(node)} ${problem}`));
    const handler = handlerOf(node);
    if (handler === null) continue;
    for (const call of walk(handler, (below) => handlerOf(below) !== null))
      if (isLogCall(call) && !propertiesOf(call).some(({ key }) => nameOf(key) === "err"))
        found.push(`${at(call)} loses the error`);
  }
  return found;
}

const sources = ["src", "routes", "bots"].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("/simulator/")),
);

describe("log calls", () => {
  it("hand an error over whole, as `err`, and call everything else by its one name", () => {
    expect(
      sources.flatMap(problemsIn),
      "Hand the error over whole, as `err`, and use the names of the convention.",
    ).toEqual([]);
  });

  it("go to the one kind of logger there is", () => {
    const others = sources.filter((file) => /from "pino(?:-pretty)?"/.test(readFileSync(file, "utf8")));
    expect(others.map((file) => relative(root, file))).toEqual(["src/log.ts"]);
  });
});
