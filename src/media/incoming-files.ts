import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors.ts";
import { mediaKeys, type MediaKeys } from "../model/media-keys.ts";
import type { Incoming } from "../model/messages.ts";
import { OutboundError } from "../net/errors.ts";
import type { SecretBox } from "../store/store.ts";
import type { MediaSource, WhatsApp, WhatsAppConnection } from "../whatsapp/port.ts";
import { CIPHER_OVERHEAD, encryptedIntake, FileDamaged, plainIntake } from "./incoming-cipher.ts";

/** How long the phone has to store a file at WhatsApp again. */
const REUPLOAD_MS = 10_000;
/** Statuses of WhatsApp's hosts for a file that they have no more, or under another address. */
const GONE = new Set([403, 404, 410]);

/** What fetching received files needs; `maxMediaBytes` bounds each of them. */
export interface IncomingFilesDeps {
  config: { dataDir: string; maxMediaBytes: number };
  log: Logger;
  box: Pick<SecretBox, "hmac">;
  whatsapp: Pick<WhatsApp, "mediaSource" | "downloadMedia">;
  /** Null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "mediaHosts" | "reuploadMedia"> | null;
}

/** A message's file on disk, encrypted, proved right when it was written. */
export interface KeptFile {
  path: string;
  keys: MediaKeys;
  sha256: Uint8Array | null;
}

interface IncomingFiles {
  /**
   * The file, from disk or from WhatsApp. Asked for by several at once it is fetched once, and given up when nobody
   * waits any more.
   *
   * @param signal ends this one's waiting
   * @throws {GatewayError} FILE_TOO_LARGE, FILE_UNREACHABLE, FILE_NOT_USABLE: says why it cannot be had
   */
  get(deviceId: number, inboxId: number, message: Incoming, signal: AbortSignal): Promise<KeptFile>;
}

interface Flight {
  done: Promise<void>;
  abort: AbortController;
  waiting: number;
}

/** Folder of received files within `DATA_DIR`; a file's name is `<device>-<inbox id>`. */
export const INCOMING_FOLDER = join("media", "in");

/** Received files, kept encrypted under the data folder once they have been fetched. */
export function createIncomingFiles(deps: IncomingFilesDeps): IncomingFiles {
  const { config, whatsapp, connection, box } = deps;
  const flights = new Map<string, Flight>();
  /** Hosts as the number was last told: a file can be had without it, too. */
  const hostsOf = new Map<number, string[]>();

  async function fetchFile(
    deviceId: number,
    message: Incoming,
    source: MediaSource,
    kept: KeptFile,
    signal: AbortSignal,
  ) {
    const hosts = await mediaHosts(deviceId);
    const load = (directPath: string) =>
      whatsapp.downloadMedia(
        { directPath, hosts, maxBytes: config.maxMediaBytes + CIPHER_OVERHEAD, signal },
        (chunks) => store(chunks, source, kept),
      );
    try {
      if (source.directPath === null) throw noFile();
      await load(source.directPath);
    } catch (error) {
      if (!isGone(error) || source.key === null) throw error;
      await load(await reuploaded(deviceId, message, signal));
    }
  }

  async function mediaHosts(deviceId: number): Promise<string[]> {
    const told = await connection(deviceId)
      ?.mediaHosts()
      .catch(() => null);
    if (told && told.length > 0) hostsOf.set(deviceId, told);
    return hostsOf.get(deviceId) ?? [];
  }

  async function reuploaded(deviceId: number, message: Incoming, signal: AbortSignal): Promise<string> {
    const line = connection(deviceId);
    if (line === null)
      throw unreachable(
        "WhatsApp has the file no more, and the number is not online to ask the phone for it.",
      );
    try {
      return await line.reuploadMedia(message, REUPLOAD_MS);
    } catch (error) {
      signal.throwIfAborted();
      deps.log.info({ device: deviceId, message: message.id, err: error }, "a file was not stored again");
      throw unreachable("WhatsApp has the file no more, and the phone did not send it again.");
    }
  }

  function begin(name: string, work: (signal: AbortSignal) => Promise<void>): Flight {
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
    async get(deviceId, inboxId, message, signal) {
      const source = whatsapp.mediaSource(message.raw);
      if (source === null) throw noFile();
      if ((message.media?.size ?? 0) > config.maxMediaBytes) throw tooLarge(config.maxMediaBytes);
      const name = `${deviceId}-${inboxId}`;
      const kept: KeptFile = {
        path: join(config.dataDir, INCOMING_FOLDER, name),
        keys: mediaKeys(source.key ?? box.hmac("media-in", name), source.kind),
        sha256: source.sha256,
      };
      if (await exists(kept.path)) return kept;
      const flight =
        flights.get(name) ??
        begin(name, (aborted) =>
          fetchFile(deviceId, message, source, kept, aborted).catch(explain(config.maxMediaBytes)),
        );
      await waitFor(flight, signal, () => flights.delete(name));
      return kept;
    },
  };
}

/** Written beside its place first: what has its name is whole and right. */
async function store(
  chunks: AsyncIterable<Buffer>,
  source: MediaSource,
  { path, keys, sha256 }: KeptFile,
): Promise<void> {
  const intake = source.key === null ? plainIntake(keys, sha256) : encryptedIntake(keys, sha256);
  const part = `${path}.${randomBytes(4).toString("hex")}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(part, "wx", 0o600);
  try {
    for await (const chunk of chunks) await file.appendFile(intake.update(chunk));
    await file.appendFile(intake.end());
    await file.close();
    await rename(part, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
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

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const isGone = (error: unknown): boolean =>
  error instanceof OutboundError && error.status !== null && GONE.has(error.status);

/** What went wrong in words for a customer. */
function explain(maxBytes: number): (error: unknown) => never {
  return (error) => {
    if (error instanceof FileDamaged) throw new GatewayError("FILE_NOT_USABLE", error.message);
    if (!(error instanceof OutboundError)) throw error;
    if (error.problem === "too_large") throw tooLarge(maxBytes);
    if (isGone(error)) throw unreachable("WhatsApp has the file no more.");
    throw unreachable(`The file could not be loaded from WhatsApp. ${error.message}`);
  };
}

const unreachable = (message: string): GatewayError => new GatewayError("FILE_UNREACHABLE", message);
const noFile = (): GatewayError => unreachable("The message came without its file.");

/** FILE_TOO_LARGE, for a received file of more than `maxBytes`. */
export const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError("FILE_TOO_LARGE", `The file is larger than MAX_MEDIA_BYTES (${maxBytes}).`);
