import { baileys } from "./baileys.ts";
import type { ClientVersion } from "./client-version.ts";

/** The version of WhatsApp's client that the client library brings. */
export const bundledVersion: ClientVersion = baileys.DEFAULT_CONNECTION_CONFIG.version;
