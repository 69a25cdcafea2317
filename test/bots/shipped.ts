import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { repositoryRoot } from "../../src/config.ts";

const FOLDER = join(repositoryRoot(), "bots");

/** The bots of `bots/` as the build lists them: id → a function that imports the file. */
export const shipped: Record<string, () => Promise<unknown>> = Object.fromEntries(
  readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !file.split("/").some((part) => part.startsWith("_")))
    .map((file) => [
      file.replace(/\.ts$/, ""),
      () => import(/* @vite-ignore */ join(FOLDER, file)) as Promise<unknown>,
    ]),
);

/** `bots/locales`, by language. */
export const locales: Record<string, unknown> = Object.fromEntries(
  readdirSync(join(FOLDER, "locales")).map((file) => [
    basename(file, ".json"),
    JSON.parse(readFileSync(join(FOLDER, "locales", file), "utf8")),
  ]),
);
