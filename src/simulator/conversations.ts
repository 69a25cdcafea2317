import { readFile } from "node:fs/promises";
import { Observer } from "./observer.ts";
import type { SimulatedPerson } from "./people/link.ts";
import type { Population } from "./population.ts";
import { isGroupJid, isLidJid } from "./server/jid.ts";
import type { SimulatorServer } from "./server/server.ts";
import type * as Types from "./types.ts";
import type { Account } from "./world.ts";

/** A message that is on its way arrives within this time (milliseconds). */
const ARRIVAL_MS = 5000;

type Sent = Promise<{ id: string }>;

/** What people write, and do to what was written; see {@link Types.Simulator}. */
export class Conversations extends Observer {
  protected readonly population: Population;
  #lastMessage = 0;

  constructor(server: SimulatorServer, population: Population) {
    super(server);
    this.population = population;
  }

  async typeAsOwner(number: string, to: string, text: string, options?: Types.SendOptions): Sent {
    return await this.#send(this.population.owner(number), to, { kind: "text", text }, options);
  }

  async sendText(from: string, to: string, text: string, options?: Types.SendOptions): Sent {
    return await this.#send(this.population.contact(from), to, { kind: "text", text }, options);
  }

  async send(from: string, to: string, content: Types.Content, options?: Types.SendOptions): Sent {
    return await this.#send(this.population.contact(from), to, content, options);
  }

  async sendAsOwner(number: string, to: string, content: Types.Content, options?: Types.SendOptions): Sent {
    return await this.#send(this.population.owner(number), to, content, options);
  }

  async votePoll(person: string, pollId: string, options: string[], how?: Types.VoteOptions): Sent {
    return await (await this.#holder(person, pollId)).votePoll(pollId, options, how);
  }

  async react(person: string, messageId: string, emoji: string): Sent {
    return await (await this.#holder(person, messageId)).react(messageId, emoji);
  }

  async edit(person: string, messageId: string, text: string): Sent {
    return await (await this.#holder(person, messageId)).edit(messageId, text);
  }

  async revoke(person: string, messageId: string): Sent {
    return await (await this.#holder(person, messageId)).revoke(messageId);
  }

  async mediaOf(person: string, messageId: string): Promise<Types.LoadedMedia> {
    return await (await this.#holder(person, messageId)).mediaOf(messageId);
  }

  async markRead(person: string, messageId: string): Promise<void> {
    await (await this.#holder(person, messageId)).markRead(messageId);
  }

  async markPlayed(person: string, messageId: string): Promise<void> {
    await (await this.#holder(person, messageId)).markPlayed(messageId);
  }

  async typing(person: string, to: string, state: Types.TypingState = "composing"): Promise<void> {
    await this.population.person(person).typing(this.#addressOf(to), state);
  }

  async postStatus(
    contact: string,
    content: Types.Content | string,
    { id, audience }: Types.StatusOptions = {},
  ): Sent {
    const owners = [...this.server.world.accounts.values()].filter(({ kind }) => kind === "owner");
    const readers = audience ?? owners.map(({ number }) => number);
    const own = id ?? this.#newMessageId(contact);
    const person = this.population.contact(contact);
    return await person.postStatus(await withBytes(content), readers.map(this.#addressOf, this), { id: own });
  }

  async mediaRequests(filter?: Types.MediaRequestFilter): Promise<Types.MediaRequest[]> {
    return this.server.media.requests(filter);
  }

  async #send(
    person: SimulatedPerson,
    to: string,
    content: Types.Content,
    options: Types.SendOptions = {},
  ): Sent {
    const { world } = this.server;
    const group = isGroupJid(to) ? world.group(to) : undefined;
    const jid = (address: string) => jidIn(world.account(address), group?.addressing ?? "pn");
    const { quoted, timestamp, pushName } = options;
    const id = options.id ?? this.#newMessageId(person.number);
    if (timestamp !== undefined || pushName !== undefined) {
      const t = timestamp === undefined ? undefined : String(timestamp);
      this.server.overrides.set(`${person.number} ${id}`, { t, notify: pushName });
    }
    const sent = await person.sendContent(group ? group.id : this.#addressOf(to), await withBytes(content), {
      id,
      device: options.device,
      mentions: options.mentions?.map(jid),
      quoted: quoted && {
        id: quoted.id,
        participant: jid(quoted.participant ?? to),
        text: quoted.text ?? "",
      },
    });
    // The message is at the server now. Callers who write in a long loop must not keep sockets from being served.
    await new Promise((resolve) => setImmediate(resolve));
    return sent;
  }

  /** Somebody on whose phone a message is; one that is on its way is waited for. */
  async #holder(number: string, messageId: string): Promise<SimulatedPerson> {
    const person = this.population.person(number);
    await this.server.until(() => person.knows(messageId), ARRIVAL_MS);
    return person;
  }

  /** A group's id, or under which address somebody can be written to: of those who hide their number only the LID is known. */
  #addressOf(to: string): string {
    if (isGroupJid(to)) return to;
    const account = this.server.world.account(to);
    return jidIn(account, account.hidesNumber || isLidJid(to) ? "lid" : "pn");
  }

  #newMessageId(number: string): string {
    const random = this.server.random.fork(`message:${number}:${++this.#lastMessage}`);
    return `3A${random.bytes(9).toString("hex").toUpperCase()}`;
  }
}

function jidIn(account: Account, addressing: "pn" | "lid"): string {
  return account.devices.get(0)!.jid(addressing);
}

/** Content with its file read in. */
export async function withBytes(content: Types.Content | string): Promise<Types.Content> {
  if (typeof content === "string") return { kind: "text", text: content };
  if (!("path" in content) || content.path === undefined) return content;
  const { path, ...rest } = content;
  return { ...rest, bytes: await readFile(path) } as Types.Content;
}
