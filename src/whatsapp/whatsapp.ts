import { waCreds } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { OutgoingFiles } from "../model/media/media.ts";
import type { Incoming } from "../model/messages.ts";
import { DAY_MS, HOUR_MS } from "../model/time.ts";
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
import { identityOf } from "./identity.ts";
import { sweepJournal } from "./signal/journal-rows.ts";
import { sweepTokens } from "./signal/token-rows.ts";
import { createKeyCache } from "./signal/key-cache.ts";
import { eraseKeys } from "./signal/key-rows.ts";
import { createMediaAgent } from "./media/agent.ts";
import { createMediaDownloads, mediaSource } from "./media/download.ts";
import type { SentContent, WhatsApp, Witness } from "./port.ts";
import { sharedSocketOptions, type WhatsAppSettings } from "./life/socket-options.ts";
import { createUploads } from "./media/upload.ts";

const LINKED = defineQuery(
  "select device_id from wa_creds where device_id in (select value from json_each(?))",
  { deviceId: waCreds.deviceId },
);

/** What WhatsApp needs of the gateway. */
interface WhatsAppDeps {
  store: Store;
  config: WhatsAppSettings &
    Pick<Config, "everydayPath" | "logLevel" | "passkeyLinking" | "whatsappVersion" | "whatsappVersionUrl">;
  log: Logger;
  /** Asks the page that names client versions. Default: none is asked. */
  http?: Pick<SafeFetch, "request">;
  /** What was sent under an id, for a phone that could not read it and asks again; null when it is not known. */
  sentMessage(deviceId: number, waId: string): Promise<SentContent | null>;
  /** What arrived in a chat under an id, for votes on it; null when it is not known. */
  receivedContent(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null>;
  /** What has changed a message in a chat, oldest first. Default: nothing. */
  receivedChanges?: (deviceId: number, chatKey: string, waId: string) => Promise<Incoming[]>;
  /** Files of messages to be sent. */
  files: OutgoingFiles;
  /** Keeps account of what should have arrived. */
  witness: Witness;
  /** Whether this process does what is done once for all numbers. Default: it does. */
  isLeader?(): boolean;
  /** A message could not be decrypted. */
  onUndecryptable?(reason: string): void;
  /** A message or a receipt takes the everyday way (null), or Baileys' for a reason. */
  onWay?: OnWay;
}

/** WhatsApp over Baileys, for all numbers of this process. */
export function createWhatsApp(deps: WhatsAppDeps): WhatsApp {
  const { store, config, log, sentMessage, receivedContent, files } = deps;
  const options = sharedSocketOptions(config);
  const versions = createClientVersions({ ...deps, bundled: bundledVersion });
  const mediaAgent = createMediaAgent(config);
  const downloads = createMediaDownloads(mediaAgent, config, store.time);
  const uploads = createUploads(mediaAgent, files, store.now);
  const cache = createKeyCache();
  const deviceLists = createDeviceLists();
  const onWay: OnWay | null = config.everydayPath
    ? (direction, reason) => deps.onWay?.(direction, reason)
    : null;
  const memories = new Map<number, DeviceMemory>();
  const auths = new Map<number, AuthState>();
  const tenures = new Map<number, Tenure>();

  const stopSweeping = store.time.every(HOUR_MS, () => {
    if (deps.isLeader?.() === false) return;
    sweepJournal(store).catch((error: unknown) => log.warn({ err: error }, "could not sweep the journal"));
  });
  const stopSweepingTokens = store.time.every(DAY_MS, () => {
    if (deps.isLeader?.() === false) return;
    sweepTokens(store).catch((err: unknown) => log.warn({ err }, "could not delete expired privacy tokens"));
  });

  function memoryOf(deviceId: number): DeviceMemory {
    const memory = memories.get(deviceId) ?? createDeviceMemory(deviceLists.of(deviceId));
    memories.set(deviceId, memory);
    return memory;
  }

  function tenureOf(deviceId: number): Tenure {
    const tenure = tenures.get(deviceId) ?? beginTenure(store, deviceId);
    tenures.set(deviceId, tenure);
    return tenure;
  }

  function forget(deviceIds: readonly number[]): void {
    for (const deviceId of deviceIds) {
      auths.delete(deviceId);
      memories.delete(deviceId);
    }
    deviceLists.drop(deviceIds);
    cache.drop(deviceIds);
  }

  return {
    connect(deviceId, events) {
      // Should the number be given up meanwhile, none of these is that of the next time.
      const own = tenureOf(deviceId).store;
      const keys = cache.of(deviceId);
      return openConnection({
        store: own,
        deviceId,
        options,
        log,
        memory: memoryOf(deviceId),
        events,
        sentMessage,
        receivedContent,
        receivedChanges: deps.receivedChanges,
        files,
        uploads,
        witness: deps.witness,
        passkeys: config.passkeyLinking,
        versions,
        onUndecryptable: deps.onUndecryptable,
        onWay,
        async openAuth(onWriteFailed) {
          const auth = await openAuthState({ store: own, deviceId, cache: keys, onWriteFailed });
          auths.set(deviceId, auth);
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
      await auths.get(deviceId)?.flushed();
      const own = tenureOf(deviceId).store;
      await own.writer.commit([{ sql: "delete from wa_creds where device_id = ?", args: [deviceId] }]);
      await eraseKeys(own, deviceId);
      forget([deviceId]);
    },
    leave(deviceIds) {
      for (const deviceId of deviceIds) {
        tenures.get(deviceId)?.end();
        tenures.delete(deviceId);
      }
      forget(deviceIds);
    },
    mediaSource,
    downloadMedia: downloads.load,
    clientVersion: versions.state,
    stop() {
      stopSweeping();
      stopSweepingTokens();
      versions.stop();
      // Uploads in flight end with an error, and are made again by the next run.
      void mediaAgent.destroy();
    },
  };
}
