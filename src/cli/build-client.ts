/**
 * `npm run build:client`: writes `src/client/schema.ts`, the types of what the gateway can be asked, and builds the package
 * `@parley/client` into `dist-client/`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../api/openapi/document.ts";
import { repositoryRoot } from "../config.ts";
import { openApiTypes } from "./client/openapi-types.mjs";
import { buildClientPackage } from "./client/package.ts";
import { clientDocument, clientSchema } from "./client/schema.ts";

const root = repositoryRoot();
const file = join(root, "src/client/schema.ts");
const document = await openApiDocument();
const made = clientSchema(document, await openApiTypes(clientDocument(document)));
if (made !== readFileSync(file, "utf8")) writeFileSync(file, made);
await buildClientPackage(root, join(root, "dist-client"));
