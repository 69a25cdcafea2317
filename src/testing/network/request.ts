import type { SafeFetch } from "../../net/safe-fetch.ts";
import { answerFromStubs } from "./network.ts";

/** What bots ask by `ctx.fetch` is answered like what they ask by `fetch`: by the test, or not at all. */
export const requestFromStubs: SafeFetch["request"] = async (
  url,
  { method, headers, body, signal, onData },
) => {
  const answer = await answerFromStubs(
    new Request(url, {
      method,
      headers: headers ?? {},
      ...(body !== undefined && { body: body as BodyInit }),
      ...(signal && { signal }),
    }),
  );
  signal?.throwIfAborted();
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    if (answer.ok && onData?.(chunk) === true) break;
  }
  return {
    status: answer.status,
    headers: answer.headers,
    body: Buffer.concat(chunks),
    url,
  };
};
