import type { BinaryNode } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";

/** A certificate is a few hundred bytes. */
const MOST_BYTES = 4096;

/** The name of a business, as WhatsApp has verified it and sends it along with each of its messages; null when there is none. */
export function verifiedNameIn(children: readonly BinaryNode[]): string | null {
  const certificate = children.find(({ tag }) => tag === "verified_name")?.content;
  if (!(certificate instanceof Uint8Array) || certificate.length > MOST_BYTES) return null;
  const { VerifiedNameCertificate } = baileys.proto;
  try {
    const { details } = VerifiedNameCertificate.decode(certificate);
    return (details && VerifiedNameCertificate.Details.decode(details).verifiedName) || null;
  } catch {
    return null;
  }
}
