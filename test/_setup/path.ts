import { createRegistry } from "../../src/bot/files/registry.ts";
import { sharedAbort } from "../../src/model/shared-abort.ts";
import { createObservers } from "../../src/path/observers.ts";
import {
  joinMessagePath,
  type InnerParts,
  type MessagePath,
  type MessagePathDeps,
} from "../../src/path/path.ts";
import type { MessageReceipt, OwnReading, ReachoutLock } from "../../src/whatsapp/port.ts";

/** What a test or a bench has of its own; everything else is that of {@link joinPath}. */
export interface PathParts
  extends
    Omit<MessagePathDeps, Absent | keyof Lookups>,
    Partial<Pick<MessagePathDeps, Absent>>,
    Partial<Lookups> {}

/** The way of a message, and what stands behind it. */
export type JoinedPath = MessagePath & InnerParts & Shortcuts;

interface Shortcuts {
  /** The number can send; resolves when what was queued has begun to leave. */
  online(deviceId: number): Promise<void>;
  /** WhatsApp has told of a lock on first contacts, or of its end; resolves when it is stored. */
  lockTold(deviceId: number, lock: ReachoutLock | null): Promise<void>;
  receipts(deviceId: number, receipts: MessageReceipt[]): Promise<void>;
  read(deviceId: number, reading: OwnReading): Promise<void>;
  /** Whether a row of the inbox waits in a lane, or is being handled. */
  isPlaced(deviceId: number, inboxId: number): boolean;
}

/** What a gateway without anything beside the way of a message has not. */
type Absent = "http" | "observers" | "stopping";
/** Each may be given in part. */
type Lookups = { [Name in "connections" | "directory" | "bots" | "files"]: Partial<MessagePathDeps[Name]> };

const unavailable = (): Promise<never> => Promise.reject(new Error("There are no files here."));
const noFile = () => ({ error: "There are no files here." });

/** Files that came with messages: none. */
export const noFiles: MessagePathDeps["files"]["received"] = {
  read: unavailable,
  largestImage: 0,
  link: noFile,
  image: async () => noFile(),
};

/**
 * The gateway's own way of a message, of a gateway in which nothing else is: no bot, no file, nobody to ask over HTTP, and
 * numbers that are linked and not online.
 */
export function joinPath({ connections, directory, bots, files, ...parts }: PathParts): JoinedPath {
  const { path, inner } = joinMessagePath({
    connections: {
      connection: () => null,
      identity: () => null,
      isLinked: () => true,
      number: () => null,
      accountOf: () => null,
      callsText: () => null,
      deviceOf: () => null,
      ...connections,
    },
    directory: { canonicalChat: async (_deviceId, jid) => jid, ...directory },
    bots: { registry: createRegistry([], parts.log), locales: () => new Map(), ...bots },
    http: {
      request: () => Promise.reject(new Error("There is nobody to ask.")),
      check: async () => undefined,
    },
    files: { outgoing: { prepare: unavailable }, received: noFiles, ...files },
    observers: createObservers(),
    stopping: sharedAbort().signal,
    ...parts,
  });
  const { numbers } = inner;
  return {
    ...path,
    ...inner,
    online: async (deviceId) => numbers.get(deviceId)?.outbox.wake(),
    lockTold: async (deviceId, lock) => numbers.get(deviceId)?.outbox.reachoutTold(lock),
    receipts: (deviceId, receipts) => path.acknowledged(deviceId, { type: "receipts", receipts }),
    read: (deviceId, reading) => path.acknowledged(deviceId, { type: "read", reading }),
    isPlaced: (deviceId, inboxId) => numbers.get(deviceId)?.isPlaced(inboxId) ?? false,
  };
}
