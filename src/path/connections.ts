import type { LinkedIdentity, WhatsAppConnection } from "../whatsapp/port.ts";

/** What the way of a message asks of the numbers, and all that it knows of them. */
export interface Connections {
  /** Null unless the number is online. */
  connection(deviceId: number): WhatsAppConnection | null;
  /** Who the number is at WhatsApp; known while it has been online in this process. */
  identity(deviceId: number): LinkedIdentity | null;
  /** True while a phone has it linked, connected or on its way. */
  isLinked(deviceId: number): boolean;
  /** Its digits; null once it is erased. */
  number(deviceId: number): string | null;
  /** Whose it is; null once it is erased. */
  accountOf(deviceId: number): string | null;
  /** What it tells those whose call it has rejected; null: nothing. */
  callsText(deviceId: number): string | null;
  /** Id of an account's number, or null. */
  deviceOf(accountId: string, number: string): number | null;
}

/** The one place where a number's connection is looked up. */
export interface ConnectionPort extends Connections {
  /** From now on these are the numbers. Until then no number is known, and none is online. */
  serve(numbers: Connections): void;
}

/**
 * Stands between the way of a message, which looks connections up, and the numbers, which bring messages in: neither has
 * to be there before the other.
 */
export function createConnectionPort(): ConnectionPort {
  let served: Connections | null = null;
  return {
    serve: (numbers) => void (served = numbers),
    connection: (deviceId) => served?.connection(deviceId) ?? null,
    identity: (deviceId) => served?.identity(deviceId) ?? null,
    isLinked: (deviceId) => served?.isLinked(deviceId) ?? false,
    number: (deviceId) => served?.number(deviceId) ?? null,
    accountOf: (deviceId) => served?.accountOf(deviceId) ?? null,
    callsText: (deviceId) => served?.callsText(deviceId) ?? null,
    deviceOf: (accountId, number) => served?.deviceOf(accountId, number) ?? null,
  };
}
