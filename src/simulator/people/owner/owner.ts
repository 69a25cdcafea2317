import { createCare } from "./care.ts";
import { Devices } from "./devices.ts";
import { NUMBERS, deviceJid } from "../jids.ts";
import type { PhoneWorld } from "../link.ts";
import { createLinking } from "../linking/linking.ts";
import type { OwnerOptions, SimulatedOwner } from "../people.ts";
import { createPerson } from "../person.ts";

/** The owner of a number: a person whose phone links companions, and tells them what they must know. */
export function createOwner(world: PhoneWorld, given: OwnerOptions): SimulatedOwner {
  const options = { ...given, devices: 1 };
  const linking = createLinking({
    world,
    number: options.number,
    random: () => devices.random,
    async phone() {
      await devices.wake();
      return devices.phone();
    },
  });
  const care = createCare({ world, options, random: () => devices.random, phone: () => devices.phone() });
  const devices = new Devices(world, options, {
    onArrival: linking.onArrival,
    onNotification: care.onNotification,
    async onMessage(message, about) {
      if (about.isPeer) await care.answer(message, about);
    },
  });
  return Object.assign(createPerson(world, options, devices), {
    scan: linking.scan,
    enterPairingCode: linking.enterPairingCode,
    passkeyCode: linking.passkeyCode,
    answerPlaceholder: care.answerPlaceholder,
    changeAppState: care.changeAppState,
    appState: care.appState,
    shareAppStateKeys: care.shareAppStateKeys,
    sendHistory: care.sendHistory,
    async removeCompanion(device: number) {
      await linking.removeCompanion(device);
      care.forget(deviceJid({ user: options.number, server: NUMBERS, device }));
    },
  });
}
