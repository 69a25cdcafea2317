import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import { ok, PATIENT, startApart, until, type Apart } from "./apart.ts";
import { startHook, type Hook } from "./hook.ts";
import type { Written } from "../../src/demo/judge/judge.ts";

/** A linked number with the customer's server behind it and the sends that its user makes. */
export interface SoakNumber {
  number: string;
  hook: Hook;
  /** False: faults change the order in which messages reach it. */
  ordered: boolean;
  /** `…@g.us`, when it is in one. */
  groups: string[];
  /** `…@newsletter`, when it follows one. */
  channels: string[];
  /** Ids of what was accepted, and how many sends were asked for, since the last look. */
  accepted: string[];
  sends: number;
}

export interface SoakWorld extends Apart {
  numbers: SoakNumber[];
  contacts: string[];
  /** Sends by REST; whoever hears no answer asks again under the same key until it is accepted. Resolves with its id. */
  send(from: SoakNumber, path: string, body: Record<string, string | string[]>): Promise<string>;
  /** Ends the sends that no answer was heard of. */
  allSent(): Promise<void>;
}

/** Two replies in two steps: what dies between them must not be half of an answer. */
export const ORDER_BOT = `export default (b) => {
  b.keyword("order", async (ctx) => {
    ctx.reply("what would you like?");
    await new Promise((resolve) => setTimeout(resolve, 5));
    ctx.reply("we have tea");
  });
};`;

/** What is due: two replies of the bot to an order in a direct chat, one of the webhook to a question. */
export function repliesDue({ kind, text = "", chat }: Written): number {
  if (kind !== "text") return 0;
  if (text === "order") return chat.includes("@") ? 0 : 2;
  return text.startsWith("ask") ? 1 : 0;
}

const NUMBERS = ["31600000001", "31600000002"];
const EVENTS = ["message", "poll_vote", "reaction", "edit", "revoke", "channel"];
const PAUSE_MS = 200;
/** Receivers close what is idle without a word, often just when the next event is posted. */
const LONGEST_IDLE_MS = 150;

/** Two numbers (one of them with faults that change the order), contacts of every kind, a group, a channel. @param more settings */
export async function openSoakWorld(
  seed: string,
  entry?: string,
  more: Record<string, string> = {},
): Promise<SoakWorld> {
  const folder = mkdtempSync(join(tmpdir(), "parley-soak-"));
  writeFileSync(join(folder, "order.mjs"), ORDER_BOT);
  const env = { ...PATIENT, BOTS_DIR: folder, ...more };
  const apart = await startApart({ seed, env, entry });
  const { sim, gateway, key } = apart;
  const contacts = await addContacts(apart);
  const numbers: SoakNumber[] = [];
  const random = seededRandom(`receivers ${seed}`);
  for (const number of NUMBERS) {
    const hook = await startHook(undefined, undefined, () => random.integer(LONGEST_IDLE_MS));
    await apart.link(number);
    // One is told of what bots answered, too.
    const mode = numbers.length === 0 ? "always" : "fallback";
    const settings = { url: hook.url, events: EVENTS, mode };
    hook.secret = ok(await gateway.put(`/devices/${number}/webhook`, settings, { key })).body["secret"];
    const ordered = numbers.length === 0;
    numbers.push({ number, hook, ordered, groups: [], channels: [], accepted: [], sends: 0 });
  }
  const [first] = numbers;
  const members = [first!.number, ...contacts];
  first!.groups.push((await sim.addGroup({ subject: "Regulars", members })).id);
  first!.channels.push((await sim.addChannel({ name: "News", followers: [first!.number] })).id);

  const open = new Set<Promise<unknown>>();
  let count = 0;
  async function ask(from: SoakNumber, path: string, body: Record<string, string | string[]>) {
    const headers = { "idempotency-key": `${seed}-${++count}` };
    const all = { sender: from.number, ...body };
    let id = "";
    await until(
      `${path} is accepted`,
      async () => {
        const answer = await gateway.post(path, all, { key, headers });
        if (answer.status === 409 || answer.status >= 500) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
          return false;
        }
        id = ok(answer).body["id"];
        return true;
      },
      180_000,
    );
    from.accepted.push(id);
    return id;
  }

  return {
    ...apart,
    numbers,
    contacts,
    send(from, path, body) {
      from.sends++;
      const sent = ask(from, path, body);
      open.add(sent);
      void sent.finally(() => open.delete(sent)).catch(() => undefined);
      return sent;
    },
    allSent: async () => void (await Promise.all(open)),
    async close() {
      for (const { hook } of numbers) hook.close();
      await apart.close();
      removeFolder(folder);
    },
  };
}

async function addContacts({ sim }: Apart): Promise<string[]> {
  const kinds = [{}, {}, {}, { devices: 2 }, { addressing: "lid" }, { hidesNumber: true }] as const;
  const contacts = kinds.map((_, index) => `4915100000${String(index + 1).padStart(3, "0")}`);
  for (const [index, options] of kinds.entries()) await sim.addContact(contacts[index]!, options);
  return contacts;
}
