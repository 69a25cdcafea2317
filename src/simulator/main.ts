import { parseArgs } from "node:util";
import { BEHAVIOURS } from "./behaviour.ts";
import { startSimulator } from "./index.ts";
import type { ReadyLine, ServiceBehaviour } from "./types.ts";

/**
 * The simulator as a program: `npm run sim -- --port 0 --control-port 0 --seed x [--behaviour wholePhash] [--behaviour no-backlogWindows] [--with-parent]`.
 * Prints one line of JSON when it is ready; ends on SIGTERM or SIGINT, and with `--with-parent` when stdin closes.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "control-port": { type: "string", default: "0" },
    seed: { type: "string", default: "parley" },
    "qr-refs": { type: "string" },
    "qr-first-ms": { type: "string" },
    "qr-next-ms": { type: "string" },
    behaviour: { type: "string", multiple: true, default: [] },
    "with-parent": { type: "boolean", default: false },
  },
});

/** @throws when the value is not a whole number of at least 0 */
function whole(name: keyof typeof values, fallback?: number): number | undefined {
  const value = values[name];
  if (value === undefined) return fallback;
  if (!/^\d+$/.test(String(value))) throw new Error(`--${name} must be a whole number, not "${value}"`);
  return Number(value);
}

/** `name` switches on, `no-name` off. @throws when the service knows no such behaviour */
function behaviour(text: string): [keyof ServiceBehaviour, boolean] {
  const name = text.replace(/^no-/, "");
  const known = BEHAVIOURS.find((one) => one === name);
  if (!known)
    throw new Error(`--behaviour must be one of ${BEHAVIOURS.join(", ")}, or no-… of one, not "${text}"`);
  return [known, name === text];
}

const simulator = await startSimulator({
  port: whole("port"),
  controlPort: whole("control-port"),
  seed: values.seed,
  qrRefs: whole("qr-refs"),
  qrFirstMs: whole("qr-first-ms"),
  qrNextMs: whole("qr-next-ms"),
  behaviour: Object.fromEntries(values.behaviour.map(behaviour)),
});

const end = (): void => void simulator.stop().finally(() => process.exit(0));
process.once("SIGTERM", end);
process.once("SIGINT", end);
if (values["with-parent"]) {
  process.stdin.resume().once("end", end).once("close", end);
  // When it is stopped through the control API, the process must be able to end although its parent lives on.
  if ("unref" in process.stdin) process.stdin.unref();
}

const { wsUrl, controlUrl, noiseRoot, mediaUrl, ca, caFile } = simulator;
const ready: ReadyLine = { wsUrl, controlUrl, noiseRoot, mediaUrl, ca, caFile };
process.stdout.write(`${JSON.stringify(ready)}\n`);
