import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readOptions } from "../_setup/program-options.ts";
import { benchBots } from "./bots.ts";
import { benchCluster } from "./cluster.ts";
import { benchConsole, isGood } from "./console.ts";
import { benchDue } from "./due.ts";
import { type Round, measure, median, range } from "./figures.ts";
import { call, createAccount, link } from "./gateway-client.ts";
import { benchMedia } from "./media.ts";
import { roundTrips } from "./round-trips.ts";
import { benchSlowDisk } from "./slow-disk-rounds.ts";
import {
  endAll,
  requireBuild,
  root,
  rssMb,
  startBareEcho,
  startGatewayProcess,
  startSimulatorProcess,
} from "./processes.ts";
import { benchRuntimes } from "./runtimes.ts";
import { benchTargets, PARTS, type Part } from "./targets/main.ts";
import { benchTraces } from "./traces.ts";
import { benchYear } from "./year/main.ts";

const HELP = `What one message costs, in CPU milliseconds of the gateway, with the simulator in another process, and beside it in the
same run the same work by a bare echo on Baileys. Rounds alternate; medians. Machines are noisy: trust the ratios.

  npm run bench                     everything of one message
  npm run bench -- --echo           only text and a bot's reply, in one chat and in many; --profile DIR writes a CPU profile as well
  npm run bench -- --bots           what bots cost
  npm run bench -- --cluster        what a message costs among several nodes
  npm run bench -- --year           what a year of data costs; --folder DIR keeps it, it is made once
  npm run bench -- --console        the console in a browser, with ten thousand chats and a hundred thousand messages
  npm run bench -- --due            ten thousand messages that are due at once, and another number meanwhile
  npm run bench -- --slow-disk MS   what so many milliseconds more for each flush of the disk cost
  npm run bench -- --traces         what spans cost while nobody listens
  npm run bench -- --runtimes       versions of Node, and Bun
  npm run bench -- --targets        every target beside what was measured; --only ${PARTS.join(",")}

  --rounds N       default 3
  --messages N     in a round, or of a year, default 300 and 1000000
  --chats N        default 100
  --numbers N      default 50, of \`--targets --only many\` 1000
  --minutes N      of \`--targets --only many\`, default 30
`;

const values = readOptions(HELP, {
  rounds: { type: "string", default: "3" },
  messages: { type: "string" },
  chats: { type: "string", default: "100" },
  numbers: { type: "string" },
  minutes: { type: "string", default: "30" },
  runtimes: { type: "boolean", default: false },
  targets: { type: "boolean", default: false },
  only: { type: "string" },
  echo: { type: "boolean", default: false },
  profile: { type: "string" },
  bots: { type: "boolean", default: false },
  traces: { type: "boolean", default: false },
  cluster: { type: "boolean", default: false },
  year: { type: "boolean", default: false },
  console: { type: "boolean", default: false },
  due: { type: "boolean", default: false },
  folder: { type: "string" },
  "slow-disk": { type: "string" },
});
if (values.bots) {
  await benchBots();
  process.exit(0);
}
if (values.traces) {
  await benchTraces(console.log);
  process.exit(0);
}
if (values.cluster) {
  requireBuild();
  await benchCluster({
    messages: Number(values.messages ?? 300),
    rounds: Number(values.rounds),
    numbers: 12,
    say: console.log,
  });
  process.exit(0);
}
if (values.due) {
  requireBuild();
  await benchDue({ messages: Number(values.messages ?? 10_000), say: console.log });
  endAll();
  process.exit(0);
}
if (values.console) {
  requireBuild();
  const entry = join(root, ".output/server/index.mjs");
  const size = Number(values.messages ?? 100_000);
  const folder = values.folder ?? join(root, `.bench/console-${size}`);
  const results = await benchConsole({ folder, entry, messages: size, say: console.log });
  process.exit(results.every(isGood) ? 0 : 1);
}
if (values.year) {
  requireBuild();
  const size = Number(values.messages ?? 1_000_000);
  const entry = join(root, ".output/server/index.mjs");
  await benchYear({
    folder: values.folder ?? join(root, `.bench/year-${size}`),
    entry,
    messages: size,
    say: console.log,
  });
  process.exit(0);
}
requireBuild();
const rounds = Number(values.rounds);
const messages = Number(values.messages ?? 300);
const chats = Number(values.chats);
const numbers = Number(values.numbers ?? 50);
if (values.runtimes) {
  await benchRuntimes({ rounds, messages, chats });
  endAll();
  process.exit(0);
}
if (values.targets) {
  const asked = values.only?.split(",") ?? PARTS.filter((part) => part !== "many");
  const unknown = asked.filter((part) => !PARTS.includes(part as Part));
  if (unknown.length > 0) {
    process.stderr.write(`There is no part "${unknown.join(", ")}"; there are ${PARTS.join(", ")}.\n`);
    process.exit(1);
  }
  const many = { numbers: Number(values.numbers ?? 1_000), minutes: Number(values.minutes) };
  await benchTargets(asked as Part[], { rounds, messages, chats, ...many });
  endAll();
  process.exit(0);
}
if (values["slow-disk"] !== undefined) {
  await benchSlowDisk({ ms: Number(values["slow-disk"]), rounds, messages, chats });
  endAll();
  process.exit(0);
}
const onlyEcho = values.echo || values.profile !== undefined;

function row(name: string, ours: Round[], bare: Round[]): void {
  line(name, "CPU", ours.map(cpu), bare.map(cpu));
  if (!Number.isNaN(ours[0]!.latency)) line(name, "p50", ours.map(latency), bare.map(latency));
}

const cpu = (round: Round): number => round.cpu;
const latency = (round: Round): number => round.latency;

function line(name: string, what: string, ours: number[], bare: number[]): void {
  const ratio = ours.map((value, i) => value / bare[i]!);
  const ms = (list: number[]): string => `${median(list).toFixed(2).padStart(7)} ms`;
  console.log(
    `${name.padEnd(45)} ${what} ${ms(ours)}   bare ${ms(bare)}   ratio ${median(ratio).toFixed(2)} (${range(ratio)})`,
  );
}

const running = await startSimulatorProcess("bench");
const { sim, ready } = running;
const profiling = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
let gateway = await startGatewayProcess(ready, { nodeOptions: profiling });
const idle = (i: number): string => `3162${String(i).padStart(7, "0")}`;
/** What a process holds a while after it has had something to do. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3000));
await settled();
const empty = rssMb(gateway.child);
const key = await createAccount(gateway);
const OURS = "31600000001";
const WEBHOOK = "31600000002";
const BARE = "31600000003";
await link(gateway, sim, key, OURS);
await link(gateway, sim, key, WEBHOOK);
await call(gateway, "PUT", `/devices/${OURS}/bots`, { bots: [{ id: "ping", enabled: true }] }, key);

const receiver = createServer((request, response) => {
  request.resume().on("end", () => {
    response.setHeader("content-type", "application/json").end('{"message":"from the webhook"}');
  });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => receiver.once("listening", resolve));
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
await call(gateway, "PUT", `/devices/${WEBHOOK}/webhook`, { url: hook }, key);
const bare = await startBareEcho(running, BARE);

console.log(`CPU per message, ${rounds} rounds of ${messages} after a warm-up, medians; ${process.version}`);
for (const size of [1, chats]) {
  const forOurs = await sim.addContacts(size, { prefix: `49151${size}0` });
  const forHook = await sim.addContacts(size, { prefix: `49152${size}0` });
  const forBare = await sim.addContacts(size, { prefix: `49153${size}0` });
  const figures: Record<"a" | "b" | "c" | "echo" | "send", Round[]> = {
    a: [],
    b: [],
    c: [],
    echo: [],
    send: [],
  };
  for (let round = -1; round < rounds; round++) {
    const count = round < 0 ? Math.max(size * 2, 50) : messages;
    const note = (of: keyof typeof figures, result: Round): void => {
      if (round >= 0) figures[of].push(result);
    };
    note("echo", await measure(bare.child, count, () => roundTrips(sim, forBare, BARE, "ping", count)));
    note("a", await measure(gateway.child, count, () => roundTrips(sim, forOurs, OURS, "ping", count)));
    if (onlyEcho) continue;
    note("b", await measure(gateway.child, count, () => roundTrips(sim, forHook, WEBHOOK, "what?", count)));
    const sendBare = async (): Promise<void> => {
      for (let i = 0; i < count; i++) await bare.send(`${forBare[i % size]}@s.whatsapp.net`, `n${i}`);
    };
    note("send", await measure(bare.child, count, sendBare));
    const sendOurs = async (): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const body = { sender: OURS, number: forOurs[i % size], message: `n${i}` };
        await call(gateway, "POST", "/send-message", body, key);
      }
    };
    note("c", await measure(gateway.child, count, sendOurs));
  }
  const who = size === 1 ? "1 chat" : `${size} chats`;
  row(`(a) text → bot reply at the contact, ${who}`, figures.a, figures.echo);
  if (onlyEcho) continue;
  row(`(b) text → webhook → reply, ${who}`, figures.b, figures.echo);
  row(`(c) POST /send-message → ack, ${who}`, figures.c, figures.send);
}
if (onlyEcho) {
  const ended = new Promise((resolve) => gateway.child.once("exit", resolve));
  gateway.child.kill("SIGTERM");
  await ended;
  endAll();
  process.exit(0);
}

for (let i = 0; i < numbers; i++) await link(gateway, sim, key, idle(i));
await settled();
const linked = (rssMb(gateway.child) - empty) / (numbers + 2);

const person = (await sim.addContacts(1, { prefix: "49154" }))[0]!;
await roundTrips(sim, [person], OURS, "ping", 1);
for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const ended = new Promise((resolve) => gateway.child.once("exit", resolve));
    gateway.child.kill(signal);
    await ended;
    const since = (await sim.messages(person, { from: OURS })).at(-1)!.seq;
    await sim.sendText(person, OURS, "ping");
    const started = performance.now();
    const starting = startGatewayProcess(ready, { again: gateway });
    await sim.waitForMessage(person, { from: OURS, since }, 60_000);
    times.push(performance.now() - started);
    gateway = await starting;
  }
  console.log(
    `Start → answer to a waiting message, after ${signal}: ${(median(times) / 1000).toFixed(2)} s ` +
      `(${numbers + 2} linked numbers)`,
  );
}
for (let i = 0; i < numbers; i++) await sim.waitOnline(idle(i), 60_000);
await settled();
const restarted = (rssMb(gateway.child) - empty) / (numbers + 2);
console.log(
  `Idle memory per linked number, above the ${empty.toFixed(0)} MB of a gateway without numbers: ` +
    `${restarted.toFixed(2)} MB after a restart, ${linked.toFixed(2)} MB after linking and all of the above`,
);
await benchMedia(running);
await benchBots();
endAll();
process.exit(0);
