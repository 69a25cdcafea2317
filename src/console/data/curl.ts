import { queryOf, type Call } from "./api.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The same request for a shell, with the key as a variable: a secret is never copied.
 *
 * @param origin where the gateway is: `https://parley.example`
 * @param secret name of the shell's variable
 */
export function curlOf(call: Call, origin: string, secret = "PARLEY_API_KEY"): string {
  const lines = [`curl ${quoted(origin + call.path + queryOf(call))}`];
  if (call.method !== "GET") lines[0] = lines[0]!.replace("curl ", `curl -X ${call.method} `);
  lines.push(`-H "Authorization: Bearer $${secret}"`);
  if (call.body !== undefined)
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(call.body))}`);
  return lines.join(" \\\n  ");
}
