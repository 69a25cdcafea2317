/** `npm run docs:bots`: writes docs/reference.md from the doc comments of what bot authors import. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../config.ts";
import { writeReference } from "./reference/reference.ts";

try {
  const root = repositoryRoot();
  writeFileSync(join(root, "docs/reference.md"), writeReference(root));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
