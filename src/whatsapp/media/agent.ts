import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { Dispatcher } from "undici";
import type { Config } from "../../config.ts";
import { isPublicAddress } from "../../net/addresses.ts";
import { createGuardedAgent } from "../../net/guard.ts";

/** Connections to WhatsApp's media hosts. A simulator's hosts are private; WhatsApp's never are, whatever a name resolves to. */
export function createMediaAgent({
  whatsappCaFile,
  whatsappWsUrl,
}: Pick<Config, "whatsappCaFile" | "whatsappWsUrl">): Dispatcher {
  const ca =
    whatsappCaFile === null ? undefined : [...rootCertificates, readFileSync(whatsappCaFile, "utf8")];
  return createGuardedAgent(whatsappWsUrl === null ? isPublicAddress : null, { ca });
}
