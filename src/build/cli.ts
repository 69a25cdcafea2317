import { writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { isPackage, withoutSpeechEnhancement } from "./beside.ts";

/** Binaries, what is patched in place, and what nobody has installed: found beside the server, or not at all. */
const NOT_INSIDE =
  /^(?:libsql|sharp|jiti|libsignal|whatsapp-rust-bridge|@img|jimp|link-preview-js|audio-decode|bufferutil|utf-8-validate|vitest)(?:\/|$)|\.node$/;

const ENTRY = `#!/usr/bin/env node
// The command parley: node cli.mjs --help
import "./server/cli/main.mjs";
`;

/**
 * Puts the command `parley` into a build, whole but for what the server has beside it: `node .output/cli.mjs` needs no checkout
 * and no packages. Each command is read when it is called.
 *
 * @param root   of the sources
 * @param output folder of the build; `server/` is in it
 */
export async function buildCli(root: string, output: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: { main: join(root, "src/cli/main.ts") },
    platform: "node",
    external: (name) => isPackage(name) && NOT_INSIDE.test(name),
    transform: { define: { __FAILPOINTS__: "false", "import.meta.dev": "false" } },
    plugins: [withoutSpeechEnhancement()],
    // Without failpoints these calls do nothing: none of them is in a build.
    treeshake: { manualPureFunctions: ["failpoint", "isArmed"] },
    logLevel: "warn",
  });
  await build.write({
    dir: join(output, "server/cli"),
    format: "esm",
    minify: "dce-only",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name]-[hash].mjs",
  });
  await build.close();
  await cp(join(root, "docs/passkey/ask.js"), join(output, "server/passkey.js"));
  writeFileSync(join(output, "cli.mjs"), ENTRY, { mode: 0o755 });
}
