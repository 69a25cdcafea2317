import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { testBuild } from "../_setup/build.ts";
import { removeFolder } from "../_setup/folders.ts";
import { SHOP } from "./arena.ts";
import { startApart, type Apart } from "./apart.ts";
import { STORIES, type Story } from "./deploys/stories.ts";

/** What came of it; `problems` is empty when everybody got what fits. */
export interface DeployReport {
  people: number;
  kills: number;
  /** Open conversations whose fate was told before. */
  foreseen: number;
  answers: number;
  seconds: number;
  problems: string[];
}

const folderOf = (name: "before" | "after"): string => join(import.meta.dirname, "deploys", name);
const ANSWERED_WITHIN_MS = 60_000;
/** Between a message and the kill that interrupts what it has begun. */
const KILL_AFTER_MS = 150;
const AT_ONCE = 20;

interface Person {
  number: string;
  story: Story;
  /** Of the last message that came. */
  seq: number;
  seen: Set<string>;
}

/**
 * People in the middle of every kind of question: killed, deployed to a changed bot, and killed again while they answer.
 *
 * @param people how many; they take the stories in turn
 */
export async function runDeploys(people: number, given?: string): Promise<DeployReport> {
  const began = Date.now();
  const entry = given ?? (await testBuild());
  const env = { BOTS_DIR: folderOf("before"), LOOP_GUARD_PER_MINUTE: "0", PACE_PER_MINUTE: "0" };
  const world = await startApart({ seed: "deploys", entry, env });
  const report: DeployReport = { people, kills: 0, foreseen: 0, answers: 0, seconds: 0, problems: [] };
  try {
    await world.link(SHOP);
    const everybody = await gather(world, people);
    await inGroups(everybody, async (person) => {
      for (const text of person.story.before) {
        await world.sim.sendText(person.number, SHOP, text);
        await next(world, person);
      }
    });
    const whileItRuns = await check(entry, world);
    await kill(world, report);
    const whenItIsDead = await check(entry, world);
    if (whileItRuns.join("\n") !== whenItIsDead.join("\n"))
      report.problems.push("bots check says something else of a gateway that runs");
    compareForeseen(everybody, whenItIsDead, report);
    await world.gateway.restart({ BOTS_DIR: folderOf("after") });
    await world.online(SHOP);
    const rounds = Math.max(...STORIES.map(({ after }) => after.length));
    for (let round = 0; round < rounds; round++) await goOn(world, everybody, round, report);
  } finally {
    const { dataDir } = world.gateway;
    await world.close();
    removeFolder(dataDir);
  }
  return { ...report, seconds: Math.round((Date.now() - began) / 1_000) };
}

async function gather({ sim }: Apart, count: number): Promise<Person[]> {
  const everybody = Array.from({ length: count }, (_, index) => ({
    number: String(4_915_110_000_000 + index),
    story: STORIES[index % STORIES.length]!,
    seq: 0,
    seen: new Set<string>(),
  }));
  for (const { number } of everybody) await sim.addContact(number, { name: number });
  return everybody;
}

/** Everybody writes the next text, the gateway is killed while it answers, and comes back. */
async function goOn(world: Apart, everybody: Person[], round: number, report: DeployReport): Promise<void> {
  const writing = everybody.filter(({ story }) => story.after[round] !== undefined);
  if (writing.length === 0) return;
  await inGroups(writing, ({ number, story }) => world.sim.sendText(number, SHOP, story.after[round]![0]));
  await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS));
  await kill(world, report);
  await world.gateway.restart();
  await world.online(SHOP);
  await inGroups(writing, async (person) => {
    const [text, ...answers] = person.story.after[round]!;
    for (const answer of answers) {
      const came = await next(world, person);
      report.answers += 1;
      if (came !== answer)
        report.problems.push(
          `${person.story.name}: after "${text}" came ${JSON.stringify(came)}, not ${JSON.stringify(answer)}`,
        );
    }
  });
}

/** The next message of the shop. A message that is sent again under its id is the same. */
async function next({ sim }: Apart, person: Person): Promise<string | null> {
  for (;;) {
    const since = person.seq;
    const wait = sim.waitForMessage(person.number, { from: SHOP, since }, ANSWERED_WITHIN_MS);
    const message = await wait.catch(() => null);
    if (message === null) return null;
    person.seq = message.seq;
    if (person.seen.has(message.id)) continue;
    person.seen.add(message.id);
    return message.text ?? null;
  }
}

async function kill({ gateway }: Apart, report: DeployReport): Promise<void> {
  await gateway.kill();
  report.kills += 1;
}

/** One line for each open conversation, as the new bots are asked. */
async function check(entry: string, { gateway }: Apart): Promise<string[]> {
  const child = spawn(process.execPath, [entry, "--check-bots", "--each"], {
    env: {
      PATH: process.env["PATH"],
      DATA_DIR: gateway.dataDir,
      BOTS_DIR: folderOf("after"),
      LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return text.split("\n").filter((line) => line !== "");
}

function compareForeseen(everybody: Person[], lines: string[], report: DeployReport): void {
  const said = new Map<string, string[]>();
  for (const line of lines) {
    const { scope, dialogue, outcome, key } = JSON.parse(line) as Record<string, string | null>;
    const number = scope!.split("@")[0]!;
    said.set(number, [...(said.get(number) ?? []), JSON.stringify([dialogue, outcome, key])]);
    report.foreseen += 1;
  }
  for (const { number, story } of everybody) {
    const expected = story.foreseen.map((one) => JSON.stringify(one)).join();
    const found = (said.get(number) ?? []).toSorted().join();
    if (found !== expected) report.problems.push(`${story.name}: bots check said ${found}, not ${expected}`);
  }
}

async function inGroups<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
}
