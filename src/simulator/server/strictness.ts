import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { verify } from "../wire/keys.ts";
import { bytes, child, children } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "../world/accounts.ts";
import type { World } from "../world/world.ts";
import type { Reports } from "./ports.ts";

interface Needs extends Reports {
  world: World;
}

/** Checks what can be read of a message without decrypting it, and reports what its receivers or the service would refuse. */
export function createStrictness(needs: Needs): (sender: Device, message: BinaryNode) => void {
  return (sender, message) => {
    checkDeviceIdentity(needs, sender, message);
    checkCiphertexts(needs, sender, message);
  };
}

/** Everything encrypted in a message stanza, and for whom it is. */
export function ciphertextsOf(node: BinaryNode): { enc: BinaryNode; jid: string | undefined }[] {
  const { participant, to: chat } = node.attrs;
  const direct = children(node, "enc").map((enc) => ({ enc, jid: participant ?? chat }));
  const listed = children(child(node, "participants"), "to").flatMap((to) =>
    children(to, "enc").map((enc) => ({ enc, jid: to.attrs.jid })),
  );
  return [...direct, ...listed];
}

const ACCOUNT_SIGNATURE = Buffer.from([6, 0]);
const DEVICE_SIGNATURE = Buffer.from([6, 1]);

/** A companion's first message to somebody must carry its signed device identity. */
function checkDeviceIdentity(needs: Needs, sender: Device, node: BinaryNode): void {
  if (sender.id === 0 || !containsFirstContact(node)) return;
  const identity = bytes(child(node, "device-identity"));
  if (!identity) {
    needs.violations.report("device_identity_missing", sender.label, `message ${node.attrs.id} has a pkmsg`);
    return;
  }
  // Verified once, a companion sends the same bytes every time.
  if (sender.signedIdentity?.equals(identity)) return;
  if (!identityIsGenuine(sender, identity)) {
    needs.violations.report("device_identity_invalid", sender.label, `message ${node.attrs.id}`);
  }
}

function identityIsGenuine(sender: Device, identity: Buffer): boolean {
  if (!sender.identity) return true;
  try {
    const given = proto.ADVSignedDeviceIdentity.decode(identity);
    const { details, accountSignatureKey: key, accountSignature, deviceSignature } = given;
    if (!details || !key || !accountSignature || !deviceSignature) return false;
    const primary = sender.account.devices.get(0)?.identity;
    return (
      (primary === undefined || primary.equals(key)) &&
      verify(key, Buffer.concat([ACCOUNT_SIGNATURE, details, sender.identity]), accountSignature) &&
      verify(
        sender.identity,
        Buffer.concat([DEVICE_SIGNATURE, details, sender.identity, key]),
        deviceSignature,
      )
    );
  } catch {
    return false;
  }
}

function containsFirstContact(node: BinaryNode): boolean {
  return children(node).some(
    (part) => (part.tag === "enc" && part.attrs.type === "pkmsg") || containsFirstContact(part),
  );
}

/** Checks the shape of every ciphertext, and which one-time pre-key it uses up. */
function checkCiphertexts(needs: Needs, sender: Device, node: BinaryNode): void {
  for (const { enc, jid } of ciphertextsOf(node)) {
    const content = bytes(enc);
    if (
      !["pkmsg", "msg", "skmsg"].includes(enc.attrs.type ?? "") ||
      !content?.length ||
      enc.attrs.v !== "2"
    ) {
      needs.violations.report(
        "malformed_ciphertext",
        sender.label,
        `enc in message ${node.attrs.id} for ${jid}`,
      );
      continue;
    }
    if (enc.attrs.type === "pkmsg") checkPreKey(needs, sender, needs.world.device(jid), content);
  }
}

function checkPreKey(needs: Needs, sender: Device, target: Device | undefined, content: Buffer): void {
  if (!target) return;
  let header: proto.PreKeySignalMessage;
  try {
    header = proto.PreKeySignalMessage.decode(content.subarray(1));
  } catch {
    needs.violations.report("malformed_ciphertext", sender.label, `pkmsg for ${target.label}`);
    return;
  }
  if (target.registrationId && header.registrationId === undefined) {
    needs.violations.report(
      "malformed_ciphertext",
      sender.label,
      `pkmsg for ${target.label} without registration`,
    );
  }
  const id = header.preKeyId;
  if (!id || !header.baseKey) return;
  const spent = target.spentPreKeys.get(id);
  const baseKey = Buffer.from(header.baseKey).toString("hex");
  if (!spent) {
    needs.violations.report(
      "prekey_unknown",
      sender.label,
      `pre-key ${id} of ${target.label} was never given out`,
    );
  } else if (spent.baseKey !== undefined && spent.baseKey !== baseKey) {
    needs.violations.report(
      "prekey_reused",
      sender.label,
      `pre-key ${id} of ${target.label} was used before`,
    );
  } else {
    spent.baseKey = baseKey;
  }
}
