import { args, attribute, ground, isNode, nameOf, sources, wordsOf } from "./_syntax.ts";
import type { Node, Source } from "./_syntax.ts";

/** Something that the simulator's sources say it does: its name in `docs/simulator-truth.md`, and the place. */
export interface Written {
  name: string;
  /** `server/calls/calls.ts:34` */
  at: string;
}

const isElement = (node: Node): boolean =>
  node.type === "CallExpression" && nameOf(node["callee"]) === "element";

/** Children that say more by their `type` than by their tag. */
const TYPED = new Set(["conflict", "dirty"]);

/** Tags of a stanza's direct children: `add`, `conflict replaced`. */
const childrenOf = (source: Source, call: Node): string[] =>
  ground(source, args(call)[2])
    .flatMap((list) => (list["elements"] ?? []) as Node[])
    .flatMap((node) => ground(source, node))
    .filter(isElement)
    .flatMap((child) => {
      const types = attribute(source, args(child)[1], "type");
      return wordsOf(source, args(child)[0]).flatMap((tag) =>
        TYPED.has(tag) && types.length > 0 ? types.map((type) => `${tag} ${type}`) : [tag],
      );
    });

/** What tells stanzas of a tag from each other. */
const KINDS: Record<string, (source: Source, call: Node) => string[]> = {
  notification(source, call) {
    const types = attribute(source, args(call)[1], "type");
    const inner = childrenOf(source, call).filter((tag) => !types.includes(tag));
    // Of several types written in one place nothing says which child belongs to which.
    return types.length === 1 && inner.length > 0 ? inner.map((tag) => `${types[0]} ${tag}`) : types;
  },
  "stream:error": (source, call) => [
    ...attribute(source, args(call)[1], "code"),
    ...childrenOf(source, call),
  ],
  failure: (source, call) => attribute(source, args(call)[1], "reason"),
  ack: (source, call) => attribute(source, args(call)[1], "class"),
  presence: (source, call) => attribute(source, args(call)[1], "type"),
  receipt: (source, call) => attribute(source, args(call)[1], "type"),
  ib: childrenOf,
  iq: (source, call) => childrenOf(source, call).filter((tag) => tag !== "error"),
  message: () => [],
  call: () => [],
  chatstate: () => [],
  success: () => [],
  xmlstreamend: () => [],
};

/** @throws when a notification's type cannot be read off the sources */
function stanzas(source: Source, call: Node, at: string): Written[] {
  return wordsOf(source, args(call)[0]).flatMap((tag) => {
    const kinds = KINDS[tag]?.(source, call);
    if (!kinds) return [];
    if (kinds.length === 0 && tag === "notification")
      throw new Error(`${at}: write the type of this notification so that it can be read here, as a literal`);
    if (kinds.length === 0 && tag === "iq") return [];
    const names = kinds.length > 0 ? kinds.map((kind) => `out ${tag} ${kind}`) : [`out ${tag}`];
    return names.map((name) => ({ name, at }));
  });
}

const IS_SERVICE = /^(server|faults)\//;
const IS_ANSWER = /^server\/iq\//;

function writtenAt(source: Source, node: Node): Written[] {
  const { file, text } = source;
  const at = `${file}:${text.slice(0, node.start).split("\n").length}`;
  const named = (words: string[], what: string): Written[] =>
    words.map((word) => ({ name: `${what} ${word}`, at }));
  const callee = node["callee"];
  if (node.type === "NewExpression" && nameOf(callee) === "IqError")
    return named(wordsOf(source, args(node)[0]), "iq error");
  if (node.type === "CallExpression" && isNode(callee) && nameOf(callee["property"]) === "report")
    return named(wordsOf(source, args(node)[0]), "violation");
  if (node.type === "CallExpression" && nameOf(callee) === "reportViolation")
    return named(wordsOf(source, args(node)[1]), "violation");
  if (node.type === "Property" && nameOf(node["key"]) === "rule")
    return named(wordsOf(source, node["value"] as Node), "violation");
  if (!IS_SERVICE.test(file)) return [];
  if (isElement(node)) return stanzas(source, node, at);
  if (
    node.type === "Literal" &&
    file.startsWith("server/iq/mex/") &&
    String(node["value"]).startsWith("xwa2_")
  )
    return named([String(node["value"])], "mex");
  const isOutcome = node.type === "Property" && nameOf(node["key"]) === "error" && !IS_ANSWER.test(file);
  return isOutcome
    ? named(
        wordsOf(source, node["value"] as Node).filter((word) => /^\d{3}$/.test(word)),
        "ack error",
      )
    : [];
}

/** Everything that the sources write: stanzas, errors, violations, answers to queries. Each name once. */
export function written(): Written[] {
  const found = sources.flatMap((source) => source.nodes.flatMap((node) => writtenAt(source, node)));
  return [...new Map(found.toReversed().map((one) => [one.name, one])).values()].toReversed();
}

/** The keys of an object, or the names in a list, that is a constant of a file. @throws when there is none */
export function keysOf(file: string, constant: string): Written[] {
  const { nodes } = sources.find((one) => one.file === file)!;
  const found = nodes.find((node) => node.type === "VariableDeclarator" && nameOf(node["id"]) === constant);
  const value = found?.["init"] as Node | undefined;
  const names = ((value?.["properties"] ?? value?.["elements"] ?? []) as Node[]).flatMap(
    (one) => nameOf(one["key"] ?? one) ?? [],
  );
  if (names.length === 0) throw new Error(`${file}: no ${constant} whose names can be read`);
  return names.map((name) => ({ name, at: file }));
}
