import { join } from "node:path";
import { readOptions } from "../_setup/program-options.ts";
import { root } from "../bench/processes.ts";
import { openArena } from "./arena.ts";
import { heading, outcomeLines, summary } from "./report.ts";
import { loadAttacks } from "./load.ts";
import { createYardstick, type Outcome } from "./yardstick.ts";

const HELP = `Every hostile thing that is known, against a started gateway. Meanwhile GET /health/live has to answer within 250 ms, and
another account's send to arrive within 2 s; ends with 1 when it does not.

  npm run attack

  --only CLASS     only this class of attacks, as A2
  --short          the sizes of npm test
  --shared         for a machine on which others compute as well
  --entry FILE     another build
`;

const values = readOptions(HELP, {
  only: { type: "string" },
  short: { type: "boolean", default: false },
  shared: { type: "boolean", default: false },
  entry: { type: "string", default: join(root, ".output/server/index.mjs") },
});

// Whatever was started ends with this process, however it is ended.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const all = await loadAttacks();
const attacks = all.filter((attack) => values.only === undefined || attack.class === values.only);
if (attacks.length === 0) {
  const known = [...new Set(all.map((attack) => attack.class))].join(", ");
  process.stderr.write(`There is no attack of class "${values.only}"; there are ${known}.\n`);
  process.exit(1);
}
const arena = await openArena(values.short ? "short" : "full", values.entry);
const yardstick = await createYardstick(arena, values.shared);
process.stdout.write(`${heading()}\n`);
// On one gateway: what an attack leaves behind is there for the next.
const outcomes: Outcome[] = [];
for (const attack of attacks) {
  const outcome = await yardstick.measure(attack);
  process.stdout.write(`${outcomeLines(outcome)}\n`);
  outcomes.push(outcome);
}
process.stdout.write(`${summary(outcomes)}\n`);
yardstick.close();
await arena.close();
process.exit(outcomes.every(({ broken }) => broken.length === 0) ? 0 : 1);
