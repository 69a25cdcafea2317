import type { MediaRequest } from "../model/media/media.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Workspace } from "./files.ts";
import { atHand, type Uploads } from "./given/uploads.ts";
import type { Looks, LookRequest } from "./look.ts";
import { receive, type Received } from "./receive.ts";
import { createShares, type Shares } from "../model/shares/shares.ts";

const FIRST_BYTE_MS = 30_000;
const WHOLE_FILE_MS = 5 * 60_000;
const MAX_REDIRECTS = 5;
/** Slower than this a file is not waited for: it would hold its place for minutes. */
const LEAST_RATE = { bytes: 80 * 1024, withinMs: 10_000 };
const MAX_FETCHES_OF_NUMBER = 4;

/** What is done for one request, and for whom. */
export interface Job {
  request: MediaRequest;
  workspace: Workspace;
  account: string;
  /** Aborts with the caller and with the gateway. */
  signal: AbortSignal;
}

const isGiven = ({ bytes, given }: MediaRequest): boolean => bytes !== undefined || given !== undefined;

/** Whoever looks at the file of a job has to know this. */
export const lookOf = ({ request, account, signal }: Job): LookRequest => ({
  account,
  mediaType: request.mediaType,
  isGiven: isGiven(request),
  signal,
});

interface FetchingDeps {
  http: Pick<SafeFetch, "download">;
  uploads: Pick<Uploads, "find">;
  looks: Pick<Looks, "identify">;
  /** Shares of accounts. */
  turns: Shares;
  /** Throws when a voice note cannot be made. */
  requireConverter(): void;
  maxBytes: number;
  tooLarge(): Error;
}

/** Gets files from where they are: somebody's server, parts that were uploaded, or the request itself. */
export function createFetching(deps: FetchingDeps): (job: Job) => Promise<Received> {
  const { http, uploads, looks, turns, requireConverter, maxBytes, tooLarge } = deps;
  const turnsOfNumber = createShares({ all: Infinity, each: MAX_FETCHES_OF_NUMBER });

  return async (job) => {
    const { request, workspace, account, signal } = job;
    const { bytes, deviceId, given, url } = request;
    const wanted = { ...request, isGiven: isGiven(request) };
    const into = {
      workspace,
      requireConverter,
      identify: (head: Buffer, tail: Buffer) => looks.identify(lookOf(job), head, tail),
    };
    if (bytes !== undefined) {
      if (bytes.length > maxBytes) throw tooLarge();
      return receive(wanted, atHand(oneChunk(bytes)), into);
    }
    const stored =
      given === undefined ? await uploads.find(url, account) : atHand(given.open(), given.fileName);
    if (stored !== null) return turns(account, () => receive(wanted, stored, into), signal);
    const fetched = (): Promise<Received> =>
      http.download(
        url,
        {
          firstByteMs: FIRST_BYTE_MS,
          totalMs: WHOLE_FILE_MS,
          leastRate: LEAST_RATE,
          maxBytes,
          maxRedirects: MAX_REDIRECTS,
          signal,
        },
        (answer) => receive(wanted, answer, into),
      );
    return turnsOfNumber(String(deviceId), () => turns(account, fetched, signal), signal);
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
