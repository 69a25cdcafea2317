/** `npm run parley -- <command>`: the operator's tool. It speaks HTTP to the running gateway. */
import packageJson from "../../package.json" with { type: "json" };

// citty reads NO_COLOR once, when it is loaded, and does not look whether its output is a terminal.
if (!process.stdout.isTTY) process.env["NO_COLOR"] ??= "1";
const { runCommand, runMain } = await import("citty");
const { parley } = await import("./commands/index.ts");
const { asJson, fail } = await import("./plainly.ts");

const rawArgs = process.argv.slice(2);
if (rawArgs[0] === "--version" || rawArgs[0] === "-v") {
  const { version } = packageJson;
  process.stdout.write(asJson ? `${JSON.stringify({ version })}\n` : `${version}\n`);
}
// A command that is called wrongly shows how it is called: not to programs.
else if (asJson && !rawArgs.some((arg) => arg === "--help" || arg === "-h"))
  await runCommand(parley, { rawArgs }).catch(fail);
else await runMain(parley);
