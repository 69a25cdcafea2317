import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the build that this command is part of; null: it runs from the sources. */
export const ownBuild: string | null = findBuild(fileURLToPath(import.meta.url));

function findBuild(file: string): string | null {
  if (file.endsWith(".ts")) return null;
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "nitro.json")) && existsSync(join(folder, "server/index.mjs"))) return folder;
  return null;
}

/** How this command is called, for texts that say what to type. */
const COMMAND = "parley";

/** A text as somebody may type it who has the build and no checkout. */
export const inOwnWords = (text: string): string =>
  ownBuild === null
    ? text
    : text.replaceAll("npm run parley --", COMMAND).replaceAll(/\bnpm start\b/g, `${COMMAND} start`);
