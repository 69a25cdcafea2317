import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { access, open, readFile, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { LOW_DISK_BYTES } from "../../alerts/disk.ts";
import type { Config } from "../../config.ts";
import { createSafeFetch } from "../../net/safe-fetch.ts";
import { ADMIN_TOKEN_FILE, MASTER_KEY_FILE } from "../../store/sealed/secrets.ts";
import { isOlder, versionText, type ClientVersion } from "../../whatsapp/client-version.ts";
import { fetchVersion } from "../../whatsapp/client-versions.ts";
import { isStale } from "../build.ts";
import { ownBuild } from "../place.ts";
import { bad, good, note, type Finding } from "./finding.ts";
import { createGatewayClient } from "../gateway-client.ts";
import { addressesOf } from "../operator.ts";

/**
 * Is this Node one that `package.json` allows (`^20.19.0 || >=22.12.0`)?
 *
 * @param version without `v`
 */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  return fits
    ? good("node", version)
    : bad(
        "node",
        `${version} is too old or has no long-term support: install 20.19 or later in 20.x, or 22.12 or later.`,
      );
}

/** Is the gateway built from the sources as they are now? */
export async function checkBuild(root: string): Promise<Finding> {
  // A build that was copied or installed is not made here.
  if (ownBuild !== null) return good("build", `this command is part of it: ${ownBuild}`);
  if (!existsSync(join(root, "routes"))) return good("build", "part of the image");
  return (await isStale(root))
    ? note("build", "missing or older than the sources; npm start builds it")
    : good("build", "up to date");
}

/** Can the data folder be written, are its secrets private, is there room? */
export async function checkDataFolder(config: Config): Promise<Finding[]> {
  const { dataDir } = config;
  if (!(await stat(dataDir).catch(() => null)))
    return [note("data", `${dataDir} does not exist yet; the first npm start creates it`)];
  const writable = await access(dataDir, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!writable)
    return [bad("data", `${dataDir} is not writable for this user: change its owner, or set DATA_DIR.`)];
  const disk = await statfs(dataDir);
  const free = disk.bavail * disk.bsize;
  const room = `${Math.round(free / 1024 ** 3)} GB free`;
  return [
    free < LOW_DISK_BYTES
      ? bad("data", `${dataDir}: only ${room}; free some space.`)
      : good("data", `${dataDir}, ${room}`),
    await checkSecrets(dataDir),
    ...(await checkPrivacy(dataDir)),
  ];
}

/** Names, sizes and times of files are nobody else's business. */
async function checkPrivacy(dataDir: string): Promise<Finding[]> {
  const { mode } = await stat(dataDir);
  if ((mode & 0o077) === 0 || process.getuid === undefined) return [];
  return [bad("data", `other users can read ${dataDir}: chmod 700 ${dataDir}`)];
}

async function checkSecrets(dataDir: string): Promise<Finding> {
  const open: string[] = [];
  for (const name of [MASTER_KEY_FILE, ADMIN_TOKEN_FILE]) {
    const info = await stat(join(dataDir, name)).catch(() => null);
    if (info && (info.mode & 0o077) !== 0) open.push(join(dataDir, name));
  }
  return open.length > 0
    ? bad("secrets", `other users can read ${open.join(" and ")}: chmod 600 ${open.join(" ")}`)
    : good(
        "secrets",
        `readable for this user only; keep a copy of ${MASTER_KEY_FILE}: without it, the data cannot be read`,
      );
}

/** Is the database file one? A server is asked by the gateway itself. */
export async function checkDatabase(config: Config): Promise<Finding> {
  if (!config.databaseUrl.startsWith("file:"))
    return good("database", "a libSQL server, checked by the gateway");
  const path = config.databaseUrl.slice("file:".length);
  const file = await open(path, "r").catch(() => null);
  if (!file) return note("database", `${path} does not exist yet; the first npm start creates it`);
  const head = await file.read(Buffer.alloc(16), 0, 16, 0).finally(() => file.close());
  const isDatabase = head.buffer.toString("latin1") === "SQLite format 3\0";
  return isDatabase
    ? good("database", path)
    : bad("database", `${path} is not a database: move it away, or set DATABASE_URL.`);
}

/** Does the gateway answer, or is its port free for it? */
export async function checkGateway(config: Config): Promise<Finding> {
  for (const address of addressesOf(config)) {
    const ready = await createGatewayClient(address, undefined, 3_000)
      .get<{ status: boolean; checks: Record<string, unknown> }>("/health/ready")
      .catch(() => null);
    if (ready?.checks) return good("gateway", `runs at ${address}`);
  }
  const { host, port } = config;
  const problem = await listenProblem(host, port);
  if (problem === null) return note("gateway", `not running; port ${port} is free. Start it with: npm start`);
  const cures: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken by another program: stop that program, or set PORT.`,
    EACCES: `this user may not listen at port ${port}: set PORT to 1024 or more and put a proxy in front.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: correct HOST.`,
  };
  return bad(
    "gateway",
    cures[problem] ?? `cannot listen at ${host}:${port} (${problem}): correct HOST and PORT.`,
  );
}

/** Code of what keeps this user from listening there; null: nothing does. */
async function listenProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** Voice notes are converted with ffmpeg; everything else works without. */
export async function checkConverter(config: Config): Promise<Finding> {
  const program = config.ffmpegPath ?? "ffmpeg";
  const version = await promisify(execFile)(program, ["-version"], { timeout: 10_000 }).then(
    ({ stdout }) => /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? null,
    () => null,
  );
  return version
    ? good("ffmpeg", version)
    : note(
        "ffmpeg",
        `${program} was not found; only voice notes need it. Install your distribution's package (apt-get install ffmpeg), or set FFMPEG_PATH.`,
      );
}

/** Real WhatsApp, or a simulator? */
export function checkWhatsApp(config: Config): Finding {
  if (config.whatsappWsUrl === null) return good("whatsapp", "the real one");
  if (config.whatsappNoiseRoot === null)
    return note("whatsapp", `${config.whatsappWsUrl} (WHATSAPP_WS_URL), with WhatsApp's own certificates`);
  return note("whatsapp", `a simulator at ${config.whatsappWsUrl}: no real message is sent or received`);
}

/** Does WhatsApp let the client's version in, as far as the running gateway and the operator's page know? */
export async function checkVersion(config: Config, bundled: ClientVersion): Promise<Finding> {
  const { whatsappVersion: setting, whatsappVersionUrl: url } = config;
  const named = await namedVersion(config);
  if (named?.refused)
    return bad(
      "version",
      `WhatsApp refuses ${named.version}. Update Parley; or set WHATSAPP_VERSION to 2.3000.<client_revision>, with the client_revision of https://web.whatsapp.com; or set WHATSAPP_VERSION_URL to a page that follows it. Then restart.`,
    );
  const ours = setting ?? bundled;
  const text = named?.version ?? versionText(ours);
  if (url === null)
    return setting !== null && isOlder(setting, bundled)
      ? note(
          "version",
          `${text} (WHATSAPP_VERSION) is older than ${versionText(bundled)}, the version that Parley comes with: remove the setting`,
        )
      : good("version", `${text}${setting === null ? "" : " (WHATSAPP_VERSION)"}`);
  const http = createSafeFetch(config);
  try {
    const page = await fetchVersion(http, url);
    return setting !== null && isOlder(setting, page)
      ? note(
          "version",
          `${text} (WHATSAPP_VERSION) is older than ${versionText(page)} of WHATSAPP_VERSION_URL: remove the setting`,
        )
      : good("version", `${text}; WHATSAPP_VERSION_URL names ${versionText(page)}`);
  } catch (error) {
    return note("version", `${text}; WHATSAPP_VERSION_URL does not work: ${(error as Error).message}`);
  } finally {
    await http.close();
  }
}

/** What the running gateway names to WhatsApp; null when none runs, or it does not say. */
async function namedVersion(config: Config): Promise<{ version: string; refused: boolean } | null> {
  const token =
    config.adminToken ?? (await readFile(join(config.dataDir, ADMIN_TOKEN_FILE), "utf8").catch(() => ""));
  for (const address of addressesOf(config)) {
    const headers = { authorization: `Bearer ${token.trim()}` };
    const asked = fetch(`${address}/metrics`, {
      headers,
      signal: AbortSignal.timeout(3_000),
      redirect: "manual",
    });
    const text = await asked.then((answer) => answer.text()).catch(() => "");
    // A node's series carry its name as well, in front or behind.
    const [labels = ""] = /^parley_client_version\{.{1,400}\} 1$/m.exec(text) ?? [];
    const version = /\bversion="([\d.]{1,40})"/.exec(labels)?.[1];
    if (version !== undefined) return { version, refused: labels.includes('refused="true"') };
  }
  return null;
}

/** Can other people and their systems reach the address that is shown to them? */
export function checkPublicUrl(config: Config): Finding {
  const { hostname, protocol } = new URL(config.publicUrl);
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  if (local)
    return note("address", `${config.publicUrl} works on this machine only; set PUBLIC_URL behind a proxy`);
  return protocol === "https:"
    ? good("address", config.publicUrl)
    : note(
        "address",
        `${config.publicUrl} is not encrypted: keys can be read in transit. Put HTTPS in front.`,
      );
}
