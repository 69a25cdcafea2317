import { AwsV4Signer } from "aws4fetch";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Dispatcher } from "undici";
import type { S3Settings } from "../model/media/media-store-setting.ts";
import { MINUTE_MS, SECOND_MS, type Time } from "../model/time.ts";
import { download } from "../net/download.ts";
import { OutboundError } from "../net/errors.ts";
import { createGuardedAgent } from "../net/guard.ts";
import { headerOf } from "../net/outbound.ts";
import { MediaStoreAway, type MediaStore, type StoredName } from "./media-store.ts";
import { putInParts } from "./s3-parts.ts";

/** Of one attempt; the longest is that of a file of the largest size over a slow line. */
const ANSWER_MS = 15 * SECOND_MS;
const WHOLE_FILE_MS = 5 * MINUTE_MS;
const LEAST_RATE = { bytes: 80 * 1024, withinMs: 10 * SECOND_MS };
/** What MAX_MEDIA_BYTES may be at most, and what a file grows by when it is sealed: what was kept under another limit is read. */
const LARGEST_BYTES = 4_294_967_296 + 4_096;
const MAX_ANSWER_BYTES = 1024 * 1024;
const NAMES_AT_ONCE = 500;
const PAUSES_MS = [200, SECOND_MS];
/** After a failure of all attempts nobody waits for it again at once. */
const REST_MS = 5 * SECOND_MS;
/** Statuses that pass by themselves. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

interface Asked {
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** After the bucket, without a slash in front. */
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** A file of this disk. */
  file?: string;
  body?: Buffer;
}

interface Answered {
  status: number;
  text: string;
  etag: string | null;
}

/** A bucket, which also takes what is no file of this disk. */
export interface S3Store extends MediaStore {
  /** Stores a stream of any length. @returns its bytes @throws {MediaStoreAway}, and what the stream throws */
  putStream(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
}

/** What one file may take on its way back. */
interface FileLimits {
  wholeFileMs: number;
  maxBytes: number;
}

const OF_MEDIA: FileLimits = { wholeFileMs: WHOLE_FILE_MS, maxBytes: LARGEST_BYTES };

/** What does not pass by itself: the same question gets the same answer. */
class Refused extends MediaStoreAway {}

/**
 * A bucket by the protocol of S3, addressed by path. Each question is asked three times at most, and has a time limit. The
 * address is the operator's, so it may be a private one.
 *
 * @param pausesMs between the attempts; tests may hand in shorter ones
 * @param limits   of one file that is read. Default: those of files of messages
 */
export function createS3Store(
  settings: S3Settings,
  time: Pick<Time, "pause" | "monotonic">,
  pausesMs: number[] = PAUSES_MS,
  limits: FileLimits = OF_MEDIA,
): S3Store {
  const agent = createGuardedAgent(null);
  const sign = createSigner(settings);
  const named = (name: string): string => settings.prefix + name;
  let restsUntil = Number.NEGATIVE_INFINITY;

  /** Repeats what passes by itself. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    if (time.monotonic() < restsUntil) throw new MediaStoreAway("it failed to answer a moment ago");
    for (let attempt = 0; ; attempt++)
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof MediaStoreAway)) throw error;
        const pause = pausesMs[attempt];
        if (error instanceof Refused) throw error;
        if (pause === undefined) {
          restsUntil = time.monotonic() + REST_MS;
          throw error;
        }
        await time.pause(pause);
      }
  }

  async function ask(asked: Asked, fine: number[]): Promise<Answered> {
    return patiently(async () => {
      const answer = await send(agent, await sign(asked), asked);
      if (fine.includes(answer.status)) return answer;
      throw failureOf(answer);
    });
  }

  async function list(prefix: string, after: string | null, most = NAMES_AT_ONCE): Promise<StoredName[]> {
    const query = {
      "list-type": "2",
      prefix: settings.prefix + prefix,
      "max-keys": String(most),
      ...(after !== null && { "start-after": settings.prefix + after }),
    };
    const { text } = await ask({ method: "GET", path: "", query }, [200]);
    return namesIn(text).map(({ name, at }) => ({ name: name.slice(settings.prefix.length), at }));
  }

  /** By a list: to a question for the name alone a bucket that is not there answers as one that does not have it. */
  async function has(name: string): Promise<boolean> {
    return (await list(name, null, 1))[0]?.name === name;
  }

  return {
    async put(name, path, sha256) {
      const sum = sha256 === undefined ? "UNSIGNED-PAYLOAD" : Buffer.from(sha256, "base64").toString("hex");
      const headers = { "x-amz-content-sha256": sum };
      await ask({ method: "PUT", path: named(name), headers, file: path }, [200]);
    },

    putStream: (name, chunks) => putInParts(ask, named(name), chunks),

    async get(name, read) {
      const address = () => sign({ method: "GET", path: named(name) }, true);
      const found = await patiently(async () => fetchFile(agent, (await address()).href, read, limits));
      if (!found && (await has(name))) throw new MediaStoreAway("it lists a file and does not return it");
      return found;
    },

    has,
    list: (prefix, after) => list(prefix, after),

    async remove(name) {
      await ask({ method: "DELETE", path: named(name) }, [200, 204, 404]);
    },

    close: () => agent.close(),
  };
}

/** An address with what proves who asks: in headers, or in the address itself. */
interface Signed {
  href: string;
  headers: Record<string, string>;
}

function createSigner({ endpoint, bucket, region, accessKeyId, secretAccessKey, sessionToken }: S3Settings) {
  return async ({ method, path, query, headers = {} }: Asked, signQuery = false): Promise<Signed> => {
    const signer = new AwsV4Signer({
      method,
      url: `${endpoint}/${bucket}${path && `/${path}`}?${new URLSearchParams(query)}`,
      headers,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
      service: "s3",
      region,
      signQuery,
    });
    const signed = await signer.sign();
    return { href: signed.url.href, headers: Object.fromEntries(signed.headers) };
  };
}

async function send(
  agent: Dispatcher,
  { href, headers }: Signed,
  { method, file, body }: Asked,
): Promise<Answered> {
  const { origin, pathname, search } = new URL(href);
  const carries = file !== undefined || body !== undefined;
  try {
    const size = file === undefined ? (body?.length ?? 0) : (await stat(file)).size;
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method,
      headers: { ...headers, ...(carries && { "content-length": String(size) }) },
      body: file === undefined ? (body ?? null) : createReadStream(file),
      headersTimeout: carries ? WHOLE_FILE_MS : ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      signal: AbortSignal.timeout(carries ? WHOLE_FILE_MS : 2 * ANSWER_MS),
    });
    return {
      status: answer.statusCode,
      text: await textOf(answer.body),
      etag: headerOf(answer, "etag"),
    };
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    // The file of this disk is the matter, not the store.
    if (syscall === "open" || syscall === "stat" || syscall === "read") throw error;
    throw new MediaStoreAway(`it did not answer (${code ?? message})`, { cause: error });
  }
}

async function textOf(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if ((bytes += chunk.length) > MAX_ANSWER_BYTES) throw new MediaStoreAway("its answer is too long");
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function fetchFile(
  agent: Dispatcher,
  href: string,
  read: (bytes: AsyncIterable<Buffer>) => Promise<void>,
  { wholeFileMs, maxBytes }: FileLimits,
): Promise<boolean> {
  const limits = {
    firstByteMs: ANSWER_MS,
    totalMs: wholeFileMs,
    leastRate: LEAST_RATE,
    maxBytes,
    maxRedirects: 0,
  };
  try {
    await download(agent, href, limits, ({ body }) => read(body));
    return true;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.status === 404) return false;
    if (error.status === null || PASSING.has(error.status)) throw new MediaStoreAway(error.message);
    throw new Refused(error.message);
  }
}

/** S3 names what is wrong in XML, which is looked at for its code alone. */
function failureOf({ status, text }: Omit<Answered, "etag">): MediaStoreAway {
  const code = between(text, "<Code>", "</Code>");
  const message = `it answered ${status}${code === null ? "" : ` (${code.slice(0, 60)})`}`;
  return PASSING.has(status) ? new MediaStoreAway(message) : new Refused(message);
}

function namesIn(xml: string): StoredName[] {
  if (!xml.includes("<ListBucketResult")) throw new MediaStoreAway("its list is not in the format of S3");
  return xml
    .split("<Contents>")
    .slice(1)
    .flatMap((entry) => {
      const name = between(entry, "<Key>", "</Key>");
      return name === null ? [] : [{ name, at: Date.parse(between(entry, "<LastModified>", "</") ?? "") }];
    });
}

/** Names of files need no XML escapes; a name that has some is none of ours. */
function between(text: string, start: string, end: string): string | null {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  return from === -1 || to === -1 ? null : text.slice(from + start.length, to);
}
