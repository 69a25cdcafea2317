/** `npm prestart`: builds the gateway when it has to, and says so in one line. */
import { repositoryRoot } from "../config.ts";
import { buildIfStale } from "./build.ts";
import { createPaint, wantsColour } from "./terminal.ts";

const paint = createPaint(wantsColour(process.stderr));

try {
  const seconds = await buildIfStale(repositoryRoot(), (doing) => {
    process.stderr.write(`  ${paint.cyan("…")} ${doing}\n`);
  });
  if (seconds !== null) process.stderr.write(`  ${paint.green("✓")} built in ${seconds.toFixed(1)} s\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
