import { createHash } from "node:crypto";
import { typedPublicKey, verify } from "../../wire/keys.ts";
import { bytes, child, children, element, uint, uintBytes } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { MalformedIq } from "../iq-error.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { DeviceLists } from "../accounts/device-lists.ts";
import type { Deliveries, Reports, Stamps } from "../ports.ts";
import type { World } from "../../world/world.ts";
import type { IqHandler, IqRequest } from "./handler.ts";
import type { Account, Device, SignedPreKey } from "../../world/accounts.ts";

/** With fewer one-time pre-keys than this left, the owner is asked for more. */
const LOW_KEYS = 5;
const KEY_TYPE = Buffer.from([5]);

interface Needs extends Stamps, Deliveries, Reports {
  world: World;
  deviceLists: Pick<DeviceLists, "announce">;
  /** Brings an account's phones online if they have never been: until then they have no keys. */
  wake(account: Account): Promise<void>;
}

/** The key store (`encrypt`): bundles for whoever starts a session, and what devices upload. */
export const createEncryptHandlers = (needs: Needs): IqHandler[] => [
  {
    xmlns: "encrypt",
    type: "get",
    child: "count",
    answer: ({ device }) => [element("count", { value: String(device.preKeys.size) })],
  },
  { xmlns: "encrypt", type: "get", child: "digest", answer: ({ device }) => digest(device) },
  { xmlns: "encrypt", type: "get", child: "key", answer: (request) => bundles(needs, request) },
  { xmlns: "encrypt", type: "set", child: "rotate", answer: (request) => rotate(needs, request) },
  { xmlns: "encrypt", type: "set", answer: (request) => upload(needs, request) },
];

async function bundles(needs: Needs, { device, body }: IqRequest): Promise<BinaryNode[]> {
  const users = children(body, "user");
  if (users.length === 0) throw new MalformedIq("a key query without users");
  const answers: BinaryNode[] = [];
  for (const { attrs } of users) {
    const account = needs.world.find(attrs.jid);
    if (account) await needs.wake(account);
    const target = needs.world.device(attrs.jid);
    answers.push(bundle(needs, device, target, attrs.jid ?? ""));
  }
  return [element("list", {}, answers)];
}

/** One device's bundle. A one-time pre-key is handed out only once. */
function bundle(needs: Needs, asker: Device, target: Device | undefined, jid: string): BinaryNode {
  if (!target?.identity || !target.signedPreKey) {
    return element("user", { jid }, [element("error", { code: "404", text: "item-not-found" })]);
  }
  const content = [
    element("registration", {}, uintBytes(target.registrationId, 4)),
    element("type", {}, KEY_TYPE),
    element("identity", {}, target.identity),
    signedKeyNode(target.signedPreKey),
  ];
  const oneTime = target.preKeys.entries().next().value;
  if (oneTime) {
    const [id, publicKey] = oneTime;
    target.preKeys.delete(id);
    target.spentPreKeys.set(id, { to: asker.pn });
    content.push(keyNode("key", id, publicKey));
    askForMoreKeys(needs, target);
  }
  if (target.signedIdentity) content.push(element("device-identity", {}, target.signedIdentity));
  return element("user", { jid, t: needs.now() }, content);
}

function askForMoreKeys(needs: Needs, device: Device): void {
  if (device.preKeys.size >= LOW_KEYS || device.lowKeysTold) return;
  device.lowKeysTold = true;
  const attrs = { from: SERVER_JID, type: "encrypt", id: needs.nextId(), t: needs.now() };
  const count = element("count", { value: String(device.preKeys.size) });
  needs.deliver(device, element("notification", attrs, [count]));
}

function upload(needs: Needs, { device, iq }: IqRequest): BinaryNode[] {
  const identity = bytes(child(iq, "identity"));
  const registrationId = uint(child(iq, "registration"));
  const signed = readSignedKey(child(iq, "skey"));
  if (identity?.length !== 32 || registrationId === undefined || !signed)
    throw new MalformedIq("an incomplete key upload");
  if (device.identity && device.noiseKey && !device.identity.equals(identity)) {
    throw new MalformedIq("an identity other than the linked one");
  }
  device.identity = identity;
  device.registrationId = registrationId;
  takeSignedKey(needs, device, signed);
  for (const key of children(child(iq, "list"), "key")) takeOneTimeKey(needs, device, key);
  device.lowKeysTold = false;
  if (!device.listed) {
    device.listed = true;
    // The answer goes out first; only then do others learn that the device can be written to.
    queueMicrotask(() => needs.deviceLists.announce(device, "add"));
  }
  return [];
}

function takeOneTimeKey(needs: Needs, device: Device, key: BinaryNode): void {
  const id = uint(child(key, "id"));
  const publicKey = bytes(child(key, "value"));
  if (id === undefined || publicKey?.length !== 32) throw new MalformedIq("a malformed one-time pre-key");
  const known = device.preKeys.get(id);
  if (device.spentPreKeys.has(id) || (known && !known.equals(publicKey))) {
    needs.violations.report(
      "prekey_id_reused",
      device.label,
      `pre-key ${id} was uploaded before with another key`,
    );
  }
  device.preKeys.set(id, publicKey);
}

function takeSignedKey(needs: Needs, device: Device, signed: SignedPreKey): void {
  if (!device.identity || !verify(device.identity, typedPublicKey(signed.publicKey), signed.signature)) {
    needs.violations.report("signed_prekey_signature", device.label, `signed pre-key ${signed.id}`);
    throw new MalformedIq("a signed pre-key whose signature does not verify");
  }
  device.signedPreKey = signed;
}

function rotate(needs: Needs, { device, body }: IqRequest): BinaryNode[] {
  const signed = readSignedKey(child(body, "skey"));
  if (!signed) throw new MalformedIq("a rotation without a signed pre-key");
  takeSignedKey(needs, device, signed);
  return [];
}

/** What the server holds for a device, so that the device can compare it with its own keys. */
function digest(device: Device): BinaryNode[] {
  if (!device.identity || !device.signedPreKey) return [];
  const ids = [...device.preKeys.keys()];
  const hash = createHash("sha1").update(device.identity).update(device.signedPreKey.publicKey);
  hash.update(device.signedPreKey.signature);
  for (const publicKey of device.preKeys.values()) hash.update(publicKey);
  const list = ids.map((id) => element("id", {}, uintBytes(id, 3)));
  return [
    element("digest", {}, [
      element("registration", {}, uintBytes(device.registrationId, 4)),
      element("type", {}, KEY_TYPE),
      element("identity", {}, device.identity),
      signedKeyNode(device.signedPreKey),
      element("list", {}, list),
      element("hash", {}, hash.digest()),
    ]),
  ];
}

function readSignedKey(node: BinaryNode | undefined): SignedPreKey | undefined {
  const id = uint(child(node, "id"));
  const publicKey = bytes(child(node, "value"));
  const signature = bytes(child(node, "signature"));
  return id !== undefined && publicKey?.length === 32 && signature?.length === 64
    ? { id, publicKey, signature }
    : undefined;
}

function keyNode(tag: string, id: number, publicKey: Buffer): BinaryNode {
  return element(tag, {}, [element("id", {}, uintBytes(id, 3)), element("value", {}, publicKey)]);
}

function signedKeyNode({ id, publicKey, signature }: SignedPreKey): BinaryNode {
  const content = [...children(keyNode("skey", id, publicKey)), element("signature", {}, signature)];
  return element("skey", {}, content);
}
