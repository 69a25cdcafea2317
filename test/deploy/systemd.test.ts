import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { DEPLOY_FOLDER } from "../_setup/deploy.ts";
import { temporaryFolder } from "../unit/store/temporary.ts";

const unit = join(DEPLOY_FOLDER, "systemd/parley.service");
/** Of ten; 1.4 as it is. A line of hardening that goes missing costs 0.1 and more. */
const MOST_EXPOSED = 1.4;

const analyze = (...args: string[]) => spawnSync("systemd-analyze", args, { encoding: "utf8" });
const isThere = analyze("--version").error === undefined;

describe("deploy/systemd/parley.service", () => {
  it.runIf(isThere)("is a unit that systemd reads without a word", () => {
    const { status, stderr, stdout } = analyze("verify", unit);
    // Where there is no /usr/bin/node, that alone is said.
    const said = stderr.split("\n").filter((line) => line !== "" && !line.includes("is not executable"));
    expect({ status: said.length === 0 ? 0 : status, said, stdout }).toEqual({
      status: 0,
      said: [],
      stdout: "",
    });
  });

  it.runIf(isThere)("may do no more than it has to", () => {
    const { stdout } = analyze("security", "--offline=true", "--no-pager", unit);
    const [, exposure] = /Overall exposure level for parley\.service: ([\d.]+)/.exec(stdout) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(MOST_EXPOSED);
  });

  it("gives settings that the gateway takes, for data that only it can read", () => {
    const text = readFileSync(unit, "utf8");
    const settings = /^Environment=(.*)$/m
      .exec(text)![1]!
      .split(" ")
      .map((one) => one.split("=") as [string, string]);
    expect(loadConfig(Object.fromEntries(settings))).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      dataDir: "/var/lib/parley",
      cluster: null,
    });
    expect(text).toMatch(/^StateDirectory=parley$/m);
    expect(text).toMatch(/^StateDirectoryMode=0700$/m);
    // Where docs/operations/backup.md puts BACKUP_TO.
    expect(text).toMatch(/^ReadWritePaths=-\/var\/backups\/parley$/m);
    // Ending waits for what is under way; see `src/serve/serve.ts`.
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)![1])).toBeGreaterThan(24);
  });
});

describe("deploy/systemd/parley", () => {
  it("runs the command as the service's user, with the settings as systemd reads them, and runs nothing of their file", () => {
    const folder = temporaryFolder();
    const told =
      'PATH=/usr/bin:/bin; for name in DATA_DIR PORT PUBLIC_URL QUOTED BACKUP_TO LAST; do eval "echo $name=\\$$name"; done';
    const runuser = `#!/bin/sh\necho "$@"\n${told}\n`;
    writeFileSync(join(folder, "runuser"), runuser, { mode: 0o755 });
    const settings = join(folder, "parley.env");
    writeFileSync(
      settings,
      [
        "# a remark",
        "",
        "no setting",
        "PORT=3999",
        `PUBLIC_URL=https://x.example/?a=$(touch ${folder}/run)&b=\`id\``,
        'QUOTED="two words"',
        "bad-name=1",
        "BACKUP_TO=s3://bucket/a?region=b&endpoint=https://c",
        "LAST=without a line break",
      ].join("\n"),
    );
    const { stdout, stderr } = spawnSync("sh", [join(DEPLOY_FOLDER, "systemd/parley"), "link", "316 00"], {
      encoding: "utf8",
      env: { PATH: `${folder}:${process.env["PATH"]}`, PARLEY_SETTINGS: settings },
    });
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([
      "-u parley -- /opt/parley/bin/parley link 316 00",
      "DATA_DIR=/var/lib/parley",
      "PORT=3999",
      `PUBLIC_URL=https://x.example/?a=$(touch ${folder}/run)&b=\`id\``,
      "QUOTED=two words",
      "BACKUP_TO=s3://bucket/a?region=b&endpoint=https://c",
      "LAST=without a line break",
    ]);
    expect(existsSync(join(folder, "run"))).toBe(false);
  });
});
