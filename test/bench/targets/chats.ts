import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atExit } from "../../_setup/at-exit.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { keepConnection, startWebhook } from "../kept-connection.ts";
import { measure, median, range, type Round } from "../figures.ts";
import { call, createAccount, link } from "../gateway-client.ts";
import { startBareEcho, startGatewayProcess, type BareEcho, type RunningSimulator } from "../processes.ts";
import { groupRoundTrips, roundTrips } from "../round-trips.ts";
import type { Figure, TargetId } from "./table.ts";

/** How often and how long is measured. */
export interface Extent {
  rounds: number;
  messages: number;
  chats: number;
}

const BARE = "31600000003";
/** With the number itself. */
const GROUP_SIZE = 6;
const LONG_TURNS = 2_000;
/** Until V8 has compiled what is measured. */
const WARM_UP = 200;
const OTHERS_IN_GROUP = GROUP_SIZE - 1;
/** The bots that come with the gateway answer in groups only when they are called. */
const IN_GROUPS =
  'export default { enable: "bound", chats: ["group"], routes(b) { b.keyword("ping", (ctx) => ctx.reply("pong")); } };';
const ENABLED = ["ping", "in-groups"].map((id) => ({ id, enabled: true }));

/** A gateway with one number for bots, and one for a webhook. */
export interface Measured {
  gateway: Awaited<ReturnType<typeof startGatewayProcess>>;
  key: string;
  forBots: string;
  forWebhook: string;
}

/**
 * @param index   of the gateway in this run: its numbers are its own
 * @param program what runs it
 */
export async function startMeasured(
  running: RunningSimulator,
  index: number,
  program?: string,
  env: Record<string, string> = {},
): Promise<Measured> {
  const bots = mkdtempSync(join(tmpdir(), "parley-bench-bots-"));
  atExit(() => removeFolder(bots));
  writeFileSync(join(bots, "in-groups.mjs"), IN_GROUPS);
  const gateway = await startGatewayProcess(running.ready, {
    env: { BOTS_DIR: bots, ...env },
    ...(program !== undefined && { program }),
  });
  const key = await createAccount(gateway);
  const [forBots, forWebhook] = [`3160000${index}001`, `3160000${index}002`];
  await link(gateway, running.sim, key, forBots);
  await link(gateway, running.sim, key, forWebhook);
  await call(gateway, "PUT", `/devices/${forBots}/bots`, { bots: ENABLED }, key);
  return { gateway, key, forBots, forWebhook };
}

/** @param program default: what runs the bench */
export const startBare = (running: RunningSimulator, program?: string): Promise<BareEcho> =>
  startBareEcho(running, BARE, program);

const cpu = (round: Round): number => round.cpu;

/** The median of ratios, and what they are of. */
export function ratioOf(id: TargetId, ours: Round[], bare: Round[], named = "bare"): Figure {
  const ratios = ours.map((round, i) => round.cpu / bare[i]!.cpu);
  const ms = (rounds: Round[]): string => `${median(rounds.map(cpu)).toFixed(2)} ms`;
  return {
    id,
    value: median(ratios),
    of: `(${range(ratios)}); ${ms(ours)} CPU, ${named} ${ms(bare)}`,
  };
}

/** Works that are measured in turns, so that what the machine does meanwhile concerns all of them. */
async function inTurns<Name extends string>(
  rounds: number,
  works: Record<Name, (warm: boolean) => Promise<Round>>,
): Promise<Record<Name, Round[]>> {
  const names = Object.keys(works) as Name[];
  const found = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Name, Round[]>;
  for (let round = -1; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await works[name](round < 0);
      if (round >= 0) found[name].push(result);
    }
  return found;
}

/** Text → bot, text → webhook and REST sends, in one chat and in many, over kept connections. */
export async function chatTargets(
  running: RunningSimulator,
  bare: BareEcho,
  { gateway, key, forBots, forWebhook }: Measured,
  onBun: Measured,
  { rounds, messages, chats }: Extent,
): Promise<Figure[]> {
  const { sim } = running;
  const webhook = await startWebhook();
  await call(gateway, "PUT", `/devices/${forWebhook}/webhook`, { url: webhook.url }, key);
  const customer = keepConnection(gateway, key);
  const figures: Figure[] = [];
  for (const size of [1, chats]) {
    const people = (index: number) => sim.addContacts(size, { prefix: `4915${index}${size}0` });
    const [botChats, hookChats, bareChats, bunChats] = await Promise.all([1, 2, 3, 4].map(people));
    const count = (warm: boolean): number => (warm ? Math.max(size * 2, WARM_UP) : messages);
    const found = await inTurns(rounds, {
      bare: (warm) =>
        measure(bare.child, count(warm), () => roundTrips(sim, bareChats!, BARE, "ping", count(warm))),
      bot: (warm) =>
        measure(gateway.child, count(warm), () => roundTrips(sim, botChats!, forBots, "ping", count(warm))),
      bun: (warm) =>
        measure(onBun.gateway.child, count(warm), () =>
          roundTrips(sim, bunChats!, onBun.forBots, "ping", count(warm)),
        ),
      webhook: (warm) =>
        measure(gateway.child, count(warm), () =>
          roundTrips(sim, hookChats!, forWebhook, "what?", count(warm)),
        ),
      bareSend: (warm) =>
        measure(bare.child, count(warm), async () => {
          for (let i = 0; i < count(warm); i++)
            await bare.send(`${bareChats![i % size]}@s.whatsapp.net`, `n${i}`);
        }),
      send: (warm) =>
        measure(gateway.child, count(warm), async () => {
          for (let i = 0; i < count(warm); i++)
            await customer.post("/send-message", {
              sender: forBots,
              number: botChats![i % size],
              message: `n${i}`,
            });
        }),
    });
    const suffix = size === 1 ? "1" : "100";
    const { connections, posts } = webhook.seen();
    const posted = ratioOf(`webhook-${suffix}`, found.webhook, found.bare);
    const sent = ratioOf(`send-${suffix}`, found.send, found.bareSend);
    figures.push(
      ratioOf(`bot-${suffix}`, found.bot, found.bare),
      ratioOf(`bun-${suffix}`, found.bun, found.bare),
      { ...posted, of: `${posted.of}; ${connections} connections for ${posts} posts so far` },
      { ...sent, of: `${sent.of}; ${customer.connections()} connections so far` },
    );
  }
  return figures;
}

/** A group of six, in which the others write in turn. */
export async function groupTarget(
  { sim }: RunningSimulator,
  bare: BareEcho,
  { gateway, forBots }: Measured,
  { rounds, messages }: Extent,
): Promise<Figure[]> {
  const groupOf = async (number: string, prefix: string) => {
    const members = await sim.addContacts(OTHERS_IN_GROUP, { prefix });
    const { id } = await sim.addGroup({
      subject: "Six",
      creator: members[0]!,
      members: [...members, number],
    });
    return { id, members };
  };
  const ours = await groupOf(forBots, "49161");
  const theirs = await groupOf(BARE, "49162");
  const count = (warm: boolean): number => (warm ? 50 : Math.ceil(messages / 2));
  const found = await inTurns(rounds, {
    bare: (warm) =>
      measure(bare.child, count(warm), () => groupRoundTrips(sim, theirs, BARE, "ping", count(warm))),
    ours: (warm) =>
      measure(gateway.child, count(warm), () => groupRoundTrips(sim, ours, forBots, "ping", count(warm))),
  });
  return [ratioOf("group", found.ours, found.bare)];
}

/** Whether what a chat has behind it makes its next message dearer. */
export async function longChatTarget(
  { sim }: RunningSimulator,
  { gateway, forBots }: Measured,
  { rounds, messages }: Extent,
): Promise<Figure[]> {
  const [old] = await sim.addContacts(1, { prefix: "49163" });
  const fresh = await sim.addContacts(rounds + 1, { prefix: "49164" });
  await roundTrips(sim, [old!], forBots, "ping", LONG_TURNS);
  const turn = (person: string, count: number): Promise<Round> =>
    measure(gateway.child, count, () => roundTrips(sim, [person], forBots, "ping", count));
  const found = await inTurns(rounds, {
    old: () => turn(old!, messages),
    fresh: async () => {
      const person = fresh.pop()!;
      await turn(person, 20);
      return turn(person, messages);
    },
  });
  return [ratioOf("long-chat", found.old, found.fresh, "fresh")];
}
