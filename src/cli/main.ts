/** `npm run parley -- <command>`: the operator's tool. It speaks HTTP to the running gateway. */

// citty reads NO_COLOR once, when it is loaded, and does not look whether its output is a terminal.
if (!process.stdout.isTTY) process.env["NO_COLOR"] ??= "1";
const { runCommand, runMain } = await import("citty");
const { parley } = await import("./commands/index.ts");
const { asJson, fail } = await import("./plainly.ts");

const rawArgs = process.argv.slice(2);
// A command that is called wrongly shows how it is called: not to programs.
if (asJson && !rawArgs.some((arg) => arg === "--help" || arg === "-h"))
  await runCommand(parley, { rawArgs }).catch(fail);
else await runMain(parley);
