import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { verify } from "../../wire/keys.ts";
import { bytes, child } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";

/** Prefix of what the companion signs; the primary's own signature has 06 00. */
const DEVICE_SIGNATURE = Buffer.from([6, 1]);

/** A companion's identity, signed by phone and companion. */
export interface SignedDevice {
  /** `ADVSignedDeviceIdentity` with all signatures. */
  identity: Buffer;
  keyIndex: number;
}

/**
 * Reads a companion's answer to `pair-success`: its own signature over exactly what the phone has signed.
 *
 * @param identity  the companion's identity key
 * @param sent      `ADVSignedDeviceIdentityHMAC` as the phone made it
 * @returns the signed device, or what is wrong with the answer
 */
export function readPairingAnswer(identity: Buffer, sent: Buffer, answer: BinaryNode): SignedDevice | string {
  const node = child(child(answer, "pair-device-sign"), "device-identity");
  const content = bytes(node);
  if (answer.attrs.type !== "result" || !node || !content) return "no pair-device-sign in the answer";
  const { details, accountSignatureKey, accountSignature } = proto.ADVSignedDeviceIdentity.decode(
    proto.ADVSignedDeviceIdentityHMAC.decode(sent).details!,
  );
  const given = proto.ADVSignedDeviceIdentity.decode(content);
  if (!asBuffer(given.details).equals(asBuffer(details))) return "other details than the phone has signed";
  if (!asBuffer(given.accountSignature).equals(asBuffer(accountSignature)))
    return "another account signature";
  const signed = Buffer.concat([DEVICE_SIGNATURE, details!, identity, accountSignatureKey!]);
  if (!verify(identity, signed, asBuffer(given.deviceSignature)))
    return "the device signature does not verify";
  const keyIndex = proto.ADVDeviceIdentity.decode(details!).keyIndex ?? 0;
  if (node.attrs["key-index"] !== String(keyIndex)) return "another key-index";
  const complete = proto.ADVSignedDeviceIdentity.encode({ ...given, accountSignatureKey }).finish();
  return { identity: Buffer.from(complete), keyIndex };
}

const asBuffer = (field: Uint8Array | null | undefined): Buffer => Buffer.from(field ?? []);
