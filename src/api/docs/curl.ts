import type { Operation } from "../openapi/types.ts";

/** A command that can be pasted into a shell once the two words in capitals are filled in. */
export function curlFor(method: string, path: string, operation: Operation): string {
  const parameters = operation.parameters ?? [];
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { example } =
      parameters.find((parameter) => parameter.in === "path" && parameter.name === name) ?? {};
    return encodeURIComponent(String(example ?? name.toUpperCase()));
  });
  const query = parameters
    .filter((parameter) => parameter.in === "query" && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  const url = `ORIGIN${filled}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}'${url}'`];
  const scheme = Object.keys(operation.security[0] ?? {})[0];
  if (scheme !== undefined)
    lines.push(`-H 'Authorization: Bearer ${scheme === "operator" ? "PARLEY_ADMIN_TOKEN" : "API_KEY"}'`);
  const body = operation.requestBody?.content["application/json"]?.example;
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

/** Within single quotes a shell takes everything as it is, but for the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
