import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { WA_CERT_DETAILS } from "@whiskeysockets/baileys";
import { afterEach, expect, it } from "vitest";
import { connectSimulator } from "../../src/simulator/client.ts";
import { FAULT_METHODS } from "../../src/simulator/control/methods.ts";
import type { ReadyLine, TranscriptEntry } from "../../src/simulator/client.ts";
import { Client, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function startProgram(...args: string[]): Promise<{ child: ChildProcess; ready: ReadyLine }> {
  const child = spawn(process.execPath, ["--import", "tsx", "src/simulator/main.ts", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) return { child, ready: JSON.parse(line) as ReadyLine };
  throw new Error("the simulator ended without a word");
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)));

it.each([
  { args: ["--help"], code: 0, out: /--behaviour NAME[^]*edgeRouting/, problem: /^$/ },
  { args: ["--portt", "1"], code: 1, out: /^$/, problem: /^Unknown option '--portt'[^]*--port N/ },
  { args: ["--port", "x"], code: 1, out: /^$/, problem: /^--port must be a whole number, not "x"\.\n\n/ },
  { args: ["--behaviour", "kind"], code: 1, out: /^$/, problem: /not "kind"\.\n\n[^]*edgeRouting/ },
])("says what it can be called with: $args", async ({ args, code, out, problem }) => {
  const child = spawn(process.execPath, ["--import", "tsx", "src/simulator/main.ts", ...args]);
  children.push(child);
  const [said, complained, ended] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exitOf(child),
  ]);
  expect(said).toMatch(out);
  expect(complained).toMatch(problem);
  expect(ended).toBe(code);
});

it("runs as a program of its own, driven over HTTP with the same methods", async () => {
  const { child, ready } = await startProgram("--seed", "program");
  const sim = connectSimulator(ready.controlUrl, ready);
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(sim.noiseRoot, "hex");
  const number = await sim.addNumber(NUMBER, { name: "Shop" });
  const contact = await sim.addContact(CONTACT);
  expect(number.jid).toBe(`${NUMBER}@s.whatsapp.net`);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "over there");
  await client.untilText("over there");
  await client.say(contact.jid, "over here");
  expect((await contact.waitForMessage({ text: "over here" })).from).toBe(NUMBER);
  expect(await sim.countStanzas({ number: NUMBER, device: 1, tag: "message", direction: "in" })).toBe(1);
  await sim.faults.errorAck({ number: NUMBER, code: 463 });
  expect((await client.say(contact.jid, "no")).ack!.attrs.error).toBe("463");
  await sim.settle();
  expect(await sim.violations()).toEqual([]);
  await client.end();
  child.kill("SIGTERM");
  expect(await exitOf(child)).toBe(0);
});

it("ends with its parent when asked to", async () => {
  const { child } = await startProgram("--with-parent");
  child.stdin!.end();
  expect(await exitOf(child)).toBe(0);
});

it("says what is wrong with a call", async () => {
  const sim = await simulate({ controlPort: 0 });
  const remote = connectSimulator(sim.controlUrl);
  await expect(remote.sendText(CONTACT, NUMBER, "hi")).rejects.toThrow(`${CONTACT} is no contact`);
  await expect(remote.addContact("not digits")).rejects.toThrow("no phone number");
  await expect(remote.waitForMessage(CONTACT, {}, 10)).rejects.toThrow(`no account ${CONTACT}`);
  const answer = await fetch(sim.controlUrl, { method: "POST", body: '{"method":"constructor"}' });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ error: "no method constructor" });
  expect((await fetch(`${sim.controlUrl}/other`)).status).toBe(404);
});

it("has every fault of the library over HTTP as well", async () => {
  const sim = await simulate();
  expect([...FAULT_METHODS].toSorted()).toEqual(Object.keys(sim.faults).toSorted());
});

it("streams the transcript as it grows", async () => {
  const sim = await simulate({ controlPort: 0 });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client: Client = await link(sim, NUMBER);
  const response = await fetch(`${sim.controlUrl}/events`);
  const seen: TranscriptEntry[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split("\n\n");
      rest = events.pop()!;
      for (const event of events) {
        if (event.startsWith("data: ")) seen.push(JSON.parse(event.slice(6)) as TranscriptEntry);
      }
    }
  })().catch(() => {});
  await contact.sendText(NUMBER, "live");
  await client.untilText("live");
  const entry = await until("event", () => seen.find(({ text, device }) => text === "live" && device === 1));
  expect(entry).toMatchObject({ from: CONTACT, to: NUMBER, direction: "to_companion" });
  await sim.stop();
  await reading;
});
