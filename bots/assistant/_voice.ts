import type { Ctx } from "./_config.ts";

const LARGEST = 10 * 1024 * 1024;
const LONGEST = 4_000;

/**
 * Has a voice note written down, by the same server.
 *
 * @throws {TypeError} when the answer is none; what `ctx.fetch` throws
 */
export async function writeDown(ctx: Ctx, signal: AbortSignal): Promise<string> {
  const { url, key, voice = "" } = ctx.config;
  const { bytes, mimetype } = await ctx.file();
  if (bytes.length > LARGEST) throw new TypeError("The voice note is too large.");
  const boundary = `parley-${ctx.idempotencyKey("voice").replaceAll(/[^\w-]/g, "")}`;
  const part = (name: string, more: string, body: string | Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`),
      Buffer.from(body as string),
      Buffer.from("\r\n"),
    ]);
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(mimetype)?.[0] ?? "audio/ogg";
  const file = part("file", `; filename="voice.ogg"\r\ncontent-type: ${type}`, bytes);
  const answer = await ctx.fetch(`${url.replace(/\/$/, "")}/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([part("model", "", voice), file, Buffer.from(`--${boundary}--\r\n`)]),
    timeout: "30s",
    tries: 2,
    signal,
  });
  if (!answer.ok) throw new TypeError(`HTTP ${answer.status}`);
  const { text } = (await answer.json()) as { text?: unknown };
  if (typeof text !== "string" || text.trim() === "") throw new TypeError("no text");
  return text.trim().slice(0, LONGEST);
}
