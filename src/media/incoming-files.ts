import { randomBytes } from "node:crypto";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { mediaKeys, type MediaKeys } from "../model/media/media-keys.ts";
import type { Incoming } from "../model/messages.ts";
import { OutboundError } from "../net/errors.ts";
import { alone } from "../model/nodes/alone.ts";
import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { SecretBox } from "../store/store.ts";
import type { MediaSource, MessageWithFile, WhatsApp, WhatsAppConnection } from "../whatsapp/port.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { CIPHER_OVERHEAD, encryptedIntake, FileDamaged, plainIntake } from "./incoming-cipher.ts";
import type { LinkTarget } from "./links.ts";
import { writeWhole } from "./whole-file.ts";

/** How long the phone has to store a file at WhatsApp again. */
const REUPLOAD_MS = 10_000;
/** Statuses of WhatsApp's hosts for a file that they have no more, or under another address. */
const GONE = new Set([403, 404, 410]);

/** What fetching received files needs; `maxMediaBytes` bounds each of them. */
export interface IncomingFilesDeps {
  config: { maxMediaBytes: number };
  log: Logger;
  box: Pick<SecretBox, "hmac">;
  whatsapp: Pick<WhatsApp, "mediaSource" | "downloadMedia">;
  /** Null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "mediaHosts" | "reuploadMedia"> | null;
  elsewhere: Elsewhere;
  /** Default: this process is alone. */
  cluster?: Pick<Cluster, "bus" | "ownership">;
}

/** Asks the owner of a number to load a received file from WhatsApp; answered once other nodes find it. */
export const LOAD_FILE = defineQuestion<{ inboxId: number }, null>("load-file", 5 * MINUTE_MS);

/** A message's file on disk, encrypted, proved right when it was written. */
export interface KeptFile {
  path: string;
  keys: MediaKeys;
  sha256: Uint8Array | null;
}

/** Files of received messages, as they are kept on disk. */
export interface IncomingFiles {
  /**
   * The file, from disk or from WhatsApp. Asked for by several at once it is fetched once, and given up when nobody
   * waits any more.
   *
   * @param signal ends this one's waiting
   * @throws {GatewayError} FILE_TOO_LARGE, FILE_UNREACHABLE, FILE_NOT_USABLE: says why it cannot be had
   */
  get(deviceId: number, inboxId: number, message: Received, signal: AbortSignal): Promise<KeptFile>;
  /**
   * The file of a message that is not stored any more, from WhatsApp.
   *
   * @param path of the file that is written
   * @throws as `get`
   */
  fetch(deviceId: number, message: Received, path: string, signal: AbortSignal): Promise<KeptFile>;
  /** Resolves when other nodes find what `get` gave. */
  shelved(deviceId: number, inboxId: number): Promise<void>;
}

/** What fetching takes of a message. */
type Received = MessageWithFile & Pick<Incoming, "media">;

interface Flight {
  done: Promise<void>;
  abort: AbortController;
  waiting: number;
}

/** Name of a received file, on disks and in the media store. */
const nameOf = (deviceId: number, inboxId: number): string => `in/${deviceId}-${inboxId}`;

/** Received files, kept encrypted under the data folder once they have been fetched. */
export function createIncomingFiles(deps: IncomingFilesDeps): IncomingFiles {
  const { config, whatsapp, connection, box, elsewhere } = deps;
  const flights = createFlights();
  /** Hosts as the number was last told: a file can be had without it, too. */
  const hostsOf = new Map<number, string[]>();

  async function fetchFile(
    deviceId: number,
    message: Received,
    source: MediaSource,
    kept: KeptFile,
    signal: AbortSignal,
  ) {
    const hosts = await mediaHosts(deviceId);
    const load = (directPath: string) =>
      whatsapp.downloadMedia(
        { deviceId, directPath, hosts, maxBytes: config.maxMediaBytes + CIPHER_OVERHEAD, signal },
        (chunks) => store(chunks, source, kept),
      );
    try {
      if (source.directPath === null) throw noFile();
      await load(source.directPath);
    } catch (error) {
      if (!isGone(error) || source.key === null) throw error;
      await load(await reuploaded(deps, deviceId, message, signal));
    }
  }

  async function mediaHosts(deviceId: number): Promise<string[]> {
    const told = await connection(deviceId)
      ?.mediaHosts()
      .catch(() => null);
    if (told && told.length > 0) hostsOf.set(deviceId, told);
    return hostsOf.get(deviceId) ?? [];
  }

  return {
    async get(deviceId, inboxId, message, signal) {
      const source = whatsapp.mediaSource(message.raw);
      if (source === null) throw noFile();
      if ((message.media?.size ?? 0) > config.maxMediaBytes) throw tooLarge(config.maxMediaBytes);
      const name = nameOf(deviceId, inboxId);
      const kept: KeptFile = {
        path: elsewhere.pathOf(name),
        keys: mediaKeys(source.key ?? box.hmac("media-in", `${deviceId}-${inboxId}`), source.kind),
        sha256: source.sha256,
      };
      if (await elsewhere.isHere(name)) return kept;
      const load = (aborted: AbortSignal): Promise<void> =>
        fetchFile(deviceId, message, source, kept, aborted).catch(explain(config.maxMediaBytes));
      const target = { deviceId, inboxId };
      await flights.join(name, signal, (aborted) => obtain(deps, target, kept, () => load(aborted)));
      return kept;
    },

    async fetch(deviceId, message, path, signal) {
      const source = whatsapp.mediaSource(message.raw);
      if (source === null) throw noFile();
      const keys = mediaKeys(source.key ?? randomBytes(32), source.kind);
      const kept: KeptFile = { path, keys, sha256: source.sha256 };
      await fetchFile(deviceId, message, source, kept, signal).catch(explain(config.maxMediaBytes));
      return kept;
    },

    shelved: (deviceId, inboxId) => elsewhere.shelved(nameOf(deviceId, inboxId)),
  };
}

async function reuploaded(
  { connection, log }: Pick<IncomingFilesDeps, "connection" | "log">,
  deviceId: number,
  message: Received,
  signal: AbortSignal,
): Promise<string> {
  const line = connection(deviceId);
  if (line === null)
    throw unreachable(
      "WhatsApp no longer has the file, and the number must be online to ask the phone for it.",
    );
  try {
    return await line.reuploadMedia(message, REUPLOAD_MS);
  } catch (error) {
    signal.throwIfAborted();
    log.info({ device: deviceId, message: message.id, err: error }, "could not store a file again");
    throw unreachable("WhatsApp no longer has the file, and the phone did not send it again.");
  }
}

async function store(
  chunks: AsyncIterable<Buffer>,
  source: MediaSource,
  { path, keys, sha256 }: KeptFile,
): Promise<void> {
  const intake = source.key === null ? plainIntake(keys, sha256) : encryptedIntake(keys, sha256);
  await writeWhole(path, chunks, intake);
}

/** From where it lies, or else from WhatsApp, which only the number's owner can ask for all that it may take. */
async function obtain(
  { elsewhere, cluster = alone() }: Pick<IncomingFilesDeps, "elsewhere" | "cluster">,
  { deviceId, inboxId }: LinkTarget,
  { keys, sha256 }: KeptFile,
  load: () => Promise<void>,
): Promise<void> {
  const name = nameOf(deviceId, inboxId);
  const find = (): Promise<boolean> => elsewhere.find(name, () => encryptedIntake(keys, sha256));
  const isOwner = cluster.ownership.owns(deviceId);
  let away: unknown = null;
  const found = await find().catch((error: unknown) => {
    if (!isOwner) throw error;
    away = error;
    return false;
  });
  if (found) return;
  if (isOwner) {
    // Where it lies may be asked again later, WhatsApp's refusal is for good.
    await load().catch((error: unknown) => {
      throw away ?? error;
    });
    void elsewhere.shelveReceived(deviceId, name);
    return;
  }
  await cluster.bus.ask(LOAD_FILE, deviceId, { inboxId });
  if (!(await find())) throw unreachable("The file could not be stored; try again.");
}

/** What is being fetched, by name: once for all who wait for it, and for nobody no longer. */
function createFlights() {
  const flights = new Map<string, Flight>();

  function begin(name: string, work: (aborted: AbortSignal) => Promise<void>): Flight {
    const abort = new AbortController();
    const done = work(abort.signal).finally(() => {
      if (flights.get(name) === flight) flights.delete(name);
    });
    // Whoever waits hears of it; nobody may be waiting any more.
    done.catch(() => undefined);
    const flight: Flight = { done, abort, waiting: 0 };
    flights.set(name, flight);
    return flight;
  }

  return {
    /** @param signal ends this one's waiting @param work is begun unless it is under way; its signal says that nobody waits */
    join: (name: string, signal: AbortSignal, work: (aborted: AbortSignal) => Promise<void>): Promise<void> =>
      waitFor(flights.get(name) ?? begin(name, work), signal, () => flights.delete(name)),
  };
}

async function waitFor(flight: Flight, signal: AbortSignal, forget: () => void): Promise<void> {
  flight.waiting += 1;
  const leaving = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true, signal: leaving.signal });
  });
  try {
    await Promise.race([flight.done, stopped]);
  } finally {
    leaving.abort();
    flight.waiting -= 1;
    if (flight.waiting === 0 && signal.aborted) {
      forget();
      flight.abort.abort(signal.reason);
    }
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof OutboundError && error.status !== null && GONE.has(error.status);

/** What went wrong in words for a customer. */
function explain(maxBytes: number): (error: unknown) => never {
  return (error) => {
    if (error instanceof FileDamaged) throw new GatewayError("FILE_NOT_USABLE", error.message);
    if (!(error instanceof OutboundError)) throw error;
    if (error.problem === "too_large") throw tooLarge(maxBytes);
    if (isGone(error)) throw unreachable("WhatsApp no longer has the file.");
    const failure = unreachable(`The file could not be downloaded from WhatsApp. ${error.message}`);
    throw Object.assign(failure, { cause: error });
  };
}

const unreachable = (message: string): GatewayError => new GatewayError("FILE_UNREACHABLE", message);
const noFile = (): GatewayError => unreachable("The message arrived without its file.");

/** FILE_TOO_LARGE, for a received file of more than `maxBytes`. */
export const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError("FILE_TOO_LARGE", `The file is larger than MAX_MEDIA_BYTES (${maxBytes}).`);
