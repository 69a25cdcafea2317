import type { Random } from "../random.ts";
import type { SignalDevice } from "../signal/device.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { AddressBook } from "./address-book.ts";
import { LIDS, NUMBERS, deviceJid, readUserJid } from "./jids.ts";
import type { PhoneWorld } from "./link.ts";
import type { DeviceAddress } from "./address.ts";
import type { ChatTimers } from "./messages/chat-timers.ts";
import type { Memory } from "./messages/memory.ts";

/** What the parts of one phone share. */
export interface PhoneState {
  readonly world: PhoneWorld;
  readonly address: DeviceAddress;
  readonly random: Random;
  readonly signal: SignalDevice;
  readonly book: AddressBook;
  readonly memory: Memory;
  readonly timers: ChatTimers;
  /** `ADVSignedDeviceIdentity` of a device that is not the phone itself. */
  readonly deviceIdentity: Uint8Array | undefined;
  /** @throws when the device is asleep */
  send(node: BinaryNode): void;
  /** @throws when the device is asleep or the link closes meanwhile */
  query(iq: BinaryNode): Promise<BinaryNode>;
}

/** Whether an address is one of this person's own, whichever device it names. */
export function isOwn(state: PhoneState, jid: string): boolean {
  const { user, server } = readUserJid(jid);
  return user === (server === NUMBERS ? state.address.user : state.address.lid);
}

/** This device's own address on the server of `beside`. */
export function ownJid(state: PhoneState, beside: string): string {
  const { user, lid, device } = state.address;
  const { server } = readUserJid(beside);
  return deviceJid({ user: server === LIDS ? lid : user, server, device });
}

/** Whether an address names this very device. */
export function isThisDevice(state: PhoneState, jid: string): boolean {
  return isOwn(state, jid) && readUserJid(jid).device === state.address.device;
}

/** `number:device`, the name used in violations. */
export function label(state: PhoneState): string {
  return `${state.address.user}:${state.address.device}`;
}

/** Tells the recorder of something that the real service or a real phone would refuse. */
export function reportViolation(state: PhoneState, rule: string, detail: string): void {
  state.world.recorder.onViolation({ rule, who: label(state), detail });
}
