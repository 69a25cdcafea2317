import { mayUseNumber, mayWriteTo } from "../../accounts/authorize.ts";
import type { Caller } from "../../accounts/caller.ts";
import { parseChannel, parseDestination, parseNumber, type Destination } from "../../model/address.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { pageInMemory, type Page, type PageWanted } from "../../model/page.ts";
import type { DeviceRecord } from "../../numbers/numbers.ts";
import { mayReach } from "./recipients.ts";
import type { App } from "../services.ts";
import { notFound } from "../answers/unmatched.ts";

/** Which numbers of its account a caller may use, and how everything else looks to it: as if it did not exist. */

/**
 * The number that a request names in its body.
 *
 * @param number normalised
 * @param field what it is called there
 * @throws SENDER_NOT_FOUND, in the same words for unknown, another account's, and outside the key's `devices`
 */
export function findSender(
  app: App,
  caller: Caller,
  number: string,
  field: "sender" | "device" = "sender",
): DeviceRecord {
  const device = visibleDevice(app, caller, number);
  if (device === null) throw senderNotFound(field);
  return device;
}

const visibleDevice = (app: App, caller: Caller, number: string): DeviceRecord | null =>
  mayUseNumber(caller, number) ? app.numbers.find(caller.accountId, number) : null;

/**
 * Before the numbers that a request names are looked for: another node may have registered or linked them a moment ago, and
 * its caller comes to this one next.
 *
 * @param named whatever stands where a request can name one
 * @throws StorageUnavailable
 */
export async function catchUpWith(app: App, caller: Caller, named: unknown[]): Promise<void> {
  for (const text of named) {
    const number = typeof text === "string" ? parseNumber(text) : null;
    if (number !== null && mayUseNumber(caller, number)) await app.numbers.catchUp(caller.accountId, number);
  }
}

/** The refusal when a key names a number that it may not use. It reads the same whether the number exists or not. */
export const senderNotFound = (field: "sender" | "device"): GatewayError =>
  new GatewayError("SENDER_NOT_FOUND", "Invalid data!", {
    fields: { [field]: ["This API key has no such number."] },
  });

/** @throws SENDER_NOT_CONNECTED when no phone has the number linked; one that is reconnecting passes */
export function requireLinked(app: App, device: DeviceRecord): void {
  if (app.numbers.isLinked(device.id)) return;
  throw new GatewayError("SENDER_NOT_CONNECTED", "Invalid data!", {
    fields: { sender: ["This number is not linked. Link it with POST /generate-qr."] },
  });
}

/**
 * The number in a path.
 *
 * @param text as it came, in any spelling
 * @throws NOT_FOUND
 */
export function findDevice(app: App, caller: Caller, text: string | undefined): DeviceRecord {
  const number = parseNumber(text ?? "");
  const device = number === null ? null : visibleDevice(app, caller, number);
  if (device === null) throw notFound();
  return device;
}

/**
 * The channel in a path.
 *
 * @throws NOT_FOUND when it is no channel's id
 */
export function channelId(text: string | undefined): string {
  const channel = parseChannel(text ?? "");
  if (channel === null || !("id" in channel)) throw notFound();
  return channel.id;
}

/**
 * The numbers whose records a list may show.
 *
 * @param sender the one that is asked for, if any
 * @param field what it is called there
 * @throws SENDER_NOT_FOUND
 */
export function listedDevices(
  app: App,
  caller: Caller,
  sender: string | undefined,
  field?: "sender" | "device",
): DeviceRecord[] {
  return sender === undefined ? visibleDevices(app, caller) : [findSender(app, caller, sender, field)];
}

/**
 * The chat in a path, of a number.
 *
 * @throws NOT_FOUND when it is no address; RECIPIENT_NOT_ALLOWED when the key may not write there
 */
export async function findChat(
  app: App,
  caller: Caller,
  device: DeviceRecord,
  text: string | undefined,
): Promise<Destination> {
  const chat = parseDestination(text ?? "");
  if (chat === null) throw notFound();
  if (!(await mayReach(app, caller, device.id, chat.number)))
    throw new GatewayError("RECIPIENT_NOT_ALLOWED", `This API key may not write to ${chat.number}.`);
  return chat;
}

/** Whether a list may show what belongs to a chat, by all its names; null: whatever it is. */
export const chatFilter = (caller: Caller): ((names: string[]) => boolean) | null =>
  caller.recipients === null
    ? null
    : ([destination, ...aliases]) => mayWriteTo(caller, { destination: destination!, aliases });

/** All numbers of the account that the key may use. */
export function visibleDevices(app: App, caller: Caller): DeviceRecord[] {
  const devices = app.numbers.list(caller.accountId);
  return devices.filter((device) => mayUseNumber(caller, device.number));
}

/** Numbers of all accounts, for the operator. @param q a part of the digits, or of the name */
export function matchingDevices(
  app: App,
  { q, state, account }: { q?: string | undefined; state?: string | undefined; account?: string | undefined },
): DeviceRecord[] {
  const words = q?.toLowerCase();
  return app.numbers
    .all()
    .filter(
      (device) =>
        (state === undefined || device.state === state) &&
        (account === undefined || device.accountId === account) &&
        (words === undefined ||
          device.number.includes(words) ||
          device.name?.toLowerCase().includes(words) === true),
    );
}

/** A number as it is now, wherever it lives. */
export const current = async (app: App, device: DeviceRecord): Promise<DeviceRecord> =>
  (await app.numbers.current([device]))[0] ?? device;

/** A page of numbers as they are now. */
export const currentPage = async (app: App, page: Page<DeviceRecord>): Promise<Page<DeviceRecord>> => ({
  ...page,
  items: await app.numbers.current(page.items),
});

/** One page of numbers, newest first: all of them are in memory. */
export const devicePage = (devices: DeviceRecord[], wanted: PageWanted): Page<DeviceRecord> =>
  pageInMemory(devices, ({ id, createdAt }) => ({ at: createdAt, row: id }), wanted);
