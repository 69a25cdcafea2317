import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildClientPackage } from "../../src/cli/client/package.ts";
import { repositoryRoot } from "../../src/config.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { until } from "../_setup/world.ts";

const ROOT = repositoryRoot();
const run = promisify(execFile);

/** A block of a page: its language, and its text. */
export interface Block {
  language: string;
  text: string;
}

/** The blocks of a page of `docs/clients`, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, "docs/clients", page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

/** A reader's folder, with the files of pages in it and the package installed. */
export interface Folder {
  path: string;
  /** Lays the blocks of a page that name a file in their first line. */
  lay(page: string): void;
  /** Runs a program to its end. @returns what it wrote; @throws when it fails */
  run(program: string, args: string[], env: Record<string, string>): Promise<string>;
  /** Starts a program. @returns tells what it has written so far */
  start(program: string, args: string[], env: Record<string, string>): () => string;
  /** Starts a program that listens at 8080, or in truth at a port that is free. @returns its address */
  serve(program: string, args: string[], env: Record<string, string>): Promise<string>;
  /** Ends what was started, and removes the folder. */
  dispose(): void;
}

/** @param bytes takes the size of the package as it is downloaded */
export async function readersFolder(bytes: (packed: number) => void): Promise<Folder> {
  const path = mkdtempSync(join(tmpdir(), "parley-clients-"));
  const project = join(path, "project");
  mkdirSync(project);
  await install(path, project, bytes);
  const running: ChildProcess[] = [];
  const settings = (env: Record<string, string>) => ({
    cwd: project,
    env: { PATH: process.env["PATH"], ...env },
  });
  return {
    path: project,
    lay(page) {
      for (const { text } of blocksOf(page)) {
        const name = /^(?:<\?php )?(?:\/\/|#) ([\w.]+)\n/.exec(text)?.[1];
        if (name !== undefined) writeFileSync(join(project, name), text);
      }
    },
    async run(program, args, env) {
      const { stdout } = await run(program, args, settings(env));
      return stdout;
    },
    start(program, args, env) {
      const child = spawn(program, args, settings(env));
      running.push(child);
      let text = "";
      child.stdout.on("data", (some: Buffer) => (text += some.toString()));
      return () => text;
    },
    async serve(program, args, env) {
      const port = String(await freePort());
      const here = args.map((arg) => arg.replace("8080", port));
      const file = join(project, here.at(-1)!);
      writeFileSync(file, readFileSync(file, "utf8").replace("8080", port));
      running.push(spawn(program, here, { ...settings(env), stdio: "ignore" }));
      const address = `http://127.0.0.1:${port}`;
      await until(async () => (await fetch(address, { method: "POST", body: "{}" })).status >= 400);
      return address;
    },
    dispose() {
      for (const child of running) child.kill("SIGKILL");
      removeFolder(path);
    },
  };
}

/** As it would come from a registry: packed, then installed where nothing of Parley is. */
async function install(folder: string, project: string, bytes: (packed: number) => void): Promise<void> {
  const built = join(folder, "built");
  await buildClientPackage(ROOT, built);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: built });
  const [{ filename, size }] = JSON.parse(stdout) as [{ filename: string; size: number }];
  bytes(size);
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  const quietly = ["install", "--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  await run("npm", [...quietly, join(folder, filename)], { cwd: project });
}

/** Is a program installed here? What cannot be installed is not tested; `.ci/run` installs it. */
export async function isInstalled(program: string): Promise<boolean> {
  return await run(program, ["--version"]).then(
    () => true,
    () => false,
  );
}
