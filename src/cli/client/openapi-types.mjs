// Apart from the TypeScript sources, because what it registers holds for the whole process.
import { register } from "node:module";

const api = new URL("./typescript-api.mjs", import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
  name === "typescript" ? { url: ${JSON.stringify(api)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

/**
 * The types that openapi-typescript makes of a document.
 *
 * @param {object} document OpenAPI 3.1
 * @returns {Promise<string>} TypeScript
 */
export async function openApiTypes(document) {
  const { default: openapiTypescript, astToString } = await import("openapi-typescript");
  return astToString(await openapiTypescript(document));
}
