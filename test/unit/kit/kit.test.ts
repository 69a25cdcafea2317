import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../../_setup/folders.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

describe("the package, as it stands in the repository", () => {
  it.each(["parley", "parley/testing", "parley/testing/matchers"])(
    "says how to build %s when it is not built",
    async (imported) => {
      const project = mkdtempSync(join(tmpdir(), "parley-unbuilt-"));
      onTestFinished(() => removeFolder(project));
      const installed = join(project, "node_modules/parley");
      mkdirSync(installed, { recursive: true });
      cpSync(join(root, "package.json"), join(installed, "package.json"));
      cpSync(join(root, "kit"), join(installed, "kit"), { recursive: true });

      const code = `await import("${imported}")`;
      const { stderr } = await run(process.execPath, ["--input-type=module", "-e", code], {
        cwd: project,
      }).catch((error: { stderr: string }) => error);

      expect(stderr).toMatch(/Parley's kit is not built\. Run `npm run build:kit` in .*parley/);
    },
  );

  it.each([
    ["index", "src/bot/index.ts"],
    ["testing", "src/testing/index.ts"],
  ])("exports everything that the sources of %s do", (name, source) => {
    const namesIn = (file: string, declared: RegExp): string[] =>
      [...readFileSync(join(root, file), "utf8").matchAll(declared)]
        .flatMap(([, names]) => names!.split(","))
        .map((one) => one.trim())
        .filter((one) => one !== "" && !one.startsWith("type "))
        .toSorted();

    expect(namesIn(`kit/${name}.mjs`, /^export const \{([^}]*)\}/gm)).toEqual(
      namesIn(source, /^export \{([^}]*)\}/gm),
    );
  });
});
