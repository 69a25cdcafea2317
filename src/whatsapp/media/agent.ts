import type { Dispatcher } from "undici";
import { isPublicAddress } from "../../net/addresses.ts";
import { createBoundedAgent, createGuardedConnector } from "../../net/guard.ts";
import { certificates, type WhatsAppSettings } from "../life/socket-options.ts";

type Settings = Pick<WhatsAppSettings, "whatsappCaFile" | "whatsappWsUrl">;

/**
 * Connections to WhatsApp's media hosts.
 *
 * @param connector makes them. Default: straight to the hosts
 */
export function createMediaAgent(settings: Settings, connector = straight(settings)): Dispatcher {
  return createBoundedAgent(connector);
}

/** A simulator's hosts are private; WhatsApp's never are, whatever a name resolves to. */
const straight = (settings: Settings) =>
  createGuardedConnector(settings.whatsappWsUrl === null ? isPublicAddress : null, {
    ca: certificates(settings),
  });
