import { waCreds } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { OutgoingFiles, OwnFiles } from "../model/media/media.ts";
import { DAY_MS, HOUR_MS, type Cancel } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { defineQuery } from "../store/query.ts";
import { beginTenure, type Tenure } from "../store/write/owned.ts";
import type { Store } from "../store/store.ts";
import type { OnWay } from "./everyday/classify.ts";
import { bundledVersion } from "./bundled-version.ts";
import { createClientVersions } from "./client-versions.ts";
import { openAuthState, readCreds, type AuthState } from "./signal/auth-state.ts";
import { openConnection } from "./connection/connection.ts";
import { createDeviceLists } from "./devices/device-lists.ts";
import { createDeviceMemory, type DeviceMemory } from "./connection/device-memory.ts";
import { createRoutes } from "./connection/routes.ts";
import type { HistorySource } from "./history/importer.ts";
import { inTurns } from "./history/turns.ts";
import { identityOf } from "./identity.ts";
import { sourcesOf, type StoredContents } from "./content/sealed-sources.ts";
import { createLateEdits } from "./receive/late-edits.ts";
import { sweepJournal } from "./signal/journal-rows.ts";
import { sweepTokens } from "./signal/token-rows.ts";
import { createKeyCache } from "./signal/key-cache.ts";
import { eraseKeys } from "./signal/key-rows.ts";
import { createMediaDownloads, mediaSource } from "./media/download.ts";
import type { WhatsApp, WireEvent, Witness } from "./port.ts";
import { sharedSocketOptions, type WhatsAppSettings } from "./life/socket-options.ts";

const LINKED = defineQuery(
  "select device_id from wa_creds where device_id in (select value from json_each(?))",
  { deviceId: waCreds.deviceId },
);

/** What WhatsApp needs of the gateway. */
interface WhatsAppDeps extends StoredContents {
  store: Store;
  config: WhatsAppSettings &
    Pick<
      Config,
      | "allowPrivateNetwork"
      | "everydayPath"
      | "importHistory"
      | "logLevel"
      | "passkeyLinking"
      | "retentionDays"
      | "whatsappVersion"
      | "whatsappVersionUrl"
    >;
  log: Logger;
  /** Asks the page that names client versions. Default: none is asked. */
  http?: Pick<SafeFetch, "request">;
  /** Files of messages to be sent. */
  files: OutgoingFiles;
  /** Own files, made of files that are handed on. */
  ownFiles: OwnFiles;
  /** Keeps account of what should have arrived. */
  witness: Witness;
  /** Whether this process does what is done once for all numbers. Default: it does. */
  isLeader?(): boolean;
  /** Which addresses proxies may have, unless the settings let all through. Default: public ones. */
  mayBeProxy?: (address: string) => boolean;
  /** Told what is counted. Default: nobody is. */
  observe?: (event: WireEvent) => void;
}

/** What phones tell unasked goes hardly further back. */
const HISTORY_DAYS = 90;
/** Of all numbers. */
const HISTORIES_AT_ONCE = 2;

/** What is kept of a number from one connection to the next. */
interface NumberHere {
  /** Ends when another process has the number: what is left over writes nothing then. */
  tenure: Tenure;
  memory: DeviceMemory | null;
  auth: AuthState | null;
}

/** WhatsApp over Baileys, for all numbers of this process. */
export function createWhatsApp(deps: WhatsAppDeps): WhatsApp {
  const { store, config } = deps;
  const options = sharedSocketOptions(config);
  const versions = createClientVersions({ ...deps, bundled: bundledVersion });
  const routes = createRoutes(deps);
  const downloads = createMediaDownloads(routes, config, store.time);
  const cache = createKeyCache();
  const deviceLists = createDeviceLists();
  const onWay: OnWay | null = config.everydayPath
    ? (direction, reason) => deps.observe?.({ type: "way", direction, reason })
    : null;
  const history = config.importHistory ? historySource(store, config, downloads.load) : null;
  const numbers = new Map<number, NumberHere>();
  const numberOf = (deviceId: number): NumberHere =>
    numbers.get(deviceId) ?? beginHere(numbers, deviceId, beginTenure(store, deviceId));

  const stopSweeping = startSweeping(deps);

  return {
    async connect(deviceId, listener) {
      // Should the number be given up meanwhile, none of these is that of the next time.
      const here = numberOf(deviceId);
      const own = here.tenure.store;
      const keys = cache.of(deviceId);
      const route = await routes.of(deviceId);
      return openConnection({
        ...deps,
        store: own,
        deviceId,
        options: { ...options, ...route.socket },
        memory: (here.memory ??= createDeviceMemory(deviceLists.of(deviceId))),
        listener,
        uploads: route.uploads,
        passkeys: config.passkeyLinking,
        versions,
        onWay,
        history,
        async openAuth(onWriteFailed) {
          const auth = await openAuthState({ store: own, deviceId, cache: keys, onWriteFailed });
          here.auth = auth;
          return auth;
        },
      });
    },
    async identity(deviceId) {
      const creds = await readCreds(store, deviceId);
      return creds && identityOf(creds);
    },
    async linkedDevices(deviceIds) {
      const rows = await store.read(LINKED, [JSON.stringify(deviceIds)]);
      return rows.map(({ deviceId }) => deviceId);
    },
    async erase(deviceId) {
      const here = numberOf(deviceId);
      await here.auth?.flushed();
      const own = here.tenure.store;
      await own.writer.commit([{ sql: "delete from wa_creds where device_id = ?", args: [deviceId] }]);
      await eraseKeys(own, deviceId);
      Object.assign(here, { memory: null, auth: null });
      for (const part of [deviceLists, cache, routes]) part.drop([deviceId]);
    },
    leave(deviceIds) {
      for (const deviceId of deviceIds) {
        numbers.get(deviceId)?.tenure.end();
        numbers.delete(deviceId);
      }
      for (const part of [deviceLists, cache, routes]) part.drop(deviceIds);
    },
    readAgain: createLateEdits(store, (deviceId) => sourcesOf(deps, deviceId)),
    mediaSource,
    downloadMedia: downloads.load,
    clientVersion: versions.state,
    stop() {
      stopSweeping();
      versions.stop();
      // Uploads in flight end with an error, and are made again by the next run.
      routes.stop();
    },
  };
}

function beginHere(numbers: Map<number, NumberHere>, deviceId: number, tenure: Tenure): NumberHere {
  const here: NumberHere = { tenure, memory: null, auth: null };
  numbers.set(deviceId, here);
  return here;
}

/** What is imported of a phone's history, and how much of it at once. */
function historySource(
  { now }: Pick<Store, "now">,
  { retentionDays }: Pick<Config, "retentionDays">,
  load: WhatsApp["downloadMedia"],
): HistorySource {
  const days = Math.min(HISTORY_DAYS, retentionDays);
  return { load, oldest: () => now() - days * DAY_MS, inTurn: inTurns(HISTORIES_AT_ONCE) };
}

/** What is over goes by itself. @returns ends it */
function startSweeping({ store, log, isLeader = () => true }: WhatsAppDeps): Cancel {
  const sweep = (everyMs: number, work: () => Promise<unknown>, failed: string): Cancel =>
    store.time.every(everyMs, () => {
      if (isLeader()) work().catch((err: unknown) => log.warn({ err }, failed));
    });
  const ends = [
    sweep(HOUR_MS, () => sweepJournal(store), "could not sweep the journal"),
    sweep(DAY_MS, () => sweepTokens(store), "could not delete expired privacy tokens"),
  ];
  return () => ends.forEach((end) => end());
}
