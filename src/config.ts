import { existsSync, readFileSync, statSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "./model/errors/errors.ts";
import { readBucket } from "./model/media/media-store-setting.ts";
import { readPlan } from "./model/plan.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./model/time.ts";
import { createSettings, type Environment, type Settings } from "./model/settings.ts";
import {
  type ClusterSettings,
  type Config,
  LOG_FORMATS,
  LOG_LEVELS,
  type ScheduledBackupSettings,
} from "./config/shape.ts";

export type { Environment } from "./model/settings.ts";
export type { Plan } from "./model/plan.ts";
export * from "./config/shape.ts";

// setTimeout takes at most 2^31 - 1 ms and fires at once beyond it, so no waiting time may come near.
const TEN_MINUTES = 600_000;

/**
 * Reads and checks every setting.
 *
 * @param env  usually `process.env`; empty values count as absent
 * @param root folder at which relative paths start; default: the repository root, or the working directory when the
 *             build was copied away from it
 * @throws {StartError} one line with the setting's name and the cure; values of secrets are never in it
 */
export function loadConfig(env: Environment, root: string = repositoryRoot()): Config {
  const settings = createSettings(env);
  const path = (text: string): string => (isAbsolute(text) ? text : resolve(root, text));
  return {
    ...readListening(settings),
    ...readStorage(settings, path),
    ...readLimits(settings),
    ...readWhatsApp(settings, path),
    consoleDir: readFolder(settings, "CONSOLE_DIR", path),
    botsDir: readFolder(settings, "BOTS_DIR", path),
    botsStrict: settings.flag("BOTS_STRICT"),
    ffmpegPath: readProgram(settings, "FFMPEG_PATH", path),
    allowPrivateNetwork: settings.flag("ALLOW_PRIVATE_NETWORK"),
    mpwaCompat: settings.flag("MPWA_COMPAT"),
    warmUp: settings.flag("WARM_UP"),
    passkeyLinking: settings.flag("PASSKEY_LINKING"),
    importHistory: settings.flag("IMPORT_HISTORY"),
    alertUrl: settings.url("ALERT_URL", ["https:", "http:"]),
    alertSecret: readAlertSecret(settings),
    plans: {
      basic: readPlan("PLAN_BASIC", settings.text("PLAN_BASIC"), {
        devices: 1,
        keys: 5,
        sends_per_day: null,
      }),
      pro: readPlan("PLAN_PRO", settings.text("PLAN_PRO"), { devices: 10, keys: 50, sends_per_day: null }),
    },
    scheduledBackups: readScheduledBackups(settings, path),
    backupKeep: settings.integer("BACKUP_KEEP", 24, 1, 10_000),
    logLevel: settings.oneOf("LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: settings.oneOf("LOG_FORMAT", LOG_FORMATS, null),
  };
}

/**
 * Folder of the repository's package.json above this module; the working directory when there is none, and where Parley is installed as a
 * package: what lies in its folder goes away with the next version.
 */
export function repositoryRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    // By name: the build writes a package.json of its own beside the bundle.
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "parley")
      return basename(dirname(folder)) === "node_modules" ? process.cwd() : folder;
    if (folder === dirname(folder)) return process.cwd();
  }
}

function readListening(settings: Settings) {
  const host = settings.text("HOST") ?? "127.0.0.1";
  if (/[\s/]/.test(host))
    throw new StartError("HOST must be an address or a host name, for instance 0.0.0.0.");
  const port = settings.integer("PORT", 3000, 1, 65_535);
  // Nobody can open http://0.0.0.0: what listens everywhere is shown as this machine.
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const fallback = `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
  const publicUrl = settings.url("PUBLIC_URL", ["http:", "https:"]) ?? fallback;
  // Paths are put behind it.
  if (/[?#]/.test(publicUrl))
    throw new StartError("PUBLIC_URL must end with its host or path, without ? and #.");
  return { host, port, publicUrl: publicUrl.replace(/\/+$/, ""), trustProxy: settings.flag("TRUST_PROXY") };
}

function readStorage(settings: Settings, path: (text: string) => string) {
  const dataDir = path(settings.text("DATA_DIR") ?? ".data");
  return {
    dataDir,
    databaseUrl: readDatabaseUrl(settings, path) ?? `file:${join(dataDir, "parley.db")}`,
    databaseAuthToken: settings.text("DATABASE_AUTH_TOKEN"),
    storeThread: settings.flag("STORE_THREAD", true),
    everydayPath: settings.flag("EVERYDAY_PATH", true),
    redisUrl: settings.url("REDIS_URL", ["redis:", "rediss:"]),
    masterKey: readMasterKey(settings),
    adminToken: readAdminToken(settings),
    cluster: readCluster(settings),
    mediaStore: readBucket(settings, "MEDIA_STORE"),
    allowWeakDurability: settings.flag("ALLOW_WEAK_DURABILITY"),
  };
}

/** What a node among several must be given, because all of them have to have the same. */
const SHARED_BY_NODES = ["REDIS_URL", "PARLEY_MASTER_KEY", "PARLEY_ADMIN_TOKEN"] as const;

/** CLUSTER makes a node, which says what it lacks to be one. Without it, this process has its database for itself. */
function readCluster(settings: Settings): ClusterSettings | null {
  const node = settings.text("NODE_NAME") ?? `${hostname()}-${process.pid}`;
  if (!/^[\w.-]{1,100}$/.test(node))
    throw new StartError("NODE_NAME must be 1 to 100 letters, digits, dots, dashes and underscores.");
  const leaseMs = settings.integer("LEASE_SECONDS", 15, 3, 300) * SECOND_MS;
  if (!settings.flag("CLUSTER")) return null;
  const url = settings.text("DATABASE_URL");
  if (url === null || url.startsWith("file:"))
    throw new StartError(
      "DATABASE_URL must be the address of a libSQL server when CLUSTER is on: nodes share one database (docs/scaling.md).",
    );
  const missing = SHARED_BY_NODES.filter((name) => settings.text(name) === null);
  if (missing.length === 0) return { node, leaseMs, url: readNodeUrl(settings) };
  throw new StartError(
    `${missing.join(", ")} must be set when CLUSTER is on: all nodes need the same values (docs/scaling.md).`,
  );
}

/** Unless it is told, a node is where it listens; one that listens everywhere is at its first address that others can reach. */
function readNodeUrl(settings: Settings): string {
  const { host, port } = readListening(settings);
  const everywhere = host === "0.0.0.0" || host === "::";
  const reached = everywhere ? (firstOuterAddress() ?? hostname()) : host;
  const fallback = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
  return (settings.url("NODE_URL", ["http:", "https:"]) ?? fallback).replace(/\/+$/, "");
}

function firstOuterAddress(): string | null {
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address));
  return (outer.find(({ family }) => family === "IPv4") ?? outer[0])?.address ?? null;
}

function readDatabaseUrl(settings: Settings, path: (text: string) => string): string | null {
  const text = settings.text("DATABASE_URL");
  if (text === null) return null;
  if (!text.startsWith("file:"))
    return settings.url("DATABASE_URL", ["http:", "https:", "libsql:", "ws:", "wss:"], "file:<path>");
  const file = text.slice("file:".length).replace(/^\/\/(?=\/)/, "");
  if (file === "" || file.startsWith(":memory:") || file.startsWith("//") || file.includes("?"))
    throw new StartError("DATABASE_URL must name a file, for instance file:/var/lib/parley/parley.db.");
  return `file:${path(file)}`;
}

function readMasterKey(settings: Settings): Buffer | null {
  const text = settings.text("PARLEY_MASTER_KEY");
  return text === null ? null : parseMasterKey(text, "PARLEY_MASTER_KEY");
}

/**
 * @param text 32 bytes in base64, with or without padding
 * @param from what to name when it is not: the setting, or the file it was read from
 */
export function parseMasterKey(text: string, from: string): Buffer {
  const key = Buffer.from(text, "base64");
  if (key.length !== 32 || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))
    throw new StartError(`${from} must hold 32 bytes in base64; make one with: openssl rand -base64 32`);
  return key;
}

function readAdminToken(settings: Settings): string | null {
  const text = settings.text("PARLEY_ADMIN_TOKEN");
  return text === null ? null : parseAdminToken(text, "PARLEY_ADMIN_TOKEN");
}

/** 16 to 256 printable ASCII characters without spaces, so that it fits into an Authorization header. */
export function parseAdminToken(text: string, from: string): string {
  if (!/^[\x21-\x7e]{16,256}$/.test(text))
    throw new StartError(
      `${from} must be 16 to 256 printable characters without spaces; make one with: openssl rand -hex 24`,
    );
  return text;
}

/** Without BACKUP_TO there are none, whatever else is set. */
function readScheduledBackups(
  settings: Settings,
  path: (text: string) => string,
): ScheduledBackupSettings | null {
  const text = settings.text("BACKUP_TO");
  const everyMs = settings.duration("BACKUP_EVERY", MINUTE_MS, 31 * DAY_MS) ?? HOUR_MS;
  if (text === null) return null;
  const database = settings.text("DATABASE_URL");
  if (database !== null && !database.startsWith("file:"))
    throw new StartError(
      "BACKUP_TO works with a database file. DATABASE_URL names a libSQL server: use the server's own backups (docs/libsql-server.md), and remove BACKUP_TO.",
    );
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  return { to: isAddress ? readBucket(settings, "BACKUP_TO")! : path(text), everyMs };
}

/** A secret of Standard Webhooks: 24 to 64 bytes. */
function readAlertSecret(settings: Settings): string | null {
  const text = settings.text("ALERT_SECRET");
  if (text === null) return null;
  const bytes = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)
    ? Buffer.from(text.slice("whsec_".length), "base64").length
    : 0;
  if (bytes < 24 || bytes > 64)
    throw new StartError(
      "ALERT_SECRET must be whsec_ and 24 to 64 bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)",
    );
  return text;
}

function readLimits(settings: Settings) {
  return {
    sendWaitMs: settings.integer("SEND_WAIT_MS", 15_000, 0, TEN_MINUTES),
    webhookTimeoutMs: settings.integer("WEBHOOK_TIMEOUT_MS", 15_000, 1, TEN_MINUTES),
    maxMediaBytes: settings.integer("MAX_MEDIA_BYTES", 67_108_864, 1, 4_294_967_296),
    apiRatePerMinute: settings.integer("API_RATE_PER_MINUTE", 600, 0, 10_000_000),
    wrongKeysPerMinute: settings.integer("WRONG_KEYS_PER_MINUTE", 60, 0, 10_000_000),
    pacePerMinute: settings.integer("PACE_PER_MINUTE", 60, 0, 1_000_000),
    loopGuardPerMinute: settings.integer("LOOP_GUARD_PER_MINUTE", 30, 0, 1_000_000),
    botTimeoutMs: settings.integer("BOT_TIMEOUT_MS", 30_000, 1, TEN_MINUTES),
    takeoverMinutes: settings.integer("TAKEOVER_MINUTES", 30, 0, 525_600),
    retentionDays: settings.integer("RETENTION_DAYS", 30, 1, 36_500),
    auditLogDays: settings.integer("AUDIT_LOG_DAYS", 365, 1, 36_500),
    sessionIdleMinutes: settings.integer("SESSION_IDLE_MINUTES", 480, 1, 525_600),
    sessionHours: settings.integer("SESSION_HOURS", 168, 1, 8_760),
    trafficDays: settings.integer("TRAFFIC_DAYS", 90, 1, 36_500),
  };
}

function readWhatsApp(settings: Settings, path: (text: string) => string) {
  const whatsappWsUrl = settings.url("WHATSAPP_WS_URL", ["ws:", "wss:"]);
  const real = whatsappWsUrl === null || isWhatsAppHost(new URL(whatsappWsUrl).hostname);
  if (whatsappWsUrl?.startsWith("ws:") && real)
    throw new StartError(
      "WHATSAPP_WS_URL must start with wss:// for WhatsApp itself; ws:// is for a simulator.",
    );
  const whatsappNoiseRoot = readNoiseRoot(settings);
  if (whatsappNoiseRoot !== null && real)
    throw new StartError(
      "WHATSAPP_NOISE_ROOT is for a simulator only: set WHATSAPP_WS_URL to the simulator's address, or remove it.",
    );
  const playgroundUrl = settings.url("PLAYGROUND_URL", ["http:", "https:"]);
  if (playgroundUrl !== null && real)
    throw new StartError(
      "PLAYGROUND_URL is for a simulator only: set WHATSAPP_WS_URL to the simulator's address, or remove it.",
    );
  const whatsappCaFile = readFile(settings, "WHATSAPP_CA_FILE", path);
  if (whatsappCaFile !== null && !readFileSync(whatsappCaFile, "utf8").includes("BEGIN CERTIFICATE"))
    throw new StartError(
      `WHATSAPP_CA_FILE must be a PEM file with certificates; ${whatsappCaFile} has none.`,
    );
  const whatsappVersionUrl = settings.url("WHATSAPP_VERSION_URL", ["https:", "http:"]);
  const whatsappVersion = readVersion(settings);
  return {
    whatsappWsUrl,
    whatsappNoiseRoot,
    whatsappCaFile,
    whatsappVersion,
    whatsappVersionUrl,
    playgroundUrl,
  };
}

function isWhatsAppHost(hostname: string): boolean {
  return /(^|\.)whatsapp\.(com|net)\.?$/i.test(hostname);
}

function readNoiseRoot(settings: Settings): Buffer | null {
  const text = settings.text("WHATSAPP_NOISE_ROOT");
  if (text === null) return null;
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new StartError(
      "WHATSAPP_NOISE_ROOT must be 32 bytes in hex (64 digits), as the simulator prints it.",
    );
  return Buffer.from(text, "hex");
}

function readVersion(settings: Settings): [number, number, number] | null {
  const text = settings.text("WHATSAPP_VERSION");
  if (text === null) return null;
  const parts = /^(\d{1,9})\.(\d{1,9})\.(\d{1,10})$/.exec(text);
  if (parts === null)
    throw new StartError("WHATSAPP_VERSION must be three numbers, for instance 2.3000.1043857760.");
  return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

function readFolder(settings: Settings, name: string, path: (text: string) => string): string | null {
  const text = settings.text(name);
  if (text === null) return null;
  const folder = path(text);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new StartError(`${name} must be a folder; ${folder} is not one, or does not exist.`);
  return folder;
}

function readFile(settings: Settings, name: string, path: (text: string) => string): string | null {
  const text = settings.text(name);
  if (text === null) return null;
  const file = path(text);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new StartError(`${name} must be a file; ${file} is not one, or does not exist.`);
  return file;
}

/** A bare name is looked up in the PATH when it is used; anything with a slash must exist now. */
function readProgram(settings: Settings, name: string, path: (text: string) => string): string | null {
  return settings.text(name)?.includes("/") ? readFile(settings, name, path) : settings.text(name);
}
