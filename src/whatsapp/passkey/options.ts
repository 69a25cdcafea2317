import type { BinaryNode } from "@whiskeysockets/baileys";
import { z } from "zod";
import type { PasskeyRequest } from "../../model/passkey.ts";
import { childOf } from "../nodes.ts";

/** Longer than any real request; what is longer is not read. */
const MOST_BYTES = 64 * 1024;
const LONGEST_MS = 600_000;

const base64url = z
  .string()
  .max(4096)
  .regex(/^[\w-]+={0,2}$/);

const request = z.object({
  challenge: base64url,
  rpId: z.string().min(1).max(253),
  timeout: z.number().positive().max(LONGEST_MS).catch(LONGEST_MS),
  allowCredentials: z
    .array(
      z.object({
        id: base64url,
        type: z.string().default("public-key"),
        transports: z.array(z.string()).default([]),
      }),
    )
    .max(64)
    .default([]),
  userVerification: z.string().default("required"),
  extensions: z.record(z.string(), z.unknown()).default({}),
});

/** What a notification or an answer asks for; null when it cannot be read. */
export function readPasskeyRequest(node: BinaryNode): PasskeyRequest | null {
  const content = childOf(node, "passkey_request_options")?.content;
  const text = content instanceof Uint8Array ? Buffer.from(content).toString("utf8") : content;
  if (typeof text !== "string" || text.length > MOST_BYTES) return null;
  try {
    return request.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
