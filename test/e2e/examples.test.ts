// oxlint-disable vitest/expect-expect -- people wait for answers
import { createServer } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import type { ContactHandle } from "../../src/simulator/types.ts";
import { removeFolder } from "../_setup/folders.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { filesOf, writeFiles } from "../bots/pages.ts";

const SHOP = "31600000001";
const ROOT = repositoryRoot();

let world: World;
let folder: string;
let ben: ContactHandle;
let people = 0;
const leads: { key: unknown; body: Record<string, unknown> }[] = [];

/** The shop's own systems: a CRM that takes leads, and orders that can be looked up. */
const systems = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.url === "/leads")
    leads.push({
      key: request.headers["idempotency-key"],
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
  if (request.url?.endsWith("/chat/completions")) {
    const message = { content: "We sell coffee." };
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
  }
  return response.end(
    JSON.stringify(request.url === "/orders/1042" ? { status: "shipped" } : { number: "P-1" }),
  );
});
const address = (): string => `http://127.0.0.1:${(systems.address() as AddressInfo).port}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => systems.listen(0, "127.0.0.1", resolve));
  folder = mkdtempSync(join(tmpdir(), "parley-examples-"));
  mkdirSync(join(folder, "bots"));
  writeFiles(folder, filesOf("tutorial.md"));
  world = await keepWorld({ env: { BOTS_DIR: join(folder, "bots") } });
  await world.link(SHOP);
  ben = await world.sim.addContact("4915100000990", { name: "Ben" });
});
afterAll(async () => {
  await closeWorld(world);
  systems.close();
  removeFolder(folder);
});

/** Rows of the table of examples in docs/bots.md. */
const EXAMPLES = readFileSync(join(ROOT, "docs/bots.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, id, settings = "", write = "", answer = ""] =
      /^\| \[`([\w-]+)`\].*?\|.*?\| (?:`(.*)` )?\| `(.*)` \| (.*) \|$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id, settings, write, answer }];
  });

/** Only this bot answers, with these settings. */
async function bind(id: string, config: object = {}): Promise<void> {
  const bots = [{ id, enabled: true, config }];
  const { status } = await world.gateway.put(`/devices/${SHOP}/bots`, { bots }, { key: world.key });
  expect(status).toBe(200);
}

const newPerson = (): Promise<ContactHandle> =>
  world.sim.addContact(`49151000001${String(people++).padStart(2, "0")}`, { name: "Ana" });

/** Writes, and waits for an answer that looks like this. */
async function hears(
  person: ContactHandle,
  text: string,
  answer: string | RegExp,
  chat = SHOP,
): Promise<void> {
  const before = (await person.messages()).at(-1)?.seq ?? 0;
  await person.sendText(chat, text);
  await sees(person, before, answer);
}

async function sees(person: ContactHandle, since: number, answer: string | RegExp): Promise<void> {
  await until(async () => {
    const texts = (await person.messages()).filter(({ seq }) => seq > since).map(({ text }) => text ?? "");
    // What can be chosen stands below a question, and not in the table.
    const isIt = (text: string): boolean =>
      typeof answer === "string" ? text === answer || text.startsWith(`${answer}\n\n1. `) : answer.test(text);
    return texts.some(isIt);
  });
}

const pollAt = async (person: ContactHandle): Promise<string> =>
  (await person.waitForMessage({ kind: "poll" })).id;

/** How each conversation goes on after its line in the table. */
const GOES_ON: Record<string, (person: ContactHandle, chat: string) => Promise<void>> = {
  async menu(person) {
    await hears(person, "1", /^Enviamos en dos días/);
  },
  async "lead-form"(person) {
    await hears(person, "Ana Sol", /^Thank you\. Which e-mail/);
    await hears(person, "ana@sol.example", /^What are you interested in/);
    await hears(person, "2", /^Anything else/);
    await hears(person, "no", /^Thank you, Ana Sol/);
    expect(leads).toEqual([
      {
        key: expect.stringMatching(/^\S{16,}$/),
        body: expect.objectContaining({ email: "ana@sol.example", interest: "machine", from: person.number }),
      },
    ]);
  },
  async satisfaction(person) {
    await person.votePoll(await pollAt(person), ["Not good 🙁"]);
    await person.waitForMessage({ text: "We are sorry to hear that. A person will write to you." });
  },
  async "group-helper"(person, chat) {
    await person.sendText(chat, "/who football");
    const poll = await pollAt(person);
    await person.votePoll(poll, ["I am in"]);
    await ben.waitForMessage({ id: poll });
    await ben.votePoll(poll, ["I am in"]);
    await sees(ben, 0, /^We are 2 for football: @\d+ @\d+$/);
  },
  async shop(person) {
    await hears(person, "add 2 espresso", /^Your cart:\n2 × Espresso/);
    await hears(person, "checkout", /^Who is it for/);
    await world.gateway.kill();
    await world.gateway.restart();
    await world.online(SHOP);
    await hears(person, "Ana Sol", /^Where shall we deliver/);
    await hears(person, "12 Harbour Street", /^When suits you/);
    await hears(person, "evening", /^A note/);
    await hears(person, "no", /Shall we send it/);
    await hears(person, "yes", /^Thank you, Ana Sol! Your order is P-[A-Z0-9]{6}\./);
  },
};
describe("the examples, on a gateway, over WhatsApp's protocol", () => {
  it("all stand in the table", async () => {
    const { body } = await world.gateway.get("/bots", { key: world.key });
    const ids = body.data.map(({ id }: { id: string }) => id).filter((id: string) => id !== "table");
    expect(EXAMPLES.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(body.data.filter(({ error }: { error?: string }) => error)).toEqual([]);
  });

  it.each(EXAMPLES)(
    "$id",
    async ({ id, settings, write, answer }) => {
      const config = settings === "" ? {} : JSON.parse(settings.replace("http://127.0.0.1:4200", address()));
      await bind(id, config);
      const person = await newPerson();
      let chat = SHOP;
      if (id === "group-helper") {
        const members = [person.number, ben.number, SHOP];
        chat = (await world.sim.addGroup({ subject: "Neighbours", creator: person.number, members })).id;
      }
      await hears(person, write, answer, chat);
      await GOES_ON[id]?.(person, chat);
    },
    180_000,
  );
});

describe("docs/tutorial.md", () => {
  const page = readFileSync(join(ROOT, "docs/tutorial.md"), "utf8");
  const block = (language: string, marker: string): string =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))]
      .map(([, code = ""]) => code)
      .find((code) => code.includes(marker))!;

  /** As a reader types it. */
  async function type(line: string): Promise<string> {
    const env = {
      ...process.env,
      API_KEY: world.key,
      ...world.gateway.operatorEnv,
    };
    const here = line.replace("http://127.0.0.1:3000", world.gateway.url);
    return (await promisify(execFile)("bash", ["-c", here], { cwd: ROOT, env })).stdout;
  }

  it.each(["bots bind", "curl -X PUT"])(
    "has a line with %s that binds its bot, which then answers",
    async (marker) => {
      await bind("ping");
      await type(block("sh", marker));

      const person = await newPerson();
      await hears(person, "Book a table!", "For how many?");
      await hears(person, "4", /^Which day/);
    },
  );

  it("has a line that loads a changed bot, in the middle of a conversation", async () => {
    await bind("table");
    const person = await newPerson();
    await hears(person, "table", "For how many?");

    const file = join(folder, "bots/table.mjs");
    writeFileSync(file, readFileSync(file, "utf8").replace("Which day?", "On which day?"));
    await type(`${/npm run parley -- bots reload/.exec(page)?.[0]}`);

    await hears(person, "2", /^On which day\?/);
  });

  it("has a unit whose settings and program are Parley's", () => {
    const unit = block("ini", "[Service]");
    const names = [...unit.matchAll(/^Environment=(\w+)=/gm)].map((match) => match[1] ?? "");
    const read = readFileSync(join(ROOT, "src/config.ts"), "utf8");
    expect(names).toEqual(["NODE_ENV", "DATA_DIR", "BOTS_DIR"]);
    expect(names.slice(1).filter((name) => !read.includes(`"${name}"`))).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(`/usr/bin/${scripts.start}`).toBe(/^ExecStart=(.*)$/m.exec(unit)?.[1]);
  });
});
