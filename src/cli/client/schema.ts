import type { OpenApiDocument, Operation } from "../../api/openapi/types.ts";

const HEAD = `// Made from the OpenAPI document by \`npm run build:client\`: do not edit. On a conflict, make it again.
`;
const TEXTS: Record<string, string> = {
  paths: "Every path of the gateway with its methods.",
  webhooks: "What the gateway posts, and what may be answered.",
  components: "Records by the names that the documentation gives them.",
  operations: "Every request: its parameters, its body, and its answers of success.",
};
/** Lines of the generator that say that something is not there; types read them just as well from absence. */
const NOTHING =
  /^ +(?:get|put|post|delete|options|head|patch|trace|query|header|path|cookie|requestBody)\?: never;\n/gm;
const NO_PARAMETERS = /^ +parameters: \{\n +\};\n/gm;
const NO_HEADERS = /^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm;
const NO_COMPONENTS = /^ +(?:responses|parameters|requestBodies|headers|pathItems): never;\n/gm;

/** The part of the document that the client's types say: failures are one class there, and examples stand in `/docs`. */
export function clientDocument(document: OpenApiDocument): OpenApiDocument {
  const { paths, components, ...rest } = structuredClone(document);
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods)) strip(operation);
  return { ...rest, paths, components: { ...components, responses: {}, headers: {}, examples: {} } };
}

function strip(operation: Operation): void {
  // The editor shows the summary; a second copy in the path, and a third with it, would say no more.
  operation.description = "";
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith("2") || !("content" in response)) {
      delete operation.responses[status];
      continue;
    }
    delete response.headers;
    for (const media of Object.values(response.content)) delete media.example;
  }
  for (const parameter of operation.parameters ?? []) delete parameter.example;
  const body = operation.requestBody?.content;
  delete body?.["application/x-www-form-urlencoded"];
  for (const media of Object.values(body ?? {})) delete media.example;
}

/**
 * The text of `src/client/schema.ts`.
 *
 * @param document the gateway's
 * @param types    of its {@link clientDocument}, as openapi-typescript makes them
 */
export function clientSchema(document: OpenApiDocument, types: string): string {
  const lean = types
    .replace(NOTHING, "")
    .replace(NO_PARAMETERS, "")
    .replace(NO_HEADERS, "")
    .replace(NO_COMPONENTS, "")
    .replace(/^export type \$defs.*\n/m, "")
    .replace(/^export interface (\w+)/gm, (line, name: string) => `/** ${TEXTS[name] ?? name} */\n${line}`);
  const sends = sendsOf(document).map((send) => `  ${JSON.stringify(send)},\n`);
  return `${HEAD}
/** Requests that take an Idempotency-Key. */
export const SENDS: readonly string[] = [
${sends.join("")}];

${lean}`;
}

const sendsOf = ({ paths }: OpenApiDocument): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters }]) => parameters?.some(({ name }) => name === "Idempotency-Key"))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
