import { join } from "node:path";
import { compressFolder } from "./compress.ts";

/**
 * Builds the console, with its files packed as browsers take them. Where the packages for development are not installed there is
 * nothing to build it with.
 *
 * @param root of the repository
 * @param into folder that is replaced
 * @returns whether it is built
 */
export async function buildConsole(root: string, into: string): Promise<boolean> {
  // Loaded for a build only, as Vite is no part of the gateway.
  const vite = await import("vite").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  });
  if (vite === null) return false;
  await vite.build({
    configFile: join(root, "src/console/vite.config.ts"),
    logLevel: "warn",
    build: { outDir: into, emptyOutDir: true },
  });
  await compressFolder(into);
  return true;
}
