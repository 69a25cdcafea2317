import type { MediaStore } from "../media/store.ts";
import type { Random } from "../random.ts";
import type { DeliveredStanzas } from "../server/delivered-stanzas.ts";
import type { Delivery } from "../server/delivery.ts";
import type { DeviceLists } from "../server/device-lists.ts";
import type { Hooks } from "../server/hooks.ts";
import type { MessageBook } from "../server/message-book.ts";
import type { Reports } from "../server/ports.ts";
import type { Reachout } from "../server/reachout.ts";
import type { Population } from "../driver/population.ts";
import type { Time } from "../time.ts";
import type { Transcript } from "../transcript.ts";
import type { World } from "../world/world.ts";
import type { FaultTarget, SimulatorFaults } from "../surface/faults.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "../world/accounts.ts";

/** All that faults reach of the service and its people; each names its share. */
export interface FaultNeeds extends Delivery, Reports {
  hooks: Hooks;
  world: World;
  time: Time;
  random: Random;
  media: MediaStore;
  transcript: Transcript;
  book: MessageBook;
  delivered: DeliveredStanzas;
  deviceLists: DeviceLists;
  reachout: Reachout;
  population: Population;
}

/**
 * One file of this folder: the methods it adds to `sim.faults`, and how to end whatever of them is armed.
 * A new fault is a new file and one line in `index.ts`.
 */
export interface FaultKit<Name extends keyof SimulatorFaults> {
  methods: Pick<SimulatorFaults, Name>;
  clear(): void;
}

/** Does the fault apply to this device? Without a device number it applies to all companions of the number. */
export function isTarget(target: FaultTarget, device: Device | undefined): boolean {
  return (
    device?.account.number === target.number &&
    (target.device === undefined
      ? device.id !== 0 || device.account.kind === "contact"
      : device.id === target.device)
  );
}

/** A message of somebody else's, or of another own device: not one between the devices of an account about itself. */
export const isMessage = (node: BinaryNode): boolean =>
  node.tag === "message" && node.attrs.category !== "peer";

/** The same with a ciphertext, which posts in channels have not. */
export const isEncrypted = (node: BinaryNode): boolean =>
  isMessage(node) && Array.isArray(node.content) && node.content.some(({ tag }) => tag === "enc");

/** The devices a fault applies to. @throws when there is none */
export function targets(world: World, target: FaultTarget): Device[] {
  const devices = [...world.account(target.number).devices.values()];
  const found = devices.filter((device) => isTarget(target, device));
  if (found.length === 0) throw new Error(`${target.number} has no companion to disturb`);
  return found;
}

/** @throws when it is no whole number from 1 up */
export function atLeastOne(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${name} must be a whole number from 1 up, not ${value}`);
  return value;
}

/** The functions that a fault has put into hook lists, so that they can be taken out again. */
export class Armed {
  readonly #undo = new Set<() => void>();

  /** Puts a function into a hook list; the result takes it out. */
  arm<F>(hooks: F[], hook: F): () => void {
    hooks.push(hook);
    const undo = (): void => {
      const index = hooks.indexOf(hook);
      if (index >= 0) hooks.splice(index, 1);
      this.#undo.delete(undo);
    };
    this.#undo.add(undo);
    return undo;
  }

  /** Takes all of them out. */
  clear(): void {
    for (const undo of this.#undo) undo();
  }
}
