import type { SecretBox } from "../store.ts";

/** A number's proxy, with its password, as its row keeps it. Numbers write it, and WhatsApp reads it for each connection. */

const contextOf = (deviceId: number): string => `device-proxy:${deviceId}`;

/** @param address with its password */
export const sealProxy = (box: Pick<SecretBox, "seal">, deviceId: number, address: string): Buffer =>
  box.seal(address, contextOf(deviceId));

/** @throws when it does not open: then nothing may go out, with a proxy or without one */
export const openProxy = (box: Pick<SecretBox, "open">, deviceId: number, sealed: Uint8Array): string =>
  box.open(sealed, contextOf(deviceId)).toString("utf8");
