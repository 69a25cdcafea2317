import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createPaint, createSteps } from "../../src/cli/terminal.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createCleanup } from "../../src/demo/cleanup.ts";
import { startConversation, type Conversation } from "../../src/demo/conversation.ts";
import { play, type Turn } from "../../src/demo/script.ts";
import { CONTACT, NUMBER, openStage, type Stage } from "../../src/demo/stage.ts";

const ROOT = repositoryRoot();
/** Long enough for a build and a demo on two slow cores. */
const PATIENCE_MS = 180_000;

interface Demo {
  child: ChildProcess;
  /** Everything written so far. */
  text(): string;
  /** Resolves with the text once it holds what is wanted. */
  shows(wanted: string | RegExp): Promise<string>;
  ended: Promise<number | null>;
}

const running: Demo[] = [];

afterEach(async () => {
  for (const demo of running.splice(0)) {
    demo.child.kill("SIGKILL");
    await demo.ended;
  }
});

/** The demo as `npm run demo` starts it, without npm and tsx around it, so that signals go to it alone. */
function startDemo(...options: string[]): Demo {
  const args = ["--import", "tsx", "src/demo/main.ts", ...options];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["pipe", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const demo: Demo = {
    child,
    text: () => text,
    async shows(wanted) {
      const deadline = Date.now() + PATIENCE_MS;
      while (!new RegExp(wanted).test(text)) {
        if (child.exitCode !== null || Date.now() > deadline)
          throw new Error(`${wanted} is not in:\n${text}`);
        await pause(50);
      }
      return text;
    },
    ended: new Promise((resolve) => child.once("close", resolve)),
  };
  running.push(demo);
  return demo;
}

function captured(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`${pattern} is not in:\n${text}`);
  return found;
}

/** Ports that the demo opened: gateway, simulator and webhook receiver. */
function portsIn(text: string): number[] {
  return [...new Set([...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map((match) => Number(match[1])))];
}

async function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(socket.destroy() && true));
    socket.once("error", () => resolve(false));
  });
}

/** Ports that are still open although the demo has ended, given some time to close. */
async function leftOpen(text: string): Promise<number[]> {
  const ports = portsIn(text);
  const stillOpen = async () => {
    const open = await Promise.all(ports.map(isOpen));
    return ports.filter((_, index) => open[index]);
  };
  for (const patience = Date.now() + 60_000; Date.now() < patience; await pause(100)) {
    if ((await stillOpen()).length === 0) return [];
  }
  return stillOpen();
}

const folderOf = (demo: Demo): string => join(ROOT, ".demo", String(demo.child.pid));

describe("npm run demo", () => {
  it("is this program", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(scripts.demo).toBe("tsx src/demo/main.ts");
  });

  it("-- --once plays the whole conversation, says how to go on, and leaves nothing behind", async () => {
    const demo = startDemo("--once");
    const exitCode = await demo.ended;
    const text = demo.text();

    const conversation = [...text.matchAll(/^ {2}\d\d:\d\d:\d\d {2}(.+?) {2,}(.+)$/gm)];
    expect(conversation.map(([, speaker, words]) => [speaker, words])).toEqual([
      ["Ana", "hi"],
      ["bot menu", "Hello Ana!"],
      ["bot menu", "What can we do for you?"],
      ["Ana", "menu"],
      ["bot menu", "What can we do for you?"],
      ["Ana", "Do you deliver on Sundays?"],
      ["webhook", "We read “Do you deliver on Sundays?” and will write back today."],
      ["REST", "Your order is on its way."],
    ]);
    expect(exitCode).toBe(0);
    // Nothing is offered that is not there any more.
    expect(text).not.toMatch(/^ *(?:Base URL|API key|Console|Try) /m);
    expect(text).toContain("To try one yourself: npm run demo");
    // Calm: no colour without a terminal, no JSON, no logs.
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/\u001B|[{}]/);
    expect(await leftOpen(text)).toEqual([]);
    expect(existsSync(folderOf(demo))).toBe(false);
  }, 200_000);

  it("stays up for play: its curl line works, a typed line is the contact's, Ctrl-C ends everything", async () => {
    const demo = startDemo("--terminal");
    const shown = await demo.shows(/Type a line to write as Ana/);

    const curl = captured(shown, /^ *Try +(curl .*)$/m);
    const { stdout } = await promisify(execFile)("bash", ["-c", curl]);
    expect(JSON.parse(stdout)).toMatchObject({
      status: true,
      state: "sent",
      msg: "Message sent successfully!",
    });
    await demo.shows(/REST +Hello from curl/);

    demo.child.stdin?.write("ping\n");
    await demo.shows(/Ana +ping\n.*bot ping +pong/);

    const folder = mkdtempSync(join(tmpdir(), "parley-story-"));
    const story = join(folder, "hello.story.yaml");
    demo.child.stdin?.write(`/story ${story} Somebody says hello\n`);
    await demo.shows(/hello\.story\.yaml has the conversation so far/);
    const saved = readFileSync(story, "utf8");
    expect(saved).toMatch(/^story: Somebody says hello\nbots:\n {2}- menu\n {2}- ping\n/);
    expect(saved).toContain("- user: Do you deliver on Sundays?\n  - webhook: We read");
    expect(saved).toContain("- sent: Your order is on its way.\n");
    expect(saved).toMatch(/- user: ping\n {2}- bot: pong\n$/);
    demo.child.stdin?.write("/story nowhere\n");
    await demo.shows(/Name a file: \/story bots\/menu\.story\.yaml/);
    rmSync(folder, { recursive: true });
    // A pipe that ends is not somebody who leaves.
    demo.child.stdin?.end("hours\n");
    await demo.shows(/bot opening-hours +Our opening hours:/);

    demo.child.kill("SIGINT");
    expect(await demo.ended).toBe(0);
    expect(await leftOpen(demo.text())).toEqual([]);
    expect(existsSync(folderOf(demo))).toBe(false);
  }, 200_000);

  it("takes gateway and simulator with it even when it is killed", async () => {
    const demo = startDemo("--terminal");
    const shown = await demo.shows(/Base URL/);
    demo.child.kill("SIGKILL");
    await demo.ended;
    expect(portsIn(shown).length).toBe(3);
    expect(await leftOpen(shown)).toEqual([]);
  }, 200_000);

  it("-- --once ends with an exit code and a reason when the gateway dies under it", async () => {
    const demo = startDemo("--once");
    await demo.shows(/✓ gateway/);
    const data = join(folderOf(demo), "data");
    const [pidFile] = readdirSync(data).filter((name) => name.endsWith(".pid"));
    process.kill(Number(readFileSync(join(data, String(pidFile)), "utf8")), "SIGKILL");

    expect(await demo.ended).toBe(1);
    expect(demo.text()).toContain("✗ The gateway ended by SIGKILL.");
    expect(await leftOpen(demo.text())).toEqual([]);
  }, 200_000);

  describe("a conversation", () => {
    const cleanup = createCleanup();
    let stage: Stage;
    let conversation: Conversation;
    beforeAll(async () => {
      const paper = { write: () => {} };
      stage = await openStage(ROOT, createSteps(paper, createPaint(false)), cleanup, () => {});
      conversation = startConversation({
        ...stage,
        number: NUMBER,
        contact: CONTACT.number,
        contactName: CONTACT.name,
        onLine: () => {},
      });
      cleanup.add(async () => conversation.end());
    }, 200_000);
    afterAll(() => cleanup.run(false));

    it("names what did not arrive", async () => {
      const turns: Turn[] = [{ says: "ping", by: "bot", expects: ["pong", "peng"] }];
      const missing = await play(turns, { conversation, gateway: stage.gateway, patienceMs: 3_000 });
      expect(missing).toEqual(["“peng” from a bot to “ping” did not arrive at Ana."]);
    });

    it("says that callers are answered by the calls, and others by REST", async () => {
      await stage.gateway.patch(`/devices/${NUMBER}`, { calls: "reject", calls_text: "Please write." });
      await stage.simulator.call(CONTACT.number, NUMBER);
      expect(await conversation.hear(({ text }) => text === "Please write.", PATIENCE_MS)).toMatchObject({
        speaker: { kind: "api", name: "calls" },
      });
      const body = { sender: NUMBER, number: CONTACT.number, message: "Please call." };
      await stage.gateway.post("/send-message", body);
      expect(await conversation.hear(({ text }) => text === "Please call.", PATIENCE_MS)).toMatchObject({
        speaker: { kind: "api", name: "REST" },
      });
    });
  });

  it("says what it does not understand", async () => {
    const demo = startDemo("--twice");
    expect(await demo.ended).toBe(2);
    expect(demo.text()).toContain("npm run demo -- --once");
  });
});
