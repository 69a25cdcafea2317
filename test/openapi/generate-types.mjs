// Prints the types that openapi-typescript makes of the document on stdin.
import { register } from "node:module";

const api = new URL("./typescript-api.mjs", import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
  name === "typescript" ? { url: ${JSON.stringify(api)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { default: openapiTypescript, astToString } = await import("openapi-typescript");
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
process.stdout.write(astToString(await openapiTypescript(JSON.parse(Buffer.concat(chunks).toString()))));
