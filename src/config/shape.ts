import { type S3Settings } from "../model/media/media-store-setting.ts";
import { type Plan } from "../model/plan.ts";

/** From the quietest to the most talkative, then none at all; the names are pino's. */
export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** What LOG_LEVEL may be. */
type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["pretty", "json"] as const;
/** What LOG_FORMAT may be. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Every setting, checked. Field names are the setting names in camel case; paths are absolute. */
export interface Config {
  host: string;
  port: number;
  /** Without a trailing slash. */
  publicUrl: string;
  trustProxy: boolean;
  dataDir: string;
  /** `file:<absolute path>`, or the address of a libSQL server. */
  databaseUrl: string;
  databaseAuthToken: string | null;
  /** The writer of a file works in a thread of its own. */
  storeThread: boolean;
  /** Everyday messages are read and encrypted without Baileys. */
  everydayPath: boolean;
  redisUrl: string | null;
  /** How this process is a node among several; null: it is alone. */
  cluster: ClusterSettings | null;
  /** Where files of messages lie for every node; null: on the disk of the node that wrote them. */
  mediaStore: S3Settings | null;
  /** Goes on with a libSQL server that may lose acknowledged commits when its power fails. */
  allowWeakDurability: boolean;
  /** 32 bytes; null: the store keeps a generated one in `dataDir`. */
  masterKey: Buffer | null;
  /** null: the store keeps a generated one in `dataDir`. `Store.adminToken` is the one that counts. */
  adminToken: string | null;
  /** The console as it was built; null: the one beside the built server, if there is one. */
  consoleDir: string | null;
  botsDir: string | null;
  /** Bots that do not fit what is stored do not run: the start ends, a reload keeps those that were loaded. */
  botsStrict: boolean;
  sendWaitMs: number;
  webhookTimeoutMs: number;
  maxMediaBytes: number;
  allowPrivateNetwork: boolean;
  /** 0 is no limit, as for the three below. */
  apiRatePerMinute: number;
  /** Wrong keys and tokens per address. */
  wrongKeysPerMinute: number;
  pacePerMinute: number;
  loopGuardPerMinute: number;
  botTimeoutMs: number;
  takeoverMinutes: number;
  plans: Record<PlanName, Plan>;
  retentionDays: number;
  /** How long the log of changes is kept. */
  auditLogDays: number;
  /** A session of the console ends when it was not used for so long. */
  sessionIdleMinutes: number;
  /** And so long after it was opened, whatever it is used for. */
  sessionHours: number;
  /** So long counts of traffic per hour are kept. */
  trafficDays: number;
  /** null: `ffmpeg` of the PATH. */
  ffmpegPath: string | null;
  mpwaCompat: boolean;
  /** null: the newest that is known. */
  whatsappVersion: [number, number, number] | null;
  /** A page that says which version works; null: none is looked at. */
  whatsappVersionUrl: string | null;
  /** null: WhatsApp itself. */
  whatsappWsUrl: string | null;
  /** 32 bytes: Noise root public key of a simulator. */
  whatsappNoiseRoot: Buffer | null;
  whatsappCaFile: string | null;
  /** The playground that surrounds the simulator, with what lets a browser in; null: there is none. */
  playgroundUrl: string | null;
  /** A number that was linked lately writes to few people a day for the first time. */
  warmUp: boolean;
  /** Linking may ask for the owner's passkey, and a person answers it. */
  passkeyLinking: boolean;
  /** What the phone tells of the time before it was linked is shown. */
  importHistory: boolean;
  /** Where the operator is told what he would want to know at night; null: nowhere. */
  alertUrl: string | null;
  /** `whsec_…`: signs what is told; null: nothing is signed. */
  alertSecret: string | null;
  /** Backups that the gateway makes by itself; null: none. */
  scheduledBackups: ScheduledBackupSettings | null;
  /** So many of them stay. */
  backupKeep: number;
  logLevel: LogLevel;
  /** Lines for people, or for machines; null: for people where they go to a terminal. */
  logFormat: LogFormat | null;
}

/** Where backups go, and how often. */
export interface ScheduledBackupSettings {
  /** A folder (absolute), or a bucket. */
  to: string | S3Settings;
  everyMs: number;
}

/** What a process that shares its database with others is told. */
export interface ClusterSettings {
  /** Its name among the others. */
  node: string;
  /** How long its numbers stay its own when it cannot be heard of. */
  leaseMs: number;
  /** Where the other nodes reach it, without a trailing slash. People are shown `publicUrl`. */
  url: string;
}

/** The plans that an account may be on; what each allows is set by PLAN_BASIC and PLAN_PRO. */
export const PLAN_NAMES = ["basic", "pro"] as const;
/** One of the plans that `PLAN_NAMES` lists. */
export type PlanName = (typeof PLAN_NAMES)[number];
