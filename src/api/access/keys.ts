import type { z } from "zod";
import type { NewKey } from "../../accounts/api-keys.ts";
import type { newKey } from "../schemas/accounts.ts";

/** @returns what the request asks for, ready to be issued */
export function requestedKey(input: z.output<typeof newKey>): NewKey {
  return {
    name: input.name,
    permissions: [...new Set(input.permissions)],
    devices: input.devices === undefined ? null : [...new Set(input.devices)],
    recipients: input.recipients === undefined ? null : [...new Set(input.recipients)],
    expiresAt: input.expires_at ?? null,
  };
}
