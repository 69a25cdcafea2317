import { meta } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { isOlder, readVersion, versionInPage, versionText, type ClientVersion } from "./client-version.ts";

const LOOK_EVERY_MS = 12 * HOUR_MS;
/** A look that has failed is made again the next hour. */
const TICK_MS = HOUR_MS;
/** After a refusal, not sooner than WhatsApp is asked again. */
const AFTER_REFUSAL_MS = 10 * MINUTE_MS;
const ANSWER_WITHIN_MS = 10 * SECOND_MS;
/** Nobody waits longer for a page before connecting. */
const START_WAITS_MS = 5 * SECOND_MS;
/** WhatsApp's service worker has a few dozen KiB. */
const LONGEST_PAGE = 512 * 1024;

/** WhatsApp gives its service worker to browsers only. Source: whatsapp-rust `src/version.rs`. */
const AS_A_BROWSER = {
  "sec-fetch-site": "none",
  "user-agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
};

const PLACE = "client_version";
const CACHED = defineQuery(`select value from meta where key = '${PLACE}'`, { value: meta.value });
const CACHE = `insert into meta (key, value) values ('${PLACE}', ?)
on conflict (key) do update set value = excluded.value`;

/** Which client version connections name. */
export interface ClientVersions {
  /** Resolves when it is known what the page said last, or within 5 s of asking it. Never rejects. */
  ready(): Promise<void>;
  /** What the next connection names: the setting; else the newest that is known and was not refused. */
  current(): ClientVersion;
  /** WhatsApp lets nobody in with it. */
  refused(version: ClientVersion): void;
  /** What is named now, and whether WhatsApp has refused it. */
  state(): { version: string; refused: boolean };
  stop(): void;
}

/** What knowing versions takes. */
interface ClientVersionsDeps {
  store: Pick<Store, "readOne" | "writer" | "time">;
  config: Pick<Config, "whatsappVersion" | "whatsappVersionUrl">;
  log: Logger;
  /** Default: no page is asked. */
  http?: Pick<SafeFetch, "request"> | undefined;
  /** The one that the client library brings. */
  bundled: ClientVersion;
}

/** What a page said, and when: Unix milliseconds. */
interface Fetched {
  version: ClientVersion;
  at: number;
}

/** Reads the page that `WHATSAPP_VERSION_URL` names. @throws with a reason for people */
export async function fetchVersion(http: Pick<SafeFetch, "request">, url: string): Promise<ClientVersion> {
  const limits = { timeoutMs: ANSWER_WITHIN_MS, maxBytes: LONGEST_PAGE, maxRedirects: 3 };
  const { status, body } = await http.request(url, { method: "GET", headers: AS_A_BROWSER, ...limits });
  if (status !== 200) throw new Error(`the page was answered with HTTP ${status}`);
  const version = versionInPage(body.toString("utf8"));
  if (version === null) throw new Error("the page names no version of WhatsApp's client");
  return version;
}

/**
 * Compares what is named to WhatsApp with what is known to work: the setting, what the client library brings, and, when the
 * operator names one, a page, at a start, every 12 hours, and when a version was refused. A page that fails changes nothing.
 */
export function createClientVersions(deps: ClientVersionsDeps): ClientVersions {
  const { store, config, log, http, bundled } = deps;
  const { whatsappVersion: setting } = config;
  const url = http === undefined ? null : config.whatsappVersionUrl;
  const { time } = store;
  const turnedAway = new Set<string>();
  let fetched: Fetched | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  function current(): ClientVersion {
    if (setting !== null) return setting;
    const known =
      fetched !== null && isOlder(bundled, fetched.version) ? [fetched.version, bundled] : [bundled];
    return known.find((version) => !turnedAway.has(versionText(version))) ?? known[0]!;
  }

  async function look(): Promise<void> {
    if (url === null || http === undefined) return;
    askedAt = time.monotonic();
    try {
      const version = await fetchVersion(http, url);
      const before = versionText(current());
      fetched = { version, at: time.now() };
      tell(version, before);
      await store.writer.commit([
        { sql: CACHE, args: [JSON.stringify({ version: versionText(version), at: fetched.at })] },
      ]);
    } catch (error) {
      log.warn({ err: error }, "could not look up the client version; using the last known one");
    }
  }

  function tell(version: ClientVersion, before: string): void {
    const named = versionText(version);
    if (setting !== null && isOlder(setting, version))
      log.warn(
        { setting: versionText(setting), newer: named },
        "WHATSAPP_VERSION is older than a version that is known to work",
      );
    else if (versionText(current()) !== before)
      log.info({ from: before, to: named }, "new connections report a newer client version");
  }

  async function begin(): Promise<void> {
    const row = await store.readOne(CACHED).catch(() => null);
    fetched = row === null ? null : readCached(row.value);
    if (isDue()) await look();
  }

  const isDue = (): boolean => fetched === null || Math.abs(time.now() - fetched.at) >= LOOK_EVERY_MS;
  const begun = url === null ? Promise.resolve() : begin();
  const stop =
    url === null
      ? () => undefined
      : time.every(TICK_MS, () => {
          if (isDue()) void look();
        });

  return {
    ready: () => time.within(START_WAITS_MS, begun).then(() => undefined),
    current,
    refused(version) {
      const name = versionText(version);
      if (!turnedAway.has(name))
        log.error(
          { version: name },
          "WhatsApp refuses this client version; for the cure, run: npm run parley -- doctor",
        );
      turnedAway.add(name);
      if (time.monotonic() - askedAt >= AFTER_REFUSAL_MS) void look();
    },
    state() {
      const version = versionText(current());
      return { version, refused: turnedAway.has(version) };
    },
    stop,
  };
}

/** Null when it was not written by this version of the gateway. */
function readCached(value: string): Fetched | null {
  try {
    const { version, at } = JSON.parse(value) as { version: string; at: number };
    const read = readVersion(version);
    return read !== null && typeof at === "number" ? { version: read, at } : null;
  } catch {
    return null;
  }
}
