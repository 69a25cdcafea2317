import type { World } from "../../world/world.ts";
import { Device } from "../../world/accounts.ts";

/** What the service knows about a companion, as JSON. Keys are public ones, in base64. */
export interface CompanionRecord {
  /** Device number, 1 or higher. */
  device: number;
  noiseKey: string;
  identity: string;
  registrationId: number;
  keyIndex: number;
  signedIdentity: string;
  signedPreKey: { id: number; publicKey: string; signature: string };
  /** One-time pre-keys left at the server, by their number. */
  preKeys: [id: number, publicKey: string][];
}

/** Records a companion so that a later simulator with the same seed can carry on with it. @throws when there is none */
export function recordCompanion(
  { world }: { world: World },
  number: string,
  device: number,
): CompanionRecord {
  const known = world.account(number).devices.get(device);
  if (!known?.noiseKey || !known.identity || !known.signedPreKey || !known.signedIdentity)
    throw new Error(`${number} has no linked companion ${device}`);
  const { id, publicKey, signature } = known.signedPreKey;
  return {
    device,
    noiseKey: known.noiseKey.toString("base64"),
    identity: known.identity.toString("base64"),
    registrationId: known.registrationId,
    keyIndex: known.keyIndex,
    signedIdentity: known.signedIdentity.toString("base64"),
    signedPreKey: { id, publicKey: publicKey.toString("base64"), signature: signature.toString("base64") },
    preKeys: Array.from(known.preKeys, ([key, value]) => [key, value.toString("base64")]),
  };
}

/**
 * Makes a companion known that another simulator with the same seed has linked, as if this one had. Its account must be
 * there already; nobody has a Signal session with it yet.
 */
export function adoptCompanion({ world }: { world: World }, number: string, record: CompanionRecord): void {
  const account = world.account(number);
  const device = new Device(account, record.device);
  const { signedPreKey } = record;
  device.noiseKey = Buffer.from(record.noiseKey, "base64");
  device.identity = Buffer.from(record.identity, "base64");
  device.registrationId = record.registrationId;
  device.keyIndex = record.keyIndex;
  device.signedIdentity = Buffer.from(record.signedIdentity, "base64");
  device.signedPreKey = {
    id: signedPreKey.id,
    publicKey: Buffer.from(signedPreKey.publicKey, "base64"),
    signature: Buffer.from(signedPreKey.signature, "base64"),
  };
  for (const [id, publicKey] of record.preKeys) device.preKeys.set(id, Buffer.from(publicKey, "base64"));
  device.listed = true;
  device.seen = true;
  account.devices.set(device.id, device);
  account.nextDevice = Math.max(account.nextDevice, device.id + 1);
}
