import { hostname } from "node:os";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig, repositoryRoot, type Config, type Environment } from "../../../src/config.ts";
import { StartError } from "../../../src/model/errors/errors.ts";
import { removeFolder } from "../../_setup/folders.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "parley-test-"));
  onTestFinished(() => removeFolder(made));
  return made;
}

function refusal(env: Environment): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(env)}`);
}

describe("settings", () => {
  it("have the documented defaults", () => {
    const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");
    const expected: Config = {
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://127.0.0.1:3000",
      trustProxy: false,
      dataDir: `${root}/.data`,
      databaseUrl: `file:${root}/.data/parley.db`,
      databaseAuthToken: null,
      storeThread: true,
      everydayPath: true,
      redisUrl: null,
      cluster: null,
      mediaStore: null,
      allowWeakDurability: false,
      masterKey: null,
      adminToken: null,
      consoleDir: null,
      botsDir: null,
      botsStrict: false,
      sendWaitMs: 15_000,
      webhookTimeoutMs: 15_000,
      maxMediaBytes: 67_108_864,
      allowPrivateNetwork: false,
      apiRatePerMinute: 600,
      wrongKeysPerMinute: 60,
      pacePerMinute: 60,
      loopGuardPerMinute: 30,
      botTimeoutMs: 30_000,
      takeoverMinutes: 30,
      plans: {
        basic: { devices: 1, keys: 5, sends_per_day: null },
        pro: { devices: 10, keys: 50, sends_per_day: null },
      },
      retentionDays: 30,
      auditLogDays: 365,
      sessionIdleMinutes: 480,
      sessionHours: 168,
      trafficDays: 90,
      ffmpegPath: null,
      mpwaCompat: false,
      warmUp: false,
      passkeyLinking: false,
      importHistory: false,
      alertUrl: null,
      alertSecret: null,
      scheduledBackups: null,
      backupKeep: 24,
      whatsappVersion: null,
      whatsappVersionUrl: null,
      whatsappWsUrl: null,
      whatsappNoiseRoot: null,
      whatsappCaFile: null,
      playgroundUrl: null,
      logLevel: "info",
      logFormat: null,
    };

    expect(loadConfig({})).toEqual(expected);
    expect(loadConfig({ PORT: "", DATA_DIR: "  ", REDIS_URL: "" })).toEqual(expected);
  });

  it.each([
    ["1", true],
    ["true", true],
    ["ON", true],
    ["Yes", true],
    ["0", false],
    ["off", false],
    ["no", false],
  ])("read the boolean %s", (word, value) => {
    expect(loadConfig({ TRUST_PROXY: word }).trustProxy).toBe(value);
  });

  it("show an address that can be opened, whatever they listen on", () => {
    expect(loadConfig({ HOST: "0.0.0.0", PORT: "8080" }).publicUrl).toBe("http://127.0.0.1:8080");
    expect(loadConfig({ HOST: "::1" }).publicUrl).toBe("http://[::1]:3000");
    expect(loadConfig({ PUBLIC_URL: "https://chat.example.com/gw/" }).publicUrl).toBe(
      "https://chat.example.com/gw",
    );
  });

  it("start relative paths at the repository root, and absolute ones nowhere else", () => {
    const root = folder();
    mkdirSync(join(root, "more-bots"));
    const config = loadConfig(
      { DATA_DIR: "var/data", BOTS_DIR: "more-bots", DATABASE_URL: "file:db/x.db" },
      root,
    );

    expect(config.dataDir).toBe(join(root, "var/data"));
    expect(config.botsDir).toBe(join(root, "more-bots"));
    expect(config.databaseUrl).toBe(`file:${join(root, "db/x.db")}`);
    expect(loadConfig({ DATABASE_URL: "file:///srv/x.db" }).databaseUrl).toBe("file:/srv/x.db");
  });

  it("make a node where CLUSTER says so, and name what a node lacks", () => {
    const shared = {
      CLUSTER: "1",
      DATABASE_URL: "https://db.example.com",
      REDIS_URL: "redis://cache.example.com",
      PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      PARLEY_ADMIN_TOKEN: "operators-token-of-these-tests",
    };

    expect(loadConfig({ ...shared, NODE_NAME: "one" })).toMatchObject({
      databaseUrl: "https://db.example.com",
      cluster: { node: "one", leaseMs: 15_000 },
    });
    expect(loadConfig({ ...shared, LEASE_SECONDS: "3" }).cluster).toEqual({
      node: `${hostname()}-${process.pid}`,
      leaseMs: 3_000,
      url: "http://127.0.0.1:3000",
    });
    expect(loadConfig({ ...shared, HOST: "10.1.2.3", PORT: "81" }).cluster?.url).toBe("http://10.1.2.3:81");
    expect(loadConfig({ ...shared, NODE_URL: "http://one:3000/" }).cluster?.url).toBe("http://one:3000");
    // Nobody else can reach what a node that listens everywhere calls itself.
    expect(loadConfig({ ...shared, HOST: "::" }).cluster?.url).not.toMatch(/0\.0\.0\.0|\[::\]/);
    expect(loadConfig({ ...shared, CLUSTER: "0" }).cluster).toBeNull();
    expect(loadConfig({ DATABASE_URL: "https://db.example.com" }).cluster).toBeNull();
    for (const DATABASE_URL of ["", "file:here.db"])
      expect(() => loadConfig({ ...shared, DATABASE_URL })).toThrow("DATABASE_URL must be the address");
    for (const name of ["REDIS_URL", "PARLEY_MASTER_KEY", "PARLEY_ADMIN_TOKEN"])
      expect(() => loadConfig({ ...shared, [name]: "" })).toThrow(`${name} must be set when CLUSTER`);
    expect(() => loadConfig({ ...shared, NODE_NAME: "one two" })).toThrow("NODE_NAME");
    expect(() => loadConfig({ ...shared, LEASE_SECONDS: "2" })).toThrow("LEASE_SECONDS");
  });

  it("name a bucket for files, and refuse what is half of one", () => {
    const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
    const store = (MEDIA_STORE: string, more: Environment = keys) =>
      loadConfig({ MEDIA_STORE, ...more }).mediaStore;

    expect(store("s3://parley")).toEqual({
      bucket: "parley",
      prefix: "",
      region: "us-east-1",
      endpoint: "https://s3.us-east-1.amazonaws.com",
      accessKeyId: "id",
      secretAccessKey: "secret",
      sessionToken: null,
    });
    expect(store("s3://parley/a/b/?region=eu-1&endpoint=http://minio:9000/")).toMatchObject({
      prefix: "a/b/",
      region: "eu-1",
      endpoint: "http://minio:9000",
    });
    expect(store("s3://parley", { ...keys, AWS_REGION: "eu-1" })).toMatchObject({ region: "eu-1" });
    for (const wrong of [
      "s3://",
      "/files",
      "https://b",
      "s3://b?x=1",
      "s3://a:b@bucket",
      "s3://b?endpoint=minio",
    ])
      expect(() => store(wrong), wrong).toThrow("MEDIA_STORE must be");
    expect(() => store("s3://parley", {})).toThrow("AWS_ACCESS_KEY_ID must be set when MEDIA_STORE is.");
  });

  it("say where backups go, how often, and how many stay", () => {
    const made = (env: Environment) => loadConfig(env).scheduledBackups;
    expect(made({ BACKUP_EVERY: "1d" })).toBeNull();
    expect(made({ BACKUP_TO: "/backups" })).toEqual({ to: "/backups", everyMs: 3_600_000 });
    expect(made({ BACKUP_TO: "/backups", BACKUP_EVERY: "2d", BACKUP_KEEP: "7" })).toEqual({
      to: "/backups",
      everyMs: 172_800_000,
    });
    const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
    expect(made({ BACKUP_TO: "s3://bucket/parley?region=eu-1", ...keys })?.to).toMatchObject({
      bucket: "bucket",
      prefix: "parley/",
      region: "eu-1",
    });
    expect(refusal({ BACKUP_TO: "s3://bucket" })).toBe("AWS_ACCESS_KEY_ID must be set when BACKUP_TO is.");
    expect(refusal({ BACKUP_TO: "/backups", DATABASE_URL: "http://sqld:8080" })).toContain(
      "the server's own backups",
    );
  });

  it("find the repository root from within a build that has a package.json of its own", () => {
    const root = folder();
    const server = join(root, ".output/server/_chunks");
    mkdirSync(server, { recursive: true });
    writeFileSync(join(root, "package.json"), '{"name":"parley"}');
    writeFileSync(join(root, ".output/server/package.json"), '{"name":"parley-prod"}');

    expect(repositoryRoot(server)).toBe(root);
    rmSync(join(root, "package.json"));
    expect(repositoryRoot(server)).toBe(process.cwd());
  });

  it("take plans as JSON, limit by limit", () => {
    const { plans } = loadConfig({
      PLAN_BASIC: '{"devices": 3, "sends_per_day": 1000}',
      PLAN_PRO: '{"keys":null}',
    });

    expect(plans.basic).toEqual({ devices: 3, keys: 5, sends_per_day: 1000 });
    expect(plans.pro).toEqual({ devices: 10, keys: null, sends_per_day: null });
  });

  it("take the settings of a simulator together", () => {
    const config = loadConfig({
      WHATSAPP_WS_URL: "ws://127.0.0.1:4000/ws/chat",
      WHATSAPP_NOISE_ROOT: "ab".repeat(32),
      PLAYGROUND_URL: "http://127.0.0.1:4100/playground#token=secret",
      WHATSAPP_VERSION: "2.3000.1043857760",
    });

    expect(config.whatsappWsUrl).toBe("ws://127.0.0.1:4000/ws/chat");
    expect(config.whatsappNoiseRoot).toEqual(Buffer.alloc(32, 0xab));
    expect(config.playgroundUrl).toBe("http://127.0.0.1:4100/playground#token=secret");
    expect(config.whatsappVersion).toEqual([2, 3000, 1_043_857_760]);
  });

  it("take a master key with and without padding", () => {
    const key = Buffer.alloc(32, 0xfe);

    expect(loadConfig({ PARLEY_MASTER_KEY: key.toString("base64") }).masterKey).toEqual(key);
    expect(loadConfig({ PARLEY_MASTER_KEY: key.toString("base64url") }).masterKey).toEqual(key);
  });
});

describe("a setting that cannot be", () => {
  it.each<[string, string]>([
    ["PORT", "0"],
    ["PORT", "70000"],
    ["PORT", "80a"],
    ["PORT", "-1"],
    ["HOST", "http://x"],
    ["PUBLIC_URL", "chat.example.com"],
    ["PUBLIC_URL", "ftp://example.com"],
    ["PUBLIC_URL", "https://example.com/?page=1"],
    ["PUBLIC_URL", "https://example.com/#top"],
    ["TRUST_PROXY", "maybe"],
    ["DATABASE_URL", "postgres://x"],
    ["DATABASE_URL", "file::memory:"],
    ["DATABASE_URL", "file:"],
    ["REDIS_URL", "localhost:6379"],
    ["PARLEY_MASTER_KEY", "c2hvcnQ="],
    ["PARLEY_MASTER_KEY", `${"A".repeat(42)}!=`],
    ["PARLEY_ADMIN_TOKEN", "short"],
    ["PARLEY_ADMIN_TOKEN", "has a space in the middle"],
    ["BOTS_DIR", "/nowhere/at/all"],
    ["SEND_WAIT_MS", "15s"],
    ["SEND_WAIT_MS", "99999999999"],
    ["WEBHOOK_TIMEOUT_MS", "0"],
    ["MAX_MEDIA_BYTES", "1e6"],
    ["RETENTION_DAYS", "0"],
    ["AUDIT_LOG_DAYS", "0"],
    ["SESSION_IDLE_MINUTES", "0"],
    ["SESSION_HOURS", "8761"],
    ["PLAN_BASIC", "{"],
    ["PLAN_BASIC", "[]"],
    ["PLAN_BASIC", '{"devices":-1}'],
    ["PLAN_PRO", '{"device":1}'],
    ["PLAN_PRO", '{"devices":"1"}'],
    ["FFMPEG_PATH", "/nowhere/ffmpeg"],
    ["WHATSAPP_VERSION", "2.3000"],
    ["WHATSAPP_WS_URL", "http://127.0.0.1"],
    ["WHATSAPP_WS_URL", "ws://web.whatsapp.com/ws/chat"],
    ["WHATSAPP_CA_FILE", "/nowhere/ca.pem"],
    ["LOG_LEVEL", "loud"],
    ["ALERT_URL", "hooks.example.com"],
    ["ALERT_SECRET", "secret"],
    ["ALERT_SECRET", "whsec_c2hvcnQ="],
    ["BACKUP_TO", "ftp://example.com/x"],
    ["BACKUP_TO", "s3://"],
    ["BACKUP_EVERY", "1"],
    ["BACKUP_EVERY", "1w"],
    ["BACKUP_EVERY", "0m"],
    ["BACKUP_EVERY", "32d"],
    ["BACKUP_KEEP", "0"],
  ])("stops the start with one line that names it: %s=%s", (name, value) => {
    const message = refusal({ [name]: value });

    expect(message).toContain(name);
    expect(message).not.toContain("\n");
  });

  it("is a playground without a simulator: with the real WhatsApp nobody may write as anybody", () => {
    const playground = "http://127.0.0.1:4100/playground#token=secret";
    for (const address of [{}, { WHATSAPP_WS_URL: "wss://web.whatsapp.com/ws/chat" }])
      expect(refusal({ PLAYGROUND_URL: playground, ...address })).toBe(
        "PLAYGROUND_URL is for a simulator only: set WHATSAPP_WS_URL to the simulator's address, or remove it.",
      );
  });

  it("is a Noise root without a simulator's address, with WhatsApp's own, or of another length", () => {
    const root = "ab".repeat(32);

    expect(refusal({ WHATSAPP_NOISE_ROOT: root })).toContain("WHATSAPP_NOISE_ROOT");
    for (const host of ["web.whatsapp.com", "g.whatsapp.net", "WhatsApp.com", "web.whatsapp.com."])
      expect(refusal({ WHATSAPP_NOISE_ROOT: root, WHATSAPP_WS_URL: `wss://${host}/ws/chat` })).toContain(
        "WHATSAPP_NOISE_ROOT",
      );
    const simulator = "ws://127.0.0.1:4000";
    expect(refusal({ WHATSAPP_NOISE_ROOT: "ab", WHATSAPP_WS_URL: simulator })).toContain(
      "WHATSAPP_NOISE_ROOT",
    );
    expect(loadConfig({ WHATSAPP_NOISE_ROOT: root, WHATSAPP_WS_URL: "wss://notwhatsapp.com" })).toBeDefined();
  });

  it("is told everything that it may be", () => {
    expect(refusal({ DATABASE_URL: "postgres://x" })).toBe(
      "DATABASE_URL must be file:<path>, or a complete address that starts with http:// or https:// or libsql:// or ws:// or wss://.",
    );
    expect(refusal({ MEDIA_STORE: "bucket" })).toBe(
      "MEDIA_STORE must be a complete address that starts with s3://.",
    );
  });

  it("is a CA file without a certificate", () => {
    const file = join(folder(), "ca.pem");
    writeFileSync(file, "not a certificate");
    expect(refusal({ WHATSAPP_CA_FILE: file })).toContain("WHATSAPP_CA_FILE");
    writeFileSync(file, "-----BEGIN CERTIFICATE-----");
    expect(loadConfig({ WHATSAPP_CA_FILE: file }).whatsappCaFile).toBe(file);
  });

  it("never has the value of a secret in its line", () => {
    expect(refusal({ REDIS_URL: "redi://:hunter2secret@host" })).not.toContain("hunter2");
    expect(refusal({ DATABASE_URL: "libsq://host?authToken=hunter2secret" })).not.toContain("hunter2");
    expect(refusal({ PARLEY_MASTER_KEY: "hunter2secret" })).not.toContain("hunter2");
    expect(refusal({ PARLEY_ADMIN_TOKEN: "hunter2 secret" })).not.toContain("hunter2");
  });
});
