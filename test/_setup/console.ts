import { buildConsole } from "../../src/build/console.ts";
import { madeOnce, root } from "./made-once.ts";

/** @returns folder of the console, for CONSOLE_DIR of a gateway; built once for all tests, and only when its sources changed */
export const testConsole = (): Promise<string> =>
  madeOnce({
    name: "console",
    of: ["src/console", "src/client", "src/build", "package-lock.json"],
    make: async (folder) => void (await buildConsole(root, folder)),
  });
