import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";

/** The certificate of a business's name, as it goes along with its messages and stands in answers about it. Nobody checks its signature. */
export function verifiedName(name: string): BinaryNode {
  const details = proto.VerifiedNameCertificate.Details.encode({
    serial: 1,
    issuer: "smb:wa",
    verifiedName: name,
  }).finish();
  const certificate = proto.VerifiedNameCertificate.encode({
    details,
    signature: new Uint8Array(64),
  }).finish();
  const attrs = {
    v: "1",
    verified_level: "unknown",
    host_storage: "1",
    actual_actors: "1",
    privacy_mode_ts: "0",
  };
  return element("verified_name", attrs, certificate);
}
