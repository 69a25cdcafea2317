import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Answer } from "../_setup/client.ts";
import { removeFolder } from "../_setup/folders.ts";
import { ok, until } from "../crash/apart.ts";
import { startCluster, type Cluster, type ClusterNode } from "./cluster.ts";
import { scanning } from "../_setup/scanning.ts";

/** Two nodes on one database: what callers and contacts see when numbers change hands. */

const NUMBERS = ["31600000001", "31600000002", "31600000003", "31600000004"];
const contactOf = (number: string): string => `49151${number.slice(-6)}`;
const ECHO = 'export default (b) => { b.fallback((ctx) => ctx.reply("re: " + ctx.text)); };';
const OWNERS = `SELECT d.number, l.node FROM devices d JOIN leases l ON l.p = d.id % 256
WHERE l.until > unixepoch('subsec') * 1000 ORDER BY d.id`;

/** A node hears of what another has changed after two seconds at the latest, however slow the machine is. */
const SEEN = { interval: 100 };

const bots = mkdtempSync(join(tmpdir(), "parley-life-bots-"));
writeFileSync(join(bots, "echo.mjs"), ECHO);
let cluster: Cluster;
let key = "";

const node = (index: number): ClusterNode => cluster.nodes[index]!;

beforeAll(async () => {
  const entry = inject("serverEntry");
  cluster = await startCluster({ nodes: 2, entry, leaseSeconds: 3, seed: "life", env: { BOTS_DIR: bots } });
  ({ key } = await node(0).client.createAccount("Life"));
  for (const number of NUMBERS) await cluster.sim.addContact(contactOf(number));
}, 240_000);

afterAll(async () => {
  await cluster?.close();
  removeFolder(bots);
});

const get = (of: ClusterNode, path: string): Promise<Answer> => of.client.get(path, { key });
const post = (of: ClusterNode, path: string, body: object): Promise<Answer> =>
  of.client.post(path, body, { key });

/** As a user does, who reaches another node each time. */
async function link(number: string): Promise<void> {
  const owner = await cluster.sim.addNumber(number);
  const isLinked = scanning(owner);
  let turn = 0;
  await until(`${number} is linked`, async () =>
    isLinked((await post(node(turn++ % 2), "/generate-qr", { device: number })).body),
  );
}

async function owners(): Promise<Map<string, string>> {
  const rows = await cluster.database.rows<{ number: string; node: string }>(OWNERS);
  return new Map(rows.map(({ number, node: name }) => [number, name]));
}

/** Each number's contact writes, and reads the answer. */
async function talk(words: string): Promise<void> {
  for (const number of NUMBERS) await cluster.sim.sendText(contactOf(number), number, words);
  for (const number of NUMBERS)
    await cluster.sim.waitForMessage(contactOf(number), { from: number, text: `re: ${words}` }, 60_000);
}

/** What each contact can read, in the order of arrival; the phone drops what it has. */
async function read(number: string): Promise<string[]> {
  const messages = await cluster.sim.messages(contactOf(number), { from: number });
  return messages.filter(({ ordinal }) => ordinal === 1).map((message) => message.text ?? "");
}

/** The node that has the first of them, and the other one. */
async function sides(): Promise<{ owner: ClusterNode; other: ClusterNode }> {
  let name = "";
  await until("each number has its owner", async () => {
    const found = await owners();
    name = found.get(NUMBERS[0]!) ?? "";
    return found.size === NUMBERS.length;
  });
  const owner = cluster.nodes.find((one) => one.name === name)!;
  return { owner, other: cluster.nodes.find((one) => one !== owner)! };
}

describe("numbers of two nodes", { timeout: 120_000 }, () => {
  const said: string[] = [];
  const saidSoFar = async (words: string): Promise<void> => {
    await talk(words);
    said.push(`re: ${words}`);
  };

  it("are linked by whichever node is asked, are seen alike by both, and answer", async () => {
    for (const number of NUMBERS) await link(number);
    for (const one of cluster.nodes)
      await until("each node shows all of them", async () => {
        const devices: { state: string }[] = ok(await get(one, "/devices")).body["data"];
        return devices.length === NUMBERS.length && devices.every(({ state }) => state === "connected");
      });
    await saidSoFar("one");
    for (const number of NUMBERS)
      for (const one of cluster.nodes)
        expect(ok(await get(one, `/devices/${number}/why`)).body["data"].state).toBe("connected");
  });

  it("have their settings changed by any node, and both show it", async () => {
    const { owner, other } = await sides();
    for (const [asked, looked, calls] of [
      [other, owner, "reject"],
      [owner, other, "ignore"],
    ] as const) {
      ok(await asked.client.patch(`/devices/${NUMBERS[0]}`, { calls }, { key }));
      await vi.waitFor(async () => {
        const { body } = await get(looked, `/devices/${NUMBERS[0]}`);
        expect(body["data"].calls).toBe(calls);
      }, SEEN);
    }
  });

  it("answer on, without being linked anew, when their node is killed, is asleep, or is ended in order", async () => {
    for (const [how, words] of [
      ["killed", "two"],
      ["asleep", "three"],
      ["ended", "four"],
    ] as const) {
      const { owner, other } = await sides();
      if (how === "killed") await owner.part.kill();
      if (how === "asleep") owner.part.signal("SIGSTOP");
      if (how === "ended") await owner.part.stop();
      await saidSoFar(words);
      for (const number of NUMBERS)
        await until(`${number} is seen as connected`, async () => {
          const { body } = await get(other, `/devices/${number}`);
          return body["data"].state === "connected";
        });
      if (how === "asleep") owner.part.signal("SIGCONT");
      else await owner.part.start();
      await saidSoFar(`${words}, again`);
    }

    for (const number of NUMBERS) expect(await read(number)).toEqual(said);
    expect(await cluster.sim.violations()).toEqual([]);
  });

  it("are removed by any node, and are gone on both", async () => {
    const { other } = await sides();
    // The node that was started last takes its share now: who asks in that moment is told to ask again.
    for (const number of NUMBERS)
      await until(`${number} is removed`, async () => {
        const { status, headers } = await other.client.delete(`/devices/${number}`, { key });
        if (status === 503) expect(headers.get("retry-after")).toMatch(/^\d+$/);
        return status === 200 || status === 404;
      });
    for (const one of cluster.nodes)
      await vi.waitFor(async () => expect((await get(one, "/devices")).body["data"]).toEqual([]), SEEN);
  });
});
