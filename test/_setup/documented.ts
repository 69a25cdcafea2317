import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/api/openapi/document.ts";
import { responsesIn } from "../../src/api/openapi/responses.ts";
import type { Operation } from "../../src/api/openapi/types.ts";

const document = await openApiDocument();
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ ...document, $id: "api" });
const compiled = new Map<string, ValidateFunction>();

const parametersIn = (template: string): number => template.split("{").length - 1;

/** As OpenAPI has it, a path that is written out comes before one with parameters. */
const templates = Object.entries(document.paths)
  .map(([template, operations]) => ({
    template,
    operations,
    pattern: new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
  }))
  .sort((a, b) => parametersIn(a.template) - parametersIn(b.template));

/** What belongs to no endpoint: unknown paths, and methods that a path has not. */
const ELSEWHERE = { 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED" } as Record<number, string>;

export interface Answered {
  status: number;
  headers: Headers;
  body: unknown;
}

/**
 * Compares an answer with `/openapi.json`: an undocumented status, media type, field or code is a problem.
 *
 * @returns what is wrong, or null
 */
export function undocumented(
  method: string,
  path: string,
  { status, headers, body }: Answered,
): string | null {
  const found = templates.find(({ pattern }) => pattern.test(path));
  const operation = found?.operations[method.toLowerCase()];
  if (found === undefined || operation === undefined) return problemElsewhere(status, body);
  const response = responsesIn(document, operation)[status];
  if (response === undefined) return `${method} ${found.template} documents no ${status}`;
  const type = (headers.get("content-type") ?? "").split(";")[0]!;
  if (response.content[type] === undefined) return `${method} ${found.template} documents no ${type}`;
  if (type !== "application/json") return null;
  const validate = validator(`${method} ${found.template} ${status}`, operation, status);
  return validate(body) ? null : ajv.errorsText(validate.errors, { separator: "\n" });
}

function problemElsewhere(status: number, body: unknown): string | null {
  const { code } = (body as { errors?: { code?: string } }).errors ?? {};
  return code !== undefined && ELSEWHERE[status] === code ? null : `no endpoint answers ${status} ${code}`;
}

function validator(name: string, operation: Operation, status: number): ValidateFunction {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const schema = JSON.stringify(
    responsesIn(document, operation)[status]!.content["application/json"]!.schema,
  );
  const made = ajv.compile(JSON.parse(schema.replaceAll('"#/components', '"api#/components')));
  compiled.set(name, made);
  return made;
}
