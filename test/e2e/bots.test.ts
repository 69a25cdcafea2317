import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programFile } from "../_setup/program-file.ts";
import { openWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

const BOT = `export default {
  session: { initial: () => ({ orders: 0 }) },
  routes(b) {
    const order = b.form(
      "order",
      { what: b.fields.choice("What?", { tea: "Tea", coffee: "Coffee" }, { render: "poll" }), name: b.fields.text("Your name?") },
      async (ctx, { what, name }) => {
        ctx.session.orders += 1;
        const id = await ctx.step("number", () => "A" + ctx.session.orders);
        ctx.reply(id + ": " + what + " for " + name, { quote: true });
        ctx.after("1s", "ready", { id });
      },
    );
    b.timer("ready", (ctx) => ctx.reply(ctx.timer.data.id + " is ready"));
    b.keyword("order", (ctx) => { ctx.react("👍"); ctx.start(order); });
    b.keyword("broken", () => { throw new Error("no"); });
    b.interrupt("stop", (ctx) => ctx.leave("stopped"));
  },
};`;

function folderWith(file: string, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
  onTestFinished(() => removeFolder(folder));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), content);
  return folder;
}

/** `npm run parley -- …` as the operator on the same machine calls it. */
async function parley(world: World, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [programFile("src/cli/main.ts"), ...args], {
    cwd: repositoryRoot(),
    env: world.gateway.operatorEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`parley ${args.join(" ")} ended with ${code}: ${text}`);
  return text;
}

it("a form goes on after kill -9, takes a vote, sets a timer, and every message can be asked why", async () => {
  const world = await openWorld({ env: { BOTS_DIR: folderWith("cafe.mjs", BOT) } });
  const { sim, gateway } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  let since = 0;
  const next = async () => {
    const message = await sim.waitForMessage(ANA, { from: SHOP, since }, 60_000);
    since = message.seq;
    return message;
  };

  await sim.sendText(ANA, SHOP, "order!");
  expect(await next()).toMatchObject({ kind: "reaction" });
  const poll = await next();
  expect(poll.kind).toBe("poll");
  await sim.votePoll(ANA, poll.id, ["Coffee"]);
  expect((await next()).text).toBe("Your name?");
  const open = async () => (await gateway.get(`/devices/${SHOP}/dialogues`, world)).body.data;
  expect(await open()).toMatchObject([{ chat: ANA, participant: null, bot: "cafe", dialogue: "order" }]);
  await gateway.kill();
  const { id } = await sim.sendText(ANA, SHOP, "Ana");
  await gateway.restart();
  expect((await next()).text).toBe("A1: coffee for Ana");
  expect((await next()).text).toBe("A1 is ready");
  expect(await open()).toEqual([]);

  const decisions = await gateway.get(`/devices/${SHOP}/decisions?message=${id}`, world);
  expect(decisions.body).toMatchObject({
    status: true,
    total: 1,
    data: [
      {
        message_id: id,
        chat: ANA,
        type: "text",
        by: "bot:cafe",
        route: "form:order",
        guard: null,
        trail: [
          { by: "bot:cafe", outcome: "answered", route: "form:order", detail: "name answered; complete" },
        ],
      },
    ],
  });
  const all = await gateway.get(`/devices/${SHOP}/decisions?chat=${ANA}&limit=2`, world);
  expect(all.body).toMatchObject({ total: 4 });
  expect(all.body.data.map(({ type }: { type: string }) => type)).toEqual(["timer", "text"]);
  const said = await parley(world, "why", id);
  expect(said).toContain(`text from ${ANA} to ${SHOP}`);
  expect(said).toContain("bot:cafe answered (form:order, name answered; complete).");
  expect(said).toContain("The webhook was not asked.");
  const last = (await parley(world, "why")).match(/^\w+ from .*$/gm) ?? [];
  expect(last).toHaveLength(4);
  // The newest stands where the eye is: at the end.
  expect(last.at(-1)).toContain(`timer from ${ANA} to ${SHOP}`);
  expect((await parley(world, "why", "--chat", ANA, "--last", "2")).match(/^\w+ from/gm)).toEqual([
    "text from",
    "timer from",
  ]);
  await expect(parley(world, "why", "--last", "0")).rejects.toThrow(
    "--last must be a whole number from 1 to 100.",
  );
  await expect(parley(world, "why", "--chat", "4915100009999")).rejects.toThrow("No decisions");
  await expect(parley(world, "why", "NOSUCH")).rejects.toThrow(/has decided about a message NOSUCH/);
});
