import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { DEPLOY_FOLDER } from "../_setup/deploy.ts";

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
