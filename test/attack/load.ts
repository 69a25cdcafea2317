import { readdirSync } from "node:fs";
import type { Attack } from "./attack.ts";

const folder = new URL("attacks/", import.meta.url);

/** Every attack that there is, by the names of their files. */
export async function loadAttacks(): Promise<Attack[]> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .toSorted();
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, folder).href) as Promise<{ default: Attack | Attack[] }>),
  );
  return modules.flatMap((module) => module.default);
}
