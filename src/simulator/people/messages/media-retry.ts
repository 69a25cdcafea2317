import { createCipheriv, createDecipheriv } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { derive } from "../../signal/kdf.ts";
import { type BinaryNode, bytes, child, element } from "../../wire/nodes.ts";
import { unwrap } from "../content.ts";
import { fileOf } from "../content/media.ts";
import { iq } from "../directory.ts";
import { type PhoneState, label } from "../phone-state.ts";

const TAG_BYTES = 16;
const { SUCCESS, NOT_FOUND } = proto.MediaRetryNotification.ResultType;

/** A companion could not load a file any more and asks its phone to store it again; the phone does, or says why not. */
export async function storeAgain(state: PhoneState, request: BinaryNode, random: Random): Promise<void> {
  const { id = "", from = "" } = request.attrs;
  const rmr = child(request, "rmr");
  const known = state.memory.find(id);
  const found = known && fileOf(unwrap(known.message));
  const mediaKey = found?.file.mediaKey;
  if (!found || !mediaKey) {
    // Without the message there is no key to answer with.
    await answer(state, id, from, rmr, element("error", { code: String(NOT_FOUND) }));
    return;
  }
  const key = derive(mediaKey, "WhatsApp Media Retry Notification", 32);
  if (!isGenuine(child(request, "encrypt"), key, id)) {
    state.world.recorder.onViolation({
      rule: "media_retry",
      who: label(state),
      detail: `${from} asked for the file of ${id} with a request that its key does not open`,
    });
  }
  const kept = state.world.files.recall(found.file.directPath ?? "");
  if (kept === "silent") return;
  const directPath = kept === "not_found" ? undefined : state.world.files.store(found.kind, kept).directPath;
  if (directPath) found.file.directPath = directPath;
  const result = directPath ? SUCCESS : NOT_FOUND;
  const plain = proto.MediaRetryNotification.encode({ stanzaId: id, directPath, result }).finish();
  const iv = random.bytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(id));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const encrypt = element("encrypt", {}, [element("enc_p", {}, sealed), element("enc_iv", {}, iv)]);
  await answer(state, id, from, rmr, encrypt);
}

async function answer(
  state: PhoneState,
  id: string,
  to: string,
  rmr: BinaryNode | undefined,
  content: BinaryNode,
): Promise<void> {
  const parts = rmr ? [content, rmr] : [content];
  await state.query(iq("w:m", [element("mediaretry", { id, to }, parts)], "set"));
}

/** The request names the message once more, encrypted with the file's key. */
function isGenuine(encrypt: BinaryNode | undefined, key: Uint8Array, id: string): boolean {
  const sealed = bytes(child(encrypt, "enc_p"));
  const iv = bytes(child(encrypt, "enc_iv"));
  if (!sealed || sealed.length < TAG_BYTES || !iv) return false;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(id));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
    return proto.ServerErrorReceipt.decode(plain).stanzaId === id;
  } catch {
    return false;
  }
}
