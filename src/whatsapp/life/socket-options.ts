import type { UserFacingSocketConfig } from "@whiskeysockets/baileys";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { Agent as FetchAgent } from "undici";
import type { Config } from "../../config.ts";
import { baileys } from "../baileys.ts";

/** The settings that say where WhatsApp is. */
export type WhatsAppSettings = Pick<Config, "whatsappWsUrl" | "whatsappNoiseRoot" | "whatsappCaFile">;

const QUERY_TIMEOUT_MS = 30_000;

/** Options that are the same for every number of the process. */
export function sharedSocketOptions(settings: WhatsAppSettings): Partial<UserFacingSocketConfig> {
  // A constant of the library that each handshake reads; there is no option for it.
  if (settings.whatsappNoiseRoot)
    baileys.WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(settings.whatsappNoiseRoot);
  const { INITIAL_BOOTSTRAP, PUSH_NAME, RECENT } = baileys.proto.HistorySync.HistorySyncType;
  const wantedHistory = new Set<unknown>([INITIAL_BOOTSTRAP, PUSH_NAME, RECENT]);
  return {
    ...(settings.whatsappWsUrl ? { waWebSocketUrl: settings.whatsappWsUrl } : {}),
    ...trust(settings),
    // Shown on the phone in the list of linked devices. A number that changes it looks like another client.
    browser: baileys.Browsers.macOS("Chrome"),
    // Also the time limit of every written frame, for which Baileys makes a timer, two stack traces and an error each.
    // Connecting is watched by our own timer, and a dead connection is found by the keep-alive.
    connectTimeoutMs: 0,
    defaultQueryTimeoutMs: QUERY_TIMEOUT_MS,
    // An online companion keeps the owner's phone from showing notifications.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    // The first LID pairs come with these; refusing all of them would lose sessions.
    shouldSyncHistoryMessage: ({ syncType }) => wantedHistory.has(syncType),
    shouldIgnoreJid: (jid) => jid === "status@broadcast",
    emitOwnEvents: false,
    // Awaited while all other messages of the number wait.
    retryRequestDelayMs: 20,
    // A failed write is not tried again here: the writer has done so, and the connection closes on it.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
  };
}

/** Certificates that WhatsApp's hosts are trusted by; undefined: the usual ones. */
export const certificates = ({
  whatsappCaFile,
}: Pick<WhatsAppSettings, "whatsappCaFile">): string[] | undefined =>
  whatsappCaFile === null ? undefined : [...rootCertificates, readFileSync(whatsappCaFile, "utf8")];

function trust(settings: WhatsAppSettings): Partial<UserFacingSocketConfig> {
  const ca = certificates(settings);
  if (ca === undefined) return {};
  const { whatsappWsUrl } = settings;
  const secure = whatsappWsUrl === null || whatsappWsUrl.startsWith("wss:");
  return {
    ...(secure ? { agent: new Agent({ ca }) } : {}),
    fetchAgent: new Agent({ ca }),
    options: { dispatcher: new FetchAgent({ connect: { ca } }) } as RequestInit,
  };
}
