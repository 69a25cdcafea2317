import type { ESTree } from "rolldown/utils";
import type { Declared, Source, Span } from "./sources.ts";

/** One line of a section: a field, a method, or one of several things that a type may be. */
export interface Member {
  name: string;
  /** Code, as in the source. */
  signature: string;
  /** Text of its comment, null without one. */
  doc: string | null;
  /** Fields of an object that is written where it stands. */
  members: Member[];
  source: Source;
  /** Where its types are named. */
  node: Span;
}

/** Fields and methods; `null` when the type has none of its own: then its code says all. */
export function membersOf({ source, nodes }: Declared): Member[] | null {
  const [node] = nodes;
  if (node?.type === "TSInterfaceDeclaration") return signatures(source, node.body.body);
  if (node?.type === "TSTypeAliasDeclaration") {
    const { typeAnnotation: type } = node;
    // Another name for a type is not that type once more.
    const made = type.type !== "TSTypeReference" || builtIn(type);
    return (made ? fieldsOf(source, type) : null) ?? choices(source, node);
  }
  if (node?.type === "ClassDeclaration") return classMembers(source, node.body.body);
  if (node?.type === "VariableDeclaration") return objectMembers(source, node.declarations[0]?.init ?? null);
  return null;
}

/** Through `Readonly`, `Pick` and `&`, as far as they are made of types that have fields. */
function fieldsOf(source: Source, type: ESTree.TSType): Member[] | null {
  if (type.type === "TSTypeLiteral") return signatures(source, type.members);
  if (type.type === "TSIntersectionType") {
    const parts = type.types.map((part) => fieldsOf(source, part));
    return parts.every((part) => part !== null) ? parts.flat() : null;
  }
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return null;
  const [first, second] = type.typeArguments?.params ?? [];
  if (type.typeName.name === "Readonly" && first) return fieldsOf(source, first);
  if (type.typeName.name === "Pick" && first && second) {
    const names = keys(second);
    return fieldsOf(source, first)?.filter(({ name }) => names.includes(name)) ?? null;
  }
  const found = source.find(type.typeName.name);
  return found && !("namespace" in found) ? membersOf(found) : null;
}

const builtIn = ({ typeName }: ESTree.TSTypeReference): boolean =>
  typeName.type === "Identifier" && ["Readonly", "Pick"].includes(typeName.name);

function keys(type: ESTree.TSType): string[] {
  if (type.type === "TSUnionType") return type.types.flatMap(keys);
  return type.type === "TSLiteralType" && type.literal.type === "Literal" ? [String(type.literal.value)] : [];
}

/** What a union may be, when comments say something about its parts. */
function choices(source: Source, { typeAnnotation: type }: ESTree.TSTypeAliasDeclaration): Member[] | null {
  if (type.type !== "TSUnionType" || type.types.every((part) => source.docBefore(part) === null)) return null;
  return type.types.map((node) => member(source, node, ""));
}

function signatures(source: Source, all: ESTree.TSSignature[]): Member[] {
  return all.map((node) => {
    if (node.type !== "TSPropertySignature" && node.type !== "TSMethodSignature")
      throw new Error(`${source.path}: a ${node.type} is a member that the reference does not know.`);
    const type = node.type === "TSPropertySignature" ? node.typeAnnotation?.typeAnnotation : undefined;
    const inner = type?.type === "TSTypeLiteral" ? signatures(source, type.members) : [];
    const told = inner.some(({ doc }) => doc !== null);
    return {
      ...member(source, node, source.code(node.key)),
      ...(told && {
        members: inner,
        signature: `${source.code({ start: node.start, end: type!.start })} { … }`,
      }),
    };
  });
}

function classMembers(source: Source, all: ESTree.ClassElement[]): Member[] {
  return all.flatMap((node) => {
    if (node.type !== "MethodDefinition" && node.type !== "PropertyDefinition")
      throw new Error(`${source.path}: a ${node.type} is a member that the reference does not know.`);
    if (
      node.key.type === "PrivateIdentifier" ||
      (node.type === "MethodDefinition" && node.kind === "constructor")
    )
      return [];
    return [member(source, node, source.code(node.key), bodyOf(node.value)?.start)];
  });
}

function objectMembers(source: Source, value: ESTree.Expression | null): Member[] | null {
  if (value?.type !== "ObjectExpression") return null;
  return value.properties.map((node) => {
    if (node.type !== "Property" || node.value.type !== "FunctionExpression")
      throw new Error(`${source.path}: objects that are exported have methods only.`);
    return member(source, node, source.code(node.key), bodyOf(node.value)?.start);
  });
}

const bodyOf = (value: ESTree.Expression | null): Span | null =>
  value?.type === "FunctionExpression" ? (value.body ?? null) : null;

function member(source: Source, node: Span, name: string, end: number = node.end): Member {
  const span = { start: node.start, end };
  return { name, signature: source.code(span), doc: source.docBefore(node), members: [], source, node };
}

/** The head of a declaration: all but the members, which are listed below it, and but bodies. */
export function headOf(declared: Declared): string {
  const { source, nodes } = declared;
  const listed = membersOf(declared) !== null;
  // The last of several is the implementation, which nobody can call.
  const shown = nodes.length > 1 ? nodes.filter(({ type }) => type === "TSDeclareFunction") : nodes;
  const heads = shown.map((node) => {
    if (node.type === "TSInterfaceDeclaration" || node.type === "ClassDeclaration")
      return source.code({ start: node.start, end: node.body.start });
    if (node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction")
      return source.code({ start: node.start, end: node.body?.start ?? node.end }).replace(/^async /, "");
    if (node.type === "VariableDeclaration") return `const ${declared.name}`;
    if (node.type !== "TSTypeAliasDeclaration") throw new Error(`cannot document a ${node.type}.`);
    const { start, typeAnnotation: type } = node;
    return source
      .code(listed && type.type !== "TSTypeReference" ? { start, end: type.start } : node)
      .replace(/ =(?:\s*\|)?$/, "");
  });
  return heads.join("\n");
}
