import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TELLING_ROW, type Telling } from "../../src/alerts/telling.ts";
import { checkAlerts } from "../../src/cli/doctor/alerts.ts";
import { checkBackup } from "../../src/cli/doctor/backup.ts";
import {
  checkClock,
  checkConsole,
  checkMemory,
  checkOwners,
  checkTls,
} from "../../src/cli/doctor/machine.ts";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { checkRedis, checkServer } from "../../src/cli/doctor/services.ts";
import { loadConfig, type Config } from "../../src/config.ts";
import { openStore } from "../../src/store/open.ts";
import { runCommand } from "../_setup/command.ts";
import { startRedis } from "../_setup/redis.ts";
import { freePort } from "../_setup/free-port.ts";
import { begunFolder, configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";

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

describe("the doctor of an address", () => {
  it("says until when its certificate is valid, that one ends soon, and whether a gateway answers there", async () => {
    const folder = temporaryFolder();
    let isGateway = true;
    const serve = async (days: string): Promise<{ url: string; cert: string; close(): void }> => {
      const [key, cert] = [join(folder, `key${days}`), join(folder, `cert${days}`)];
      const made = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=localhost",
      ];
      const whom = ["-addext", "subjectAltName=DNS:localhost", "-days", days];
      execFileSync("openssl", ["req", "-x509", ...made, ...whom, "-keyout", key, "-out", cert], {
        stdio: "ignore",
      });
      const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
        response
          .setHeader("content-type", "application/json")
          .end(isGateway ? '{"status": true}' : '{"hello": "world"}'),
      ).listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as AddressInfo;
      return { url: `https://localhost:${port}`, cert, close: () => server.close() };
    };
    // Whom a process believes is known when it starts.
    const examine = async ({ url, cert }: { url: string; cert: string }) => {
      const env = { DATA_DIR: join(folder, "data"), PUBLIC_URL: url, NODE_EXTRA_CA_CERTS: cert };
      const { text } = await runCommand({ env: { ...env, TRUST_PROXY: "1" } }, "doctor");
      return text.split("\n").filter((line) => /^ *\S* (tls|proxy) /.test(line));
    };
    const [long, short] = [await serve("90"), await serve("10")];
    try {
      expect(await examine(long)).toEqual([
        expect.stringMatching(/✓ tls .* is valid until \d{4}-/),
        expect.stringMatching(/✓ proxy .* leads to a gateway/),
      ]);
      isGateway = false;
      expect(await examine(short)).toEqual([
        expect.stringMatching(/✗ tls .*: (9|10) days; the proxy has not renewed it/),
        expect.stringMatching(/✗ proxy .* does not reach a gateway/),
      ]);
    } finally {
      long.close();
      short.close();
    }
  });
});

describe("the doctor of alerts and backups", () => {
  it("says whether alerts are on, whether they arrive, and how to try them", async () => {
    const folder = await begunFolder();
    const at = (env: Record<string, string>): Config => configFor(folder, env);
    const ALERT_URL = "https://ops.example/hook";
    expect(await checkAlerts(at({}))).toMatchObject({
      state: "note",
      text: expect.stringContaining("ALERT_URL"),
    });
    expect(await checkAlerts(at({ ALERT_URL }))).toMatchObject({
      state: "note",
      text: expect.stringMatching(/^to ops\.example, not signed .* alerts test$/),
    });
    const told = async (telling: Partial<Telling>): Promise<Finding> => {
      const config = at({ ALERT_URL, ALERT_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` });
      const store = await openStore(config, silentLog(config));
      const row = {
        deliveredAt: null,
        failingSince: null,
        failures: 0,
        lastError: null,
        givenUp: 0,
        ...telling,
      };
      await store.writer.commit([
        {
          sql: "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
          args: [TELLING_ROW, JSON.stringify(row)],
        },
      ]);
      await store.close();
      return checkAlerts(config);
    };
    const deliveredAt = Date.parse("2026-11-01T00:00:00Z");
    expect(await told({ deliveredAt, givenUp: 2 })).toMatchObject({
      state: "good",
      text: "to ops.example, the last at 2026-11-01T00:00:00.000Z; 2 were given up after a day",
    });
    expect(await told({ failingSince: deliveredAt, failures: 3, lastError: "HTTP 500" })).toMatchObject({
      state: "bad",
      text: expect.stringMatching(
        /^do not arrive .* since 2026-11-01T00:00:00\.000Z \(3 attempts, HTTP 500\)/,
      ),
    });
  });

  it("warns of backups that lie on the disk of the data, and of no others", async () => {
    const folder = await begunFolder();
    // In memory: another file system than that of the test's folder.
    const elsewhere = statSync("/dev/shm").dev === statSync(folder).dev ? "/proc" : "/dev/shm";
    const warned = async (to: string): Promise<boolean> =>
      (await checkBackup(configFor(folder, { BACKUP_TO: to }))).some(({ text }) =>
        text.includes("same disk"),
      );
    expect(await warned(join(folder, "not/yet/there"))).toBe(true);
    expect(await warned(elsewhere)).toBe(false);
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
