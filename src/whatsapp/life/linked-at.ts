import type { AuthenticationCreds } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";

/** When the phone has accepted these credentials, Unix seconds: what was written before is history in the true sense. */
export function linkedAt({ account }: Pick<AuthenticationCreds, "account">): number {
  // A protobuf that was stored as JSON comes back with its bytes as base64.
  const details: Uint8Array | string | null | undefined = account?.details;
  if (!details?.length) return Number.POSITIVE_INFINITY;
  const bytes = typeof details === "string" ? Buffer.from(details, "base64") : details;
  return baileys.toNumber(baileys.proto.ADVDeviceIdentity.decode(bytes).timestamp);
}
