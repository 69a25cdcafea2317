import type { Declared, Found, Source, Span } from "./sources.ts";
import { membersOf } from "./members.ts";

/** What a declaration names of Parley's own, in the order in which it stands there. */
export function namedTypes(declared: Declared): Found[] {
  const found = new Map<string, Found>();
  const add = (source: Source, node: unknown): void => {
    for (const name of names(node)) {
      const type = source.find(name);
      if (type) found.set(`${type.source.path} ${"name" in type ? type.name : "*"}`, type);
    }
  };
  const members = membersOf(declared);
  for (const node of declared.nodes) {
    if (node.type === "TSInterfaceDeclaration") add(declared.source, [node.typeParameters, node.extends]);
    else if (node.type === "ClassDeclaration") add(declared.source, node.superClass);
    else if (!members && "params" in node)
      add(declared.source, [node.typeParameters, node.params, node.returnType]);
    else if (!members && "typeAnnotation" in node) add(declared.source, node.typeAnnotation);
  }
  for (const { source, node } of members ?? []) add(source, withoutBody(node));
  return [...found.values()];
}

const withoutBody = (node: Span): unknown => {
  const { value, ...rest } = node as Span & { value?: { params?: unknown; returnType?: unknown } };
  return [rest, value?.params, value?.returnType];
};

function names(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(names);
  if (typeof node !== "object" || node === null) return [];
  const { type, typeName, exprName, expression, ...rest } = node as Record<string, unknown>;
  const named = type === "TSTypeReference" ? typeName : type === "TSTypeQuery" ? exprName : expression;
  const { name } = (named ?? {}) as { name?: unknown };
  return [...(typeof name === "string" ? [name] : names(named)), ...Object.values(rest).flatMap(names)];
}
