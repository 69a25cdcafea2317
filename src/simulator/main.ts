import { parseArgs } from "node:util";
import { BEHAVIOURS } from "./behaviour.ts";
import { startSimulator } from "./index.ts";
import type { ReadyLine, ServiceBehaviour } from "./types.ts";

const HELP = `An offline WhatsApp that speaks the real protocol. Prints one line of JSON when it is ready: where it is, where it is
controlled (HTTP), and what a client has to trust. Ends on SIGTERM or Ctrl-C.

  npm run sim

  --port N              for clients; default 0, any
  --host ADDRESS        default 127.0.0.1
  --control-port N      default 0, any
  --seed TEXT           of keys and ids; default parley
  --qr-refs N           QR codes of one linking
  --qr-first-ms N       how long the first of them is shown; --qr-next-ms each of the others
  --behaviour NAME      as the service is now; no-NAME: as it was a year ago; as often as wanted.
                        ${inLines(BEHAVIOURS, 90).join(`\n${" ".repeat(24)}`)}
  --with-parent         ends when its standard input closes as well
  -h, --help            shows this
`;

/** The simulator as a program. */
const values = read();

function read() {
  const options = {
    port: { type: "string", default: "0" },
    host: { type: "string" },
    "control-port": { type: "string", default: "0" },
    seed: { type: "string", default: "parley" },
    "qr-refs": { type: "string" },
    "qr-first-ms": { type: "string" },
    "qr-next-ms": { type: "string" },
    behaviour: { type: "string", multiple: true, default: [] as string[] },
    "with-parent": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  try {
    const { values } = parseArgs({ options });
    if (!values.help) return values;
  } catch (error) {
    return refuse((error as Error).message);
  }
  process.stdout.write(HELP);
  process.exit(0);
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exit(1);
}

/** Names with commas, in lines of at most so many characters. */
function inLines(names: readonly string[], width: number): string[] {
  return names.reduce<string[]>((lines, name, index) => {
    const word = index < names.length - 1 ? `${name},` : name;
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
}

/** Ends the program when the value is not a whole number of at least 0. */
function whole(name: keyof typeof values, fallback?: number): number | undefined {
  const value = values[name];
  if (value === undefined) return fallback;
  if (!/^\d+$/.test(String(value))) refuse(`--${name} must be a whole number, not "${value}".`);
  return Number(value);
}

/** `name` switches on, `no-name` off. Ends the program when the service knows no such behaviour. */
function behaviour(text: string): [keyof ServiceBehaviour, boolean] {
  const name = text.replace(/^no-/, "");
  const known = BEHAVIOURS.find((one) => one === name);
  if (!known) return refuse(`--behaviour must be one of the names below, or no-… of one, not "${text}".`);
  return [known, name === text];
}

const simulator = await startSimulator({
  port: whole("port"),
  host: values.host,
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
