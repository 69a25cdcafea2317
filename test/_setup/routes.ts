import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** What the build puts into `#routes`, read from the folder: for tests that run routes without a build. */
const folder = fileURLToPath(new URL("../../routes/", import.meta.url));

/** `devices/[number].get.ts` → route `/devices/:number`, method `GET`. */
export default readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.startsWith("[..."))
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  .map((file) => {
    const [, name, method] = /^(.+)\.(\w+)\.ts$/.exec(file)!;
    const route = `/${name!.replace(/\[(\w+)\]/g, ":$1")}`;
    return {
      /** Absolute, of the file. */
      path: join(folder, file),
      route,
      method: method!.toUpperCase(),
      pattern: new RegExp(`^${route.replace(/:\w+/g, "[^/]+")}/?$`),
    };
  });
