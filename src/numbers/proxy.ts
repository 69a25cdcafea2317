import { GatewayError } from "../model/errors/errors.ts";
import { OutboundError } from "../net/errors.ts";
import { hostOf, readProxy, shownProxy } from "../net/proxy-address.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { openProxy, sealProxy } from "../store/sealed/proxies.ts";
import type { SecretBox } from "../store/store.ts";

/** A number's proxy as memory has it: its password only sealed. */
export interface KeptProxy {
  sealed: Buffer;
  /** The address without the password. */
  shown: string;
}

/** Shown in the place of an address that does not open. */
const UNREADABLE = "unreadable";

/** What does not open is kept as it is: the number then connects to nothing, and says so. */
export function keptProxy(box: Pick<SecretBox, "open">, deviceId: number, sealed: Buffer): KeptProxy {
  const address = addressIn(box, deviceId, sealed);
  const proxy = address === null ? null : readProxy(address);
  return { sealed, shown: proxy === null ? UNREADABLE : shownProxy(proxy) };
}

/**
 * What is kept of a new proxy.
 *
 * @param address with its password
 * @param check   as `SafeFetch.check`
 * @throws {GatewayError} URL_NOT_ALLOWED
 */
export async function newProxy(
  box: SecretBox,
  deviceId: number,
  address: string,
  check: SafeFetch["check"] | undefined,
): Promise<KeptProxy> {
  const proxy = readProxy(address);
  if (proxy === null) throw new Error("The address of a proxy was not checked.");
  try {
    await check?.(`http://${hostOf(proxy)}`);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new GatewayError("URL_NOT_ALLOWED", error.message, { fields: { proxy: [error.message] } });
  }
  return { sealed: sealProxy(box, deviceId, address), shown: shownProxy(proxy) };
}

/** Whether both lead the same way; what is sealed twice is not the same bytes. */
export function isSameProxy(
  box: Pick<SecretBox, "open">,
  deviceId: number,
  a: KeptProxy | null,
  b: KeptProxy | null,
): boolean {
  if (a === null || b === null) return a === b;
  const address = addressIn(box, deviceId, a.sealed);
  return address !== null && address === addressIn(box, deviceId, b.sealed);
}

function addressIn(box: Pick<SecretBox, "open">, deviceId: number, sealed: Buffer): string | null {
  try {
    return openProxy(box, deviceId, sealed);
  } catch {
    return null;
  }
}
