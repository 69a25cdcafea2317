import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { createGatewayClient, type GatewayClient } from "../../src/cli/gateway-client.ts";
import { removeFolder } from "../_setup/folders.ts";
import { until } from "../_setup/world.ts";

const PATIENCE_MS = 150_000;
/** What `npm run dev` needs. In a copy, because files of bots are changed. */
const COPIED = ["src", "routes", "bots", "drizzle", "nitro.config.ts", "package.json", "tsconfig.json"];

let root: string;
let own: string;
let child: ChildProcess;
let gateway: GatewayClient;
let text = "";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "parley-dev-"));
  // Bots of a folder of their own, as an author has them: beside Parley, with a package in it.
  own = join(root, "tables/bots");
  mkdirSync(join(own, "node_modules/other"), { recursive: true });
  writeFileSync(join(own, "node_modules/other/index.js"), "throw new Error('a package is no bot')");
  writeFileSync(
    join(own, "ping.ts"),
    saying("ping", "pong")
      .replace("+ mark", "")
      .replace(/import \{ mark.*;/, ""),
  );
  writeFileSync(join(own, "wrong.ts"), "export default 5;");
  for (const path of COPIED) cpSync(join(repositoryRoot(), path), join(root, path), { recursive: true });
  symlinkSync(join(repositoryRoot(), "node_modules"), join(root, "node_modules"));
  child = spawn(process.execPath, ["--import", "tsx", "src/demo/dev.ts", "tables/bots"], {
    cwd: root,
    env: { ...process.env, INIT_CWD: root },
    stdio: ["pipe", "pipe", "pipe"],
  });
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await shown(/✗ wrong: .*default export is not a bot/);
  await shown(/save a file in tables\/bots\/ to change them/);
  const [, url, key] = await shown(/REST: (\S+), key (\S+)/);
  gateway = createGatewayClient(url!, key!);
}, PATIENCE_MS);

afterAll(async () => {
  const ended = once(child, "close");
  if (child.exitCode === null && child.kill("SIGINT")) await ended;
  removeFolder(root);
}, PATIENCE_MS);

/** Waits for something that stands after what was seen last. */
let seen = 0;
async function shown(wanted: RegExp): Promise<RegExpExecArray> {
  let found: RegExpExecArray | null = null;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`It ended:\n${text}`);
    found = wanted.exec(text.slice(seen));
    return found !== null;
  }, PATIENCE_MS / 2).catch((error: unknown) => {
    throw new Error(`${wanted} is not in:\n${text.slice(seen)}`, { cause: error });
  });
  seen += found!.index + found![0].length;
  return found!;
}

/** As editors do: another file takes the place of the one that was there. */
function save(file: string, source: string): void {
  writeFileSync(join(own, `${file}.tmp`), source);
  renameSync(join(own, `${file}.tmp`), join(own, file));
}
const write = (words: string): void => void child.stdin!.write(`${words}\n`);
const saying = (word: string, says: string): string =>
  `import { defineBot } from "parley"; import { mark } from "./_mark.ts";
  export default defineBot({ enable: "bound" }, (b) => b.keyword("${word}", (ctx) => ctx.reply("${says}" + mark)));`;

const THROWING = `import { defineBot } from "parley";
function sum(text: string): never {
  throw new RangeError("no sum for “" + text + "”");
}
export default defineBot((b) => {
  b.keyword("sum", (ctx) => sum(ctx.text));
  b.keyword("price", (ctx) => { ctx.log.warn("no price is known"); ctx.reply("Ask us"); });
});
`;

/** Ids of bots that answer. */
async function bound(): Promise<string[]> {
  const { data } = await gateway.get<{ data: { id: string; enabled: boolean }[] }>(
    "/devices/31600000001/bots",
  );
  return data.filter(({ enabled }) => enabled).map(({ id }) => id);
}

it(
  "npm run dev loads a changed, added, removed or broken bot on the connection that is open, and links no real number",
  async () => {
    write("ping");
    await shown(/bot ping +pong\n/);

    save("_mark.ts", `export const mark: string = "!";`);
    save("fresh.ts", saying("fresh", "first"));
    await shown(/↻ fresh added\n/);
    await until(async () => (await bound()).includes("fresh"));
    write("fresh");
    await shown(/bot fresh +first!\n/);

    save("fresh.ts", saying("fresh", "second"));
    await shown(/↻ fresh reloaded\n/);
    write("fresh");
    await shown(/bot fresh +second!\n/);

    save("_mark.ts", `export const mark: string = "?";`);
    await shown(/↻ _mark\.ts loaded again\n/);
    write("fresh");
    await shown(/bot fresh +second\?\n/);

    save("fresh.ts", "export default (b) => {");
    await shown(/↻ fresh: SyntaxError: .* \(fresh\.ts:1\) · the last good version stays on\n/);
    write("fresh");
    await shown(/bot fresh +second\?\n/);

    save("sum.ts", THROWING);
    await shown(/↻ sum added\n/);
    await until(async () => (await bound()).includes("sum"));
    write("sum");
    await shown(/Ana +sum\n/);
    await shown(
      /✗ sum failed at keyword:sum: RangeError: no sum for “sum”\n +at sum\.ts:3:\d+\n +at sum\.ts:6:\d+\n/,
    );
    write("price");
    await shown(/! sum at keyword:price: no price is known\n/);
    await shown(/bot sum +Ask us\n/);

    rmSync(join(own, "fresh.ts"));
    await shown(/↻ fresh removed\n/);
    const { data: bots } = await gateway.get<{ data: { id: string }[] }>("/bots");
    expect(bots.map(({ id }) => id)).not.toContain("fresh");

    const { data } = await gateway.get<{ data: { connections: object[] } }>("/devices/31600000001/audit");
    expect(data.connections).toEqual([expect.objectContaining({ closed_at: null })]);
  },
  PATIENCE_MS,
);
