import type { MediaStore } from "../media/store.ts";
import type { Random } from "../random.ts";
import type { DeliveredStanzas } from "../server/delivery/delivered-stanzas.ts";
import type { Delivery } from "../server/delivery/delivery.ts";
import type { DeviceLists } from "../server/accounts/device-lists.ts";
import type { Edges } from "../server/edges.ts";
import type { Hooks } from "../server/hooks.ts";
import type { MessageBook } from "../server/messages/message-book.ts";
import type { NewChats } from "../server/messages/new-chats.ts";
import type { Reports } from "../server/ports.ts";
import type { Reachout } from "../server/messages/reachout.ts";
import type { Population } from "../driver/population.ts";
import type { Time } from "../time.ts";
import type { Transcript } from "../transcript.ts";
import type { World } from "../world/world.ts";
import type { FaultTarget, SimulatorFaults } from "../surface/faults.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "../world/accounts.ts";

/** Everything that faults use of the service and its people; each declares its share. */
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
  newChats: NewChats;
  edges: Pick<Edges, "move">;
  population: Population;
}

/**
 * What each file in this folder makes: methods for `sim.faults`, and a way to disarm all of them.
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

/** A message in a chat, as opposed to one between an account's own devices about the account (`category=peer`). */
export const isMessage = (node: BinaryNode): boolean =>
  node.tag === "message" && node.attrs.category !== "peer";

/** Such a message with a ciphertext, which channel posts do not have. */
export const isEncrypted = (node: BinaryNode): boolean =>
  isMessage(node) && Array.isArray(node.content) && node.content.some(({ tag }) => tag === "enc");

/** The devices a fault applies to. @throws when there is none */
export function targets(world: World, target: FaultTarget): Device[] {
  const devices = [...world.account(target.number).devices.values()];
  const found = devices.filter((device) => isTarget(target, device));
  if (found.length === 0) throw new Error(`${target.number} has no companion to disturb`);
  return found;
}

/** @throws when it is not a whole number of at least 1 */
export function atLeastOne(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${name} must be a whole number from 1 up, not ${value}`);
  return value;
}

/** The functions that a fault has added to hook lists, so that they can be removed again. */
export class Armed {
  readonly #undo = new Set<() => void>();

  /** Adds a function to a hook list; the result removes it. */
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

  /** Removes all of them. */
  clear(): void {
    for (const undo of this.#undo) undo();
  }
}
