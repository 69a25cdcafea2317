import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkBackup } from "../../src/cli/doctor/backup.ts";
import {
  checkClock,
  checkConsole,
  checkMemory,
  checkOwners,
  checkTls,
} from "../../src/cli/doctor/machine.ts";
import { checkRedis, checkServer } from "../../src/cli/doctor/services.ts";
import { loadConfig, type Config } from "../../src/config.ts";
import { openStore } from "../../src/store/open.ts";
import { startRedis } from "../_setup/redis.ts";
import { freePort } from "../_setup/free-port.ts";
import { configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";

const GB = 1024 ** 3;
const isRoot = process.getuid?.() === 0;

const clock = (said: string): string => {
  const program = join(temporaryFolder(), "timedatectl");
  writeFileSync(program, `#!/bin/sh\necho ${said}\n`, { mode: 0o755 });
  return program;
};

describe("the doctor of the machine", () => {
  it("says for how many numbers there is memory, and when there is too little", () => {
    expect(checkMemory(8 * GB)).toMatchObject({
      state: "good",
      text: expect.stringContaining("1560 numbers"),
    });
    expect(checkMemory(0.25 * GB)).toMatchObject({ state: "bad", text: expect.stringContaining("512 MB") });
  });

  it("finds a clock that nobody sets", async () => {
    expect((await checkClock(clock("yes"))).state).toBe("good");
    expect(await checkClock(clock("no"))).toMatchObject({
      state: "bad",
      text: expect.stringContaining("timedatectl set-ntp true"),
    });
    expect((await checkClock("/no/such/program")).state).toBe("note");
  });

  it.runIf(isRoot)("finds files that belong to somebody else, as after a start as root", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "parley.db"), "");
    expect(await checkOwners(folder)).toEqual([]);
    chownSync(folder, 1234, 1234);
    expect(await checkOwners(folder)).toMatchObject([
      { state: "bad", text: expect.stringContaining(`parley.db in ${folder}`) },
    ]);
    expect((await checkOwners(folder))[0]!.text).toContain(`chown -R 1234:1234 ${folder}`);
  });

  it("sees whether the console is built", () => {
    const root = temporaryFolder();
    expect(checkConsole(root)).toMatchObject({
      state: "note",
      text: expect.stringContaining("npm run build"),
    });
    mkdirSync(join(root, ".output/console"), { recursive: true });
    writeFileSync(join(root, ".output/console/index.html"), "");
    expect(checkConsole(root).state).toBe("good");
  });

  it("says how old the last backup is, while the gateway runs", async () => {
    const config = configFor(temporaryFolder());
    const store = await openStore(config, silentLog(config));
    const made = Date.parse("2026-11-01T00:00:00Z");
    try {
      expect(await checkBackup(config)).toMatchObject([
        { state: "note", text: expect.stringContaining("none") },
      ]);
      const sql = "INSERT INTO meta (key, value) VALUES ('last_backup', ?)";
      await store.writer.commit([{ sql, args: [JSON.stringify({ at: made, bytes: 1 })] }]);
      expect(await checkBackup(config, made + 86_400_000)).toMatchObject([{ state: "good" }]);
      expect(await checkBackup(config, made + 9 * 86_400_000)).toMatchObject([
        { state: "note", text: expect.stringContaining("2026-11-01T00:00:00.000Z, 9 days ago") },
      ]);
    } finally {
      await store.close();
    }
  });

  it("does not believe a certificate that nobody signed, nor an address where nobody listens", async () => {
    const folder = temporaryFolder();
    const [key, cert] = [join(folder, "key"), join(folder, "cert")];
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
    execFileSync("openssl", ["req", "-x509", ...made, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const at = (port: number): Config => loadConfig({ PUBLIC_URL: `https://localhost:${port}` });
    try {
      const { port } = server.address() as AddressInfo;
      expect(await checkTls(at(port))).toMatchObject([
        { name: "proxy", state: "note", text: expect.stringContaining("TRUST_PROXY=1") },
        { name: "tls", state: "bad", text: expect.stringContaining("self-signed certificate") },
      ]);
    } finally {
      server.close();
    }
    expect((await checkTls(at(await freePort()))).at(-1)).toMatchObject({ name: "tls", state: "bad" });
    expect(await checkTls(loadConfig({}))).toEqual([]);
  });
});

describe("the doctor of what a gateway uses", () => {
  it("finds a Redis that forgets, and one that is away", async () => {
    const redis = await startRedis({ policy: "allkeys-lru" });
    const config = loadConfig({ REDIS_URL: redis.url });
    const texts = (await checkRedis(config)).map(({ text }) => text).join("\n");
    expect(texts).toContain("CONFIG SET maxmemory-policy noeviction");
    expect(texts).toContain("CONFIG SET appendonly yes");
    await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await redis.command("CONFIG", "SET", "appendonly", "yes");
    expect(await checkRedis(config)).toMatchObject([{ state: "good" }]);
    await redis.kill();
    expect(await checkRedis(config)).toMatchObject([
      { state: "bad", text: expect.stringContaining("correct REDIS_URL") },
    ]);
    expect(await checkRedis(loadConfig({}))).toEqual([]);
  });

  it("finds a libSQL server that is away", async () => {
    const config = { ...loadConfig({}), databaseUrl: `http://127.0.0.1:${await freePort()}` };
    expect(await checkServer(config)).toMatchObject([
      { state: "bad", text: expect.stringContaining("correct DATABASE_URL") },
    ]);
    expect(await checkServer(loadConfig({}))).toEqual([]);
  });
});
