// Prints, as JSON, the types that openapi-typescript makes of each of the documents on stdin.
import { openApiTypes } from "../../src/cli/client/openapi-types.mjs";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const made = [];
for (const document of JSON.parse(Buffer.concat(chunks).toString())) made.push(await openApiTypes(document));
process.stdout.write(JSON.stringify(made));
