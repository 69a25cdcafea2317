import { createHash } from "node:crypto";
import { readPreKeyMessage, readSenderKeyMessage, readWhisperMessage } from "../../signal/wire.ts";
import { bytes } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";
import type { Reports } from "../ports.ts";
import { ciphertextsOf } from "../strictness.ts";

/** As many as a long campaign uses; a database that is put back may be as old as that. */
const MOST_KEYS = 250_000;

/** Which key something was encrypted with, and which ciphertext that is. */
interface Use {
  key: string;
  ciphertext: string;
}

/**
 * Looks at every ciphertext that a device sends, whatever becomes of its message, and reports `message_key_reused` when another one was
 * under its key: two texts under one key give both away, and whoever reads takes the second for a repetition of the first. The same
 * ciphertext once more is a message that is sent again.
 */
export function createMessageKeys({ violations }: Reports): (sender: Device, message: BinaryNode) => void {
  const used = new Map<string, { ciphertext: string; id: string }>();

  function note(sender: Device, id: string, { key, ciphertext }: Use): void {
    const before = used.get(key);
    if (before === undefined) {
      used.set(key, { ciphertext, id });
      if (used.size > MOST_KEYS) used.delete(used.keys().next().value!);
    } else if (before.ciphertext !== ciphertext)
      violations.report("message_key_reused", sender.label, `message ${id} and message ${before.id}`);
  }

  return (sender, message) => {
    for (const { enc } of ciphertextsOf(message)) {
      const content = bytes(enc);
      const use = content && useOf(sender, message.attrs.to ?? "", enc.attrs.type, content);
      if (use) note(sender, message.attrs.id ?? "", use);
    }
  };
}

/** Undefined: it cannot be read, which its reader says. */
function useOf(sender: Device, chat: string, type: string | undefined, content: Buffer): Use | undefined {
  try {
    if (type === "msg") return useOfSession(content);
    if (type === "pkmsg") return useOfSession(readPreKeyMessage(content).message);
    if (type === "skmsg") return useOfSenderKey(sender, chat, content);
  } catch {
    return undefined;
  }
  return undefined;
}

function useOfSession(content: Uint8Array): Use {
  const { ratchetKey, counter, ciphertext } = readWhisperMessage(content);
  return { key: `${Buffer.from(ratchetKey).toString("base64")} ${counter}`, ciphertext: short(ciphertext) };
}

// Its signature differs each time.
function useOfSenderKey(sender: Device, chat: string, content: Uint8Array): Use {
  const { keyId, iteration, ciphertext } = readSenderKeyMessage(content);
  return { key: `${sender.label} ${chat} ${keyId} ${iteration}`, ciphertext: short(ciphertext) };
}

const short = (ciphertext: Uint8Array): string =>
  createHash("sha256").update(ciphertext).digest("base64").slice(0, 16);
