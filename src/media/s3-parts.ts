import { MediaStoreAway } from "./media-store.ts";

/** One question to a bucket, as `s3.ts` asks it. */
export interface AskedInParts {
  method: "POST" | "PUT" | "DELETE";
  path: string;
  query: Record<string, string>;
  body?: Buffer;
}

/** How a bucket answered. */
export interface AnsweredInParts {
  text: string;
  etag: string | null;
}

/** S3 wants 5 MiB or more in all but the last, and takes 10,000: 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Stores what comes as a stream, whose length nobody knows before its end. Nothing is under the name until everything is.
 *
 * @returns its bytes
 * @throws {MediaStoreAway}, and what the stream throws; what was sent is then given up
 */
export async function putInParts(
  ask: (asked: AskedInParts, fine: number[]) => Promise<AnsweredInParts>,
  path: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const begun = await ask({ method: "POST", path, query: { uploads: "" } }, [200]);
  const uploadId = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(begun.text)?.[1];
  if (uploadId === undefined)
    throw new MediaStoreAway("its answer to an upload in parts is not in the format of S3");
  try {
    return await send(ask, path, uploadId, chunks);
  } catch (error) {
    // What stays there costs money; a rule of the bucket removes what this does not reach.
    await ask({ method: "DELETE", path, query: { uploadId } }, [204, 200, 404]).catch(() => undefined);
    throw error;
  }
}

async function send(
  ask: Parameters<typeof putInParts>[0],
  path: string,
  uploadId: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const etags: string[] = [];
  let bytes = 0;
  for await (const body of inParts(chunks)) {
    const query = { partNumber: String(etags.length + 1), uploadId };
    const { etag } = await ask({ method: "PUT", path, query, body }, [200]);
    if (etag === null) throw new MediaStoreAway("it gave no ETag for a part");
    etags.push(etag);
    bytes += body.length;
  }
  const parts = etags.map((etag, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
  const { text } = await ask({ method: "POST", path, query: { uploadId }, body }, [200]);
  // This one answers 200 before it knows.
  if (!text.includes("<CompleteMultipartUploadResult"))
    throw new MediaStoreAway("it could not join the parts");
  return bytes;
}

/** All of one size but the last; at least one. */
async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let given = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < PART_BYTES) continue;
    given++;
    yield Buffer.concat(held, bytes);
    held = [];
    bytes = 0;
  }
  if (bytes > 0 || given === 0) yield Buffer.concat(held, bytes);
}
