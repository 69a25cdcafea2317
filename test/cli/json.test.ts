import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandDef } from "citty";
import { afterAll, describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { parley } from "../../src/cli/commands/index.ts";
import { describeCommand, flat } from "../../src/cli/completion/describe.ts";
import { SHELLS, type Shell } from "../../src/cli/completion/scripts.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programFile } from "../_setup/program-file.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-json-"));
afterAll(() => removeFolder(folder));

const commands = flat(await describeCommand(parley as CommandDef));

/** Port 9 of this machine: nobody answers. */
function run(...args: string[]): { code: number | null; out: string; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [programFile("src/cli/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], DATA_DIR: join(folder, "data"), PORT: "9" },
    encoding: "utf8",
  });
  return { code: status, out: stdout, said: stderr };
}

describe("--json", () => {
  it("is an option of every command that does something", () => {
    const without = commands
      .filter(({ commands: below }) => below.length === 0)
      .filter(({ options }) => !options.some(({ name }) => name === "json"));
    expect(without).toEqual([]);
  });

  it.each([
    ["a command that fails", ["accounts", "list"], "No Parley gateway answers"],
    ["a command that is called wrongly", ["keys", "delete"], "Missing required positional argument"],
    ["a command that there is not", ["dance"], "Unknown command"],
  ])("gives one document of %s, and the sentence to people", (_, args, text) => {
    const { code, out, said } = run(...args, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ error: { message: expect.stringContaining(text), code: null } });
    expect(said).toContain(text);
  });

  it("tells the version, with and without", () => {
    const { version } = packageJson;
    expect(run("--version")).toEqual({ code: 0, out: `${version}\n`, said: "" });
    const { code, out } = run("--version", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ version });
  });

  it("gives the findings of the doctor, and its exit code", () => {
    writeFileSync(join(folder, "data"), "not a folder");
    const { code, out } = run("doctor", "--json");
    const findings = JSON.parse(out) as { name: string; state: string; text: string }[];
    expect(findings).toContainEqual(expect.objectContaining({ name: "node", state: "good" }));
    expect(code).toBe(findings.some(({ state }) => state === "bad") ? 1 : 0);
  });
});

/** What a shell that has read the script offers behind a line. The last word is the one that is being written. */
const ASK: Record<Shell, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    "--norc",
    "-c",
    `source "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _parley && printf '%s\\n' "\${COMPREPLY[@]}"`,
    script,
    ...words,
  ],
  fish: (script, words) => [
    "--no-config",
    "-c",
    `source $argv[1]; complete -C "$argv[2]"`,
    script,
    words.join(" "),
  ],
  // A completion of zsh runs only under its line editor: the words that it would offer are caught.
  zsh: (script, words) => [
    "-f",
    "-c",
    `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _describe() { print -l -- "\${(@)\${(P)4}%%:*}"; }; _files() { print -l -- *; }
source "$1"; shift; words=("$@"); CURRENT=$#; PREFIX=\${words[-1]}; _parley`,
    "zsh",
    script,
    ...words,
  ],
};

describe.each(Object.keys(SHELLS) as Shell[])("completion %s", (shell) => {
  const isThere = spawnSync(shell, ["--version"]).error === undefined;
  const script = join(folder, `parley.${shell}`);

  function offers(...words: string[]): string[] {
    const { stdout, stderr } = spawnSync(shell, ASK[shell](script, ["parley", ...words]), {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    const offered = stdout.split("\n").map((line) => line.split("\t")[0]!);
    return offered.filter((word) => word.startsWith(words.at(-1)!) && word !== "").toSorted();
  }

  it.runIf(isThere)("offers commands, those below them, options and what they take", () => {
    writeFileSync(script, run("completion", shell).out);
    const names = (path: string) =>
      commands.find((one) => one.path === path)!.commands.map(({ name }) => name);
    expect(offers("")).toEqual(names("").toSorted());
    expect(offers("bots", "r")).toEqual(["record", "reload", "replay", "routes"]);
    expect(offers("keys", "create", "shop", "--p")).toEqual(["--permissions"]);
    expect(offers("accounts", "create", "shop", "--plan", "")).toEqual(["basic", "pro"]);
    expect(offers("completion", "")).toEqual(["bash", "fish", "zsh"]);
    expect(offers("restore", "parley.")).toContain(`parley.${shell}`);
    expect(offers("link", "3160")).toEqual([]);
  });
});
