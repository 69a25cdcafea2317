/** Key material in stanzas: uploads, bundles, and what a retry receipt carries. */
import type { KeyBundle } from "../signal/bundle.ts";
import type { SignalDevice } from "../signal/device.ts";
import { type BinaryNode, bytes, child, element, uint, uintBytes } from "../wire/nodes.ts";

/** The wire's name for Curve25519. */
const KEY_TYPE = Uint8Array.of(5);

/** Content of `iq encrypt set`: the device's keys and `count` new one-time pre-keys. */
export function uploadNodes(signal: SignalDevice, count: number): BinaryNode[] {
  return [
    registrationNode(signal),
    element("type", {}, KEY_TYPE),
    element("identity", {}, signal.identity.public),
    element("list", {}, signal.uploadPreKeys(count).map(preKeyNode)),
    signedPreKeyNode(signal),
  ];
}

/** The `keys` child of a retry receipt, with a one-time pre-key that nobody else was given. */
export function retryKeysNode(signal: SignalDevice, deviceIdentity: Uint8Array | undefined): BinaryNode {
  const content = [
    element("type", {}, KEY_TYPE),
    element("identity", {}, signal.identity.public),
    ...signal.uploadPreKeys(1).map(preKeyNode),
    signedPreKeyNode(signal),
  ];
  if (deviceIdentity) content.push(element("device-identity", {}, deviceIdentity));
  return element("keys", {}, content);
}

/** The `registration` child: four bytes. */
export function registrationNode(signal: SignalDevice): BinaryNode {
  return element("registration", {}, uintBytes(signal.registrationId, 4));
}

/**
 * Reads a bundle.
 *
 * @param node          `user` of a key answer, or `keys` of a retry receipt
 * @param registration  where the registration id stands, when not inside `node`
 * @returns undefined when something is missing or has a wrong length
 */
export function readBundle(node: BinaryNode | undefined, registration = node): KeyBundle | undefined {
  const signedKey = child(node, "skey");
  const registrationId = uint(child(registration, "registration"));
  const identity = bytes(child(node, "identity"));
  const id = uint(child(signedKey, "id"));
  const value = bytes(child(signedKey, "value"));
  const signature = bytes(child(signedKey, "signature"));
  if (registrationId === undefined || id === undefined) return undefined;
  if (identity?.length !== 32 || value?.length !== 32 || signature?.length !== 64) return undefined;
  const preKey = child(node, "key");
  const preKeyId = uint(child(preKey, "id"));
  const preKeyValue = bytes(child(preKey, "value"));
  if (preKey && (preKeyId === undefined || preKeyValue?.length !== 32)) return undefined;
  return {
    registrationId,
    identity: new Uint8Array(identity),
    signedPreKey: { id, public: value, signature },
    ...(preKey ? { preKey: { id: preKeyId!, public: preKeyValue! } } : {}),
  };
}

function preKeyNode(key: { id: number; public: Uint8Array }): BinaryNode {
  return element("key", {}, [element("id", {}, uintBytes(key.id, 3)), element("value", {}, key.public)]);
}

function signedPreKeyNode(signal: SignalDevice): BinaryNode {
  const key = signal.signedPreKey;
  return element("skey", {}, [
    element("id", {}, uintBytes(key.id, 3)),
    element("value", {}, key.public),
    element("signature", {}, key.signature),
  ]);
}
