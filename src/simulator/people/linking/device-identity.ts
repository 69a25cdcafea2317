/** How a phone vouches for the other devices of its account ("ADV", account device verification). */
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { type KeyPair, sign } from "../../signal/curve.ts";
import { hmac } from "../../signal/kdf.ts";

const ACCOUNT_SIGNATURE = Uint8Array.of(6, 0);
const DEVICE_SIGNATURE = Uint8Array.of(6, 1);
const LIST_SIGNATURE = Uint8Array.of(6, 2);

/** What a phone says of one of its companions. */
interface DeviceDetails {
  rawId: number;
  /** Unix seconds. */
  timestamp: number;
  /** 1 or higher, a new one for each companion. */
  keyIndex: number;
}

/** The phone's half: signed by the account, not yet by the companion. */
export function signByAccount(
  account: KeyPair,
  companion: Uint8Array,
  details: DeviceDetails,
): proto.IADVSignedDeviceIdentity {
  const { E2EE } = proto.ADVEncryptionType;
  const bytes = proto.ADVDeviceIdentity.encode({ ...details, accountType: E2EE, deviceType: E2EE }).finish();
  return {
    details: bytes,
    accountSignatureKey: account.public,
    accountSignature: sign(account, Buffer.concat([ACCOUNT_SIGNATURE, bytes, companion])),
  };
}

/** The phone's list of its companions, by their key indexes. */
export function signKeyIndexes(
  account: KeyPair,
  list: { rawId: number; timestamp: number; currentIndex: number; validIndexes: number[] },
): Uint8Array {
  const details = proto.ADVKeyIndexList.encode(list).finish();
  const accountSignature = sign(account, Buffer.concat([LIST_SIGNATURE, details]));
  return proto.ADVSignedKeyIndexList.encode({
    details,
    accountSignature,
    accountSignatureKey: account.public,
  }).finish();
}

/** The companion's half; gives the identity that it shows to everybody it writes to first. */
export function signByDevice(device: KeyPair, signed: proto.IADVSignedDeviceIdentity): Uint8Array {
  const { details, accountSignatureKey } = signed;
  const content = Buffer.concat([DEVICE_SIGNATURE, details!, device.public, accountSignatureKey!]);
  return proto.ADVSignedDeviceIdentity.encode({ ...signed, deviceSignature: sign(device, content) }).finish();
}

/** What the phone sends when it links a companion; `advSecret` proves that it saw that companion's QR or code. */
export function sealForCompanion(signed: proto.IADVSignedDeviceIdentity, advSecret: Uint8Array): Uint8Array {
  const details = proto.ADVSignedDeviceIdentity.encode(signed).finish();
  return proto.ADVSignedDeviceIdentityHMAC.encode({ details, hmac: hmac(advSecret, details) }).finish();
}
