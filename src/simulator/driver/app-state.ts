import type { AddressedChange } from "../people/app-state/changes.ts";
import type { AppStates } from "../server/accounts/app-state.ts";
import type { DirtyBits } from "../server/accounts/dirty-bits.ts";
import type { AppStateChange, AppStateMethods } from "../surface/app-state.ts";
import { userJid } from "../world/accounts.ts";
import { isGroupJid } from "../world/jid.ts";
import type { World } from "../world/world.ts";
import { addressOf } from "./addresses.ts";
import type { Population } from "./population.ts";

interface Needs {
  world: World;
  population: Population;
  appStates: AppStates;
  dirtyBits: DirtyBits;
}

/** App state, written on owners' phones. */
export function createAppStateMethods({ world, population, appStates, dirtyBits }: Needs): AppStateMethods {
  return {
    async changeAppState(number, changes, writing = {}) {
      const owner = population.owner(number);
      await owner.wake();
      const addressed = [changes].flat().map((change) => withAddresses(world, change));
      return await owner.changeAppState(addressed, writing);
    },
    appState: async (number) => {
      await population.owner(number).settle();
      return await population.owner(number).appState();
    },
    shareAppStateKeys: (number) => population.owner(number).shareAppStateKeys(),
    async spoilAppState(number, collection, trouble) {
      appStates.spoil(world.account(number), collection, trouble);
    },
    async announceAppState(number, collections) {
      appStates.announce(world.account(number), collections, world.account(number).devices.get(0));
    },
    async markDirty(number, type) {
      dirtyBits.mark(world.account(number), type);
    },
    dirty: async (number) => dirtyBits.of(world.account(number)),
  };
}

function withAddresses(world: World, change: AppStateChange): AddressedChange {
  if ("chat" in change) return { ...change, chat: addressOf(world, change.chat) };
  if (!("person" in change) || isGroupJid(change.person)) return change;
  const person = addressOf(world, change.person);
  return { ...change, person, lid: userJid(world.account(person), "lid") };
}
