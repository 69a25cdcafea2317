import { readFileSync } from "node:fs";

/** The tables of docs/migrating.md: what a call of another gateway is here, and what its fields are called. */

const PAGE = new URL("../../docs/migrating.md", import.meta.url);

interface Row {
  method: string;
  /** Path with the other gateway's names in braces; of ours with the names of its fields. */
  path: string;
  own: { method: string; path: string };
  renamed: [from: string, to: string][];
  set: [to: string, value: string][];
}

/** A call as the other gateway's documentation writes it. */
export interface Call {
  /** Method and path, with braces. */
  call: string;
  /** What stands in the braces, and in the query. */
  params?: Record<string, string>;
  body?: Record<string, unknown>;
}

export function rowsOf(gateway: string): Map<string, Row> {
  const page = readFileSync(PAGE, "utf8");
  const section = page.split(/^# /m).find((part) => part.startsWith(`Moving from ${gateway}\n`))!;
  const rows = [...section.matchAll(/^\| `(\w+) (\S+)` \| `(\w+) (\S+)` \|(.*)\|$/gm)].map(
    ([, method = "", path = "", ownMethod = "", ownPath = "", fields = ""]): Row => ({
      method,
      path,
      own: { method: ownMethod, path: ownPath },
      renamed: [...fields.matchAll(/`(\S+)` → `(\S+)`/g)].map(([, from, to]) => [from!, to!]),
      set: [...fields.matchAll(/`(\S+)` = `(\S+)`/g)].map(([, to, value]) => [to!, value!]),
    }),
  );
  return new Map(rows.map((row) => [`${row.method} ${row.path}`, row]));
}

/** All values at a path like `a.b[].c`. */
function valuesAt(from: unknown, path: string): unknown[] {
  let found: unknown[] = [from];
  for (const part of path.split(".")) {
    const name = part.replace("[]", "");
    found = found.map((value) => (value as Record<string, unknown> | undefined)?.[name]);
    if (part.endsWith("[]")) found = found.flat();
  }
  return found.filter((value) => value !== undefined);
}

/** Puts values where a path like `a[].b[]` says: `[]` in the middle is one object for each value. */
function put(into: Record<string, unknown>, path: string, values: unknown[]): void {
  const [head = "", ...rest] = path.split(".");
  const name = head.replace("[]", "");
  const isList = head.endsWith("[]");
  if (rest.length === 0) return void (into[name] = isList ? values : values[0]);
  if (!isList) return put((into[name] ??= {}) as Record<string, unknown>, rest.join("."), values);
  const list = (into[name] ??= []) as Record<string, unknown>[];
  for (const [index, value] of values.entries())
    put((list[index] ??= {}), rest.join("."), Array.isArray(value) ? value : [value]);
}

const idOf = (text: string): string => /^(?:true|false)_.*_([^_]+)$/.exec(text)?.[1] ?? text;

/**
 * The call as the page says that it is written here.
 *
 * @param knows whether our call has a field of this name
 * @throws when the page has no such row, or leaves a name open
 */
export function renamed(
  rows: Map<string, Row>,
  { call, params = {}, body = {} }: Call,
  knows: (own: Row["own"], field: string) => boolean,
): { method: string; path: string; fields: Record<string, unknown> } {
  const row = rows.get(call);
  if (row === undefined) throw new Error(`docs/migrating.md has no row for ${call}.`);
  const theirs: Record<string, unknown> = { ...params, ...body };
  const path = row.own.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const [value] = valuesAt(theirs, name);
    if (typeof value !== "string") throw new Error(`${call}: nothing is called ${name}.`);
    return encodeURIComponent(idOf(value).replace(/@(?:c\.us|s\.whatsapp\.net)$/, ""));
  });
  const inPath = [...row.own.path.matchAll(/\{([^}.[]+)/g)].map(([, name]) => name!);
  const gone = new Set([...inPath, ...row.renamed.map(([from]) => from.split(/[.[]/)[0]!)]);
  const fields: Record<string, unknown> = Object.fromEntries(
    Object.entries(theirs).filter(([name]) => !gone.has(name) && knows(row.own, name)),
  );
  for (const [from, to] of row.renamed) {
    const values = valuesAt(theirs, from).map((value) => (typeof value === "string" ? idOf(value) : value));
    if (values.length > 0) put(fields, to, values);
  }
  for (const [to, value] of row.set) fields[to] = value;
  return { method: row.own.method, path, fields };
}
