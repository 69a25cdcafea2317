import type { H3Event } from "h3";
import type { z } from "zod";
import { GatewayError } from "../../model/errors/errors.ts";
import { readBodyFields, tooManyFields } from "./body.ts";
import { isMultipart, readMultipart } from "./file-part.ts";
import type { Access, Endpoint } from "../endpoint.ts";
import { decodeForm } from "./form.ts";
import {
  fieldProblems,
  MOST_PROBLEMS,
  REQUIRED,
  wrongFields,
  type FieldProblems,
} from "../../model/errors/field-problems.ts";
import { unknownFields } from "./unknown-fields.ts";

/** What a request says, before anybody looked at what it means. */
export interface RawInput {
  fields: Record<string, unknown>;
  /** Problems that reading alone has found; told after the key was checked. */
  problems: FieldProblems;
  /** Where they stand; default: the body. */
  place?: "query";
}

const listsOf = new WeakMap<z.ZodObject, ReadonlySet<string>>();

/**
 * Body of a POST, PUT or PATCH; query of a GET or DELETE. What a DELETE leaves out of its query may stand in a body.
 *
 * @throws BODY_TOO_LARGE, UNSUPPORTED_CONTENT_TYPE, INVALID_JSON; INVALID_PARAMETERS for a form of too many fields
 */
export async function readInput(event: H3Event, endpoint: Endpoint): Promise<RawInput> {
  const lists = listFields(endpoint.input);
  if (endpoint.method !== "GET" && endpoint.method !== "DELETE") {
    const withFile =
      endpoint.fileIn !== undefined && isMultipart(event.req.headers.get("content-type") ?? "");
    return { fields: await (withFile ? readMultipart : readBodyFields)(event, lists), problems: {} };
  }
  const form = decodeForm(event.url.search.replace(/^\?/, ""), lists);
  if (form === null) throw tooManyFields("query");
  const problems = Object.fromEntries(form.notUtf8.map((name) => [name, ["Is not UTF-8."]]));
  const inBody = endpoint.method === "DELETE" && takesFields(endpoint) && hasBody(event);
  const body = inBody ? await readBodyFields(event, lists) : {};
  return { fields: { ...body, ...form.fields }, problems, place: "query" };
}

const takesFields = ({ input }: Endpoint): boolean => Object.keys(input.shape).length > 0;

function hasBody({ req: { headers } }: H3Event): boolean {
  return Number(headers.get("content-length") ?? 0) > 0 || headers.has("transfer-encoding");
}

/**
 * @returns the fields that the endpoint knows, normalised; null counts as absent where it has no meaning of its own. PUT and
 *   PATCH take no others
 * @throws INVALID_PARAMETERS naming the first fields that are wrong, and how many there are
 */
export function validate<I extends z.ZodObject>(
  { method, input: schema }: Pick<Endpoint<Access, I>, "method" | "input">,
  raw: RawInput,
): z.output<I> {
  const given = Object.entries(raw.fields).filter(
    ([name, value]) => value !== null || takesNull(schema, name),
  );
  const parsed = schema.safeParse(Object.fromEntries(given), { reportInput: true });
  // They say what shall hold from now on. A slip of the pen in another request leaves a field at its default at worst.
  const replaces = method === "PUT" || method === "PATCH";
  const unknown = replaces ? unknownFields(schema, raw.fields, MOST_PROBLEMS) : { problems: {}, total: 0 };
  // Bytes that are no text are refused in fields that nobody knows, too: in a query as in a body.
  const found = { ...unknown.problems, ...raw.problems };
  if (parsed.success && Object.keys(found).length === 0) return parsed.data;
  const issues = parsed.error?.issues ?? [];
  const wrong = fieldProblems(issues);
  const fields = { ...(raw.place === "query" ? inQuery(wrong) : wrong), ...found };
  const total = new Set([...wrongFields(issues), ...Object.keys(raw.problems)]).size + unknown.total;
  throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields, total });
}

/** Whether a field says something by null. */
function takesNull({ shape }: z.ZodObject, name: string): boolean {
  let field = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined;
  while (field !== undefined && field.def.type !== "nullable")
    field = (field.def as { innerType?: z.ZodType }).innerType;
  return field !== undefined;
}

/** Says where a field is looked for first. */
function inQuery(problems: FieldProblems): FieldProblems {
  const told = Object.entries(problems).map(([name, texts]) => [
    name,
    texts.map((text) => (text === REQUIRED ? `Is required in the query: ?${name}=…` : text)),
  ]);
  return Object.fromEntries(told);
}

/** Fields that a form may give several times. */
function listFields(schema: z.ZodObject): ReadonlySet<string> {
  const known = listsOf.get(schema);
  if (known !== undefined) return known;
  const names = Object.entries(schema.shape).filter(([, field]) => isList(field as z.ZodType));
  const lists = new Set(names.map(([name]) => name));
  listsOf.set(schema, lists);
  return lists;
}

function isList(field: z.ZodType): boolean {
  const {
    type,
    innerType,
    out,
    in: inside,
  } = field.def as {
    type: string;
    innerType?: z.ZodType;
    out?: z.ZodType;
    in?: z.ZodType;
  };
  if (type === "array") return true;
  return [innerType, out, inside].some((inner) => inner !== undefined && isList(inner));
}
