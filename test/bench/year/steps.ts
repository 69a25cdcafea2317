import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Agent, fetch as fetchPatiently } from "undici";
import type { LibrarySimulator } from "../../../src/simulator/inside.ts";
import type { BenchGateway } from "../processes.ts";
import { untilErased } from "./background.ts";
import { startReceiver } from "./catch-up.ts";
import type { Facts } from "./data.ts";
import { asOperator, costOf, end, startYearGateway, type Cost, type Work } from "./gateway.ts";
import { writeAllTheTime, type Load } from "./load.ts";
import { readings } from "./requests.ts";
import { row } from "./row.ts";
import { adminTokenOf, callForKey } from "./tenants.ts";

/** What a run works with. */
export interface Run {
  sim: LibrarySimulator;
  facts: Facts;
  /** `index.mjs` of the build under test. */
  entry: string;
  /** A copy: it is changed. */
  dataDir: string;
  say(text: string): void;
}

/** One gateway after another on the data of a run, and what is done to them. */
interface Driving {
  run: Run;
  costs: Cost[];
  gateway: BenchGateway;
  /** A contact of this data's own: a copy that was made before knows nothing of what was said to another. */
  guest: string;
  /** From the first answer on. */
  load: Load | null;
  token: string;
  /** For what goes on behind an answer and has no end to wait for. */
  behindMs: number;
}

const FIRST_GUEST = 491799000001;
let guests = 0;

/** Every step under the light load of a contact who writes and is answered; each on the data that the ones before left. */
export async function drive(run: Run): Promise<Cost[]> {
  const driving = await begin(run, "first answer after the start");
  const { facts } = run;
  await step(driving, "nothing but the load", () => pause(driving.behindMs / 3));
  for (const [what, work] of await readings(driving.gateway, facts, driving.token))
    await step(driving, what, work);
  await step(driving, "POST /deliveries/replay, by ids", () => replay(driving));
  await step(driving, "backup", () => backup(driving.gateway, driving.token, `${run.dataDir}.tar`));
  await step(driving, "the connection of the busy number breaks", () => reconnect(driving));
  await catchUp(driving);
  await again(driving, "first answer after a kill", "SIGKILL", { PACE_PER_MINUTE: "0" });
  await step(driving, "what is queued leaves without a pace", () => pause(driving.behindMs * 2));
  await again(driving, "first answer after a restart", "SIGTERM");
  await erase(driving, "the busy number is erased", facts.busy.deviceId, () =>
    callForKey(driving.gateway, facts.busy.key)("DELETE", `/devices/${facts.busy.number}`),
  );
  await erase(driving, "an account is erased", facts.other.deviceId, () =>
    asOperator(driving.gateway, driving.token)("DELETE", `/admin/accounts/${facts.other.account}`),
  );
  await finish(driving);
  return driving.costs;
}

/** Starts a gateway; its first step ends with the first answer. */
export async function begin(run: Run, what: string, env: Record<string, string> = {}): Promise<Driving> {
  const { sim, facts, dataDir } = run;
  const guest = String(FIRST_GUEST + guests++);
  await sim.addContact(guest, { name: "Guest" });
  const gateway = await startYearGateway(sim, run.entry, dataDir, env);
  const token = adminTokenOf(dataDir);
  const behindMs = facts.size.messages >= 200_000 ? 10_000 : 1_500;
  const driving = { run, costs: [], gateway, guest, load: null, token, behindMs };
  const bots = [{ id: "ping", enabled: true }];
  await callForKey(gateway, facts.light.key)("PUT", `/devices/${facts.light.number}/bots`, { bots });
  await firstAnswer(driving, what);
  return driving;
}

/** What something costs, with the load beside it. */
export async function step({ run, costs, gateway, load }: Driving, what: string, work: Work): Promise<void> {
  const cost = await costOf(gateway, what, work, load ?? undefined);
  costs.push(cost);
  run.say(row(cost));
}

/** The load ends, then the gateway. */
export async function finish({ load, gateway }: Driving): Promise<void> {
  await load?.end();
  await end(gateway);
}

/** The contact writes as soon as the gateway listens. */
async function firstAnswer(driving: Driving, what: string): Promise<void> {
  const { guest, run } = driving;
  const { sim, facts } = run;
  const { number } = facts.light;
  driving.load = null;
  await step(driving, what, async () => {
    const since = (await sim.messages(guest, { from: number })).at(-1)?.seq ?? 0;
    await sim.sendText(guest, number, "ping");
    await sim.waitForMessage(guest, { from: number, since }, 60_000);
  });
  driving.costs.at(-1)!.firstAnswer = true;
  driving.load = writeAllTheTime(sim, guest, number);
}

/** Ends the gateway and starts it on the same data. */
async function again(
  driving: Driving,
  what: string,
  signal: "SIGTERM" | "SIGKILL",
  env: Record<string, string> = {},
): Promise<void> {
  const { sim, entry, dataDir } = driving.run;
  await driving.load?.end();
  await end(driving.gateway, signal);
  driving.gateway = await startYearGateway(sim, entry, dataDir, env);
  await firstAnswer(driving, what);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function replay({ run, gateway }: Driving): Promise<void> {
  const key = callForKey(gateway, run.facts.busy.key);
  const { data } = await key("GET", "/deliveries?state=delivered&limit=10");
  const ids = (data as { id: string }[]).map(({ id }) => id);
  await key("POST", "/deliveries/replay", { ids, state: "delivered" });
}

async function backup({ url }: BenchGateway, token: string, into: string): Promise<void> {
  // It answers when the copy is made, which takes minutes where others have the processor.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const answer = await fetchPatiently(`${url}/admin/backup`, {
    method: "POST",
    dispatcher,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  if (!answer.ok || answer.body === null) throw new Error(`POST /admin/backup: ${answer.status}`);
  await pipeline(answer.body, createWriteStream(into));
  await dispatcher.close();
}

async function reconnect({ run: { sim, facts }, behindMs }: Driving): Promise<void> {
  const before = await sim.countStanzas({ tag: "success", direction: "out" });
  await sim.faults.dropSocket({ number: facts.busy.number });
  while ((await sim.countStanzas({ tag: "success", direction: "out" })) <= before) await pause(20);
  await pause(behindMs);
}

/** The webhook was away for a day; its owner puts it right. */
async function catchUp(driving: Driving): Promise<void> {
  const { gateway, run } = driving;
  const receiver = await startReceiver();
  await step(driving, "PUT …/webhook, with a receiver that is there", () =>
    receiver.announce(gateway, run.facts),
  );
  await step(driving, "the first hundred of what waited for it", () => receiver.until(100));
  await step(driving, "all that waited for it", () => receiver.until(run.facts.size.waitingDeliveries));
  run.say(`${receiver.events} events came, out of order in ${receiver.outOfOrder} chats`);
  receiver.close();
  if (receiver.events < run.facts.size.waitingDeliveries || receiver.outOfOrder > 0)
    throw new Error("What waited for the webhook has not all come, in the order of its chats.");
}

async function erase(
  driving: Driving,
  what: string,
  deviceId: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  await step(driving, what, async () => void (await ask()));
  await step(driving, "its rows go in the background", () => untilErased(driving.run.dataDir, deviceId));
}
