import Database from "libsql";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FailpointName } from "../../src/model/failpoint.ts";
import { testBuild } from "../_setup/build.ts";
import { removeFolder } from "../_setup/folders.ts";
import { ok, PATIENT, startApart, until, type Apart } from "./apart.ts";
import { startHook, type Hook } from "./hook.ts";
import { judge, type Mark, type Script, type Verdict, type Written } from "../../src/demo/judge/judge.ts";
import { atRest } from "../../src/demo/judge/at-rest.ts";

export const SHOP = "31600000001";
export const ANA = "4915100000001";
export const BEN = "4915100000002";

/** One gateway and one simulator that many crashes happen to, one after the other. */
export interface Arena {
  world: Apart;
  hook: Hook;
  /** `index.mjs` of the build that runs. */
  entry: string;
  /** `…@g.us` of a group with everybody in it. */
  group: string;
  /** `…@newsletter` that the shop follows. */
  channel: string;
  /** Sends by REST. Whoever hears no answer asks again under the same key once the gateway is back. @param method default POST */
  send(path: string, body: Record<string, string | string[]>, method?: "POST" | "PATCH" | "DELETE"): void;
  /** The failpoint at which the process is going to end, and at which pass of it. */
  arm(name: FailpointName, pass?: number): void;
  /** One column, `id`, of the database that the dead process has left; the files themselves are not opened. */
  left(sql: string): string[];
  /** Starts it again after {@link expectDeath}. */
  revive(): Promise<void>;
  /** Provokes, again and again, until the process has died by SIGKILL at the armed place. @throws when it does not */
  expectDeath(name: FailpointName, provoke: (round: number) => Promise<void>): Promise<void>;
  /** Waits until all is done, or nothing happens any more; then judges what came since the last time. */
  settle(changed?: Partial<Script>): Promise<Verdict>;
  close(): Promise<void>;
}

const ROUNDS = 100;
const ROUND_MS = 1_500;
const SETTLE_MS = 45_000;

const BOT = `export default (b) => {
  b.keyword("order", async (ctx) => {
    ctx.reply("what would you like?");
    await new Promise((resolve) => setImmediate(resolve));
    ctx.reply("we have tea");
  });
};`;

/** What is due: two replies of the bot to an order, one of the webhook to a question. */
export function repliesDue({ text = "", chat, to }: Written): number {
  if (text === "order") return chat.includes("@") ? 0 : 2;
  return text.startsWith("ask") && to !== "" ? 1 : 0;
}

/** @param entry `index.mjs` of a test build; default: one of the present sources */
export async function openArena(seed: string, entry?: string): Promise<Arena> {
  const build = entry ?? (await testBuild());
  const folder = mkdtempSync(join(tmpdir(), "parley-crash-"));
  const crashFile = join(folder, "crash");
  writeFileSync(join(folder, "order.mjs"), BOT);
  writeFileSync(crashFile, "");
  const world = await startApart({
    seed,
    entry: build,
    env: { ...PATIENT, CRASH_FILE: crashFile, BOTS_DIR: folder, IMPORT_HISTORY: "on" },
  });
  const hook = await startHook();
  // When the drill itself is ended early, nobody comes to close the arena.
  const tidy = (): void => [folder, world.gateway.dataDir].forEach((path) => removeFolder(path));
  process.once("exit", tidy);
  const { group, channel } = await furnish(world, hook);

  let unheard: (() => Promise<boolean>)[] = [];
  let accepted: string[] = [];
  let sends = 0;
  let mark: Mark | undefined;

  function send(
    path: string,
    body: Record<string, string | string[]>,
    method: "POST" | "PATCH" | "DELETE" = "POST",
  ): void {
    const headers = { "idempotency-key": `${seed}-${Date.now()}-${++sends}-${Math.random()}` };
    const ask = async (): Promise<boolean> => {
      const { gateway, key } = world;
      const options = { key, headers };
      const fields = { sender: SHOP, ...body };
      const answer = await {
        POST: () => gateway.post(path, fields, options),
        PATCH: () => gateway.patch(path, fields, options),
        DELETE: () => gateway.delete(`${path}?sender=${SHOP}`, options),
      }[method]();
      if (answer.status === 409 || answer.status === 503) return false;
      accepted.push(ok(answer).body["id"]);
      return true;
    };
    const first = ask().catch(() => false);
    unheard.push(async () => (await first) || ask());
  }

  async function finishSends(): Promise<void> {
    const waiting = unheard;
    unheard = [];
    for (const again of waiting) await until("a send is accepted", again);
  }

  async function settle(changed: Partial<Script> = {}): Promise<Verdict> {
    await finishSends();
    const script: Script = {
      numbers: [SHOP],
      replies: repliesDue,
      sends,
      accepted,
      events: hook.events,
      accepts: true,
      channels: [channel],
      ...changed,
      since: mark,
    };
    const look = () => judge({ sim: world.sim, dataDir: world.gateway.dataDir }, script);
    const verdict = await atRest(look, SETTLE_MS);
    if (hook.unsigned > 0) verdict.problems.push(`${hook.unsigned} events had no valid signature`);
    mark = verdict.mark;
    [accepted, sends, hook.unsigned] = [[], 0, 0];
    hook.events.length = 0;
    return verdict;
  }

  return {
    world,
    hook,
    entry: build,
    group,
    channel,
    send,
    arm: (name, pass = 1) => writeFileSync(crashFile, `${name}:${pass}`),
    async expectDeath(name, provoke) {
      const state = { exit: null as Awaited<ReturnType<typeof world.gateway.exited>> | null };
      const exited = world.gateway.exited().then((exit) => (state.exit = exit));
      for (let round = 0; state.exit === null; round++) {
        if (round === ROUNDS) throw new Error(`The process never came to "${name}".`);
        // What a dying gateway is asked fails, and is asked again later.
        await provoke(round).catch((error: Error) => {
          if (round === ROUNDS - 1) throw error;
        });
        await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, ROUND_MS))]);
      }
      const left = readFileSync(crashFile, "utf8");
      if (state.exit.signal !== "SIGKILL" || left !== `died at ${name}`)
        throw new Error(`It ended by ${JSON.stringify(state.exit)} (${left}), not at "${name}".`);
    },
    left(sql) {
      const copy = join(folder, "left");
      cpSync(world.gateway.dataDir, copy, {
        recursive: true,
        filter: (path) => !path.includes("lock") && !path.endsWith("-shm"),
      });
      const database = new Database(join(copy, "parley.db"));
      const rows = database.prepare(sql).all([]) as { id: string }[];
      database.close();
      removeFolder(copy);
      return rows.map(({ id }) => id);
    },
    async revive() {
      writeFileSync(crashFile, "");
      await world.gateway.restart();
      await world.online(SHOP);
    },
    settle,
    async close() {
      hook.close();
      await world.close();
      tidy();
      process.off("exit", tidy);
    },
  };
}

async function furnish({ gateway, sim, key, link }: Apart, hook: Hook) {
  await link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  await sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  const { id: group } = await sim.addGroup({ subject: "Regulars", members: [SHOP, ANA, BEN] });
  const { id: channel } = await sim.addChannel({ name: "News", followers: [SHOP] });
  const events = ["message", "poll_vote", "channel"];
  const put = await gateway.put(`/devices/${SHOP}/webhook`, { url: hook.url, events }, { key });
  hook.secret = ok(put).body["secret"];
  return { group, channel };
}
