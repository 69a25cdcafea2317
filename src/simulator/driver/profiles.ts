import type { MediaStore } from "../media/store.ts";
import type { AccountChanges } from "../server/accounts/account-changes.ts";
import type { HistoryMethods } from "../surface/history.ts";
import type { ProfileMethods } from "../surface/profiles.ts";
import type { Random } from "../random.ts";
import type { Time } from "../time.ts";
import type { Profiles } from "../world/profiles.ts";
import type { World } from "../world/world.ts";
import { historyOf } from "./history.ts";
import type { Population } from "./population.ts";

interface Needs {
  world: World;
  random: Random;
  time: Time;
  population: Population;
  profiles: Profiles;
  accountChanges: AccountChanges;
  media: Pick<MediaStore, "find">;
}

/** What people change about themselves, and what owners' phones tell of old messages. */
export function createProfileMethods(needs: Needs): ProfileMethods & HistoryMethods {
  const { world, random, time, population, profiles, accountChanges, media } = needs;
  const phoneOf = (number: string) => world.account(number).devices.get(0);
  return {
    async setPicture(person, bytes) {
      const account = world.account(person);
      return { id: accountChanges.picture(account, bytes, phoneOf(account.number))?.id ?? null };
    },
    async picture(of) {
      const { picture } = world.groups.get(of) ?? profiles.of(world.account(of).number);
      return picture?.directPath ? media.find(picture.directPath)!.bytes : null;
    },
    about: async (person) => profiles.of(world.account(person).number).status,
    async setAbout(person, text) {
      profiles.of(world.account(person).number).status = text;
    },
    setBusiness: async (person, profile) => accountChanges.business(world.account(person), profile),
    async setPushName(person, name) {
      const account = world.account(person);
      await population.person(person).rename(name);
      await population.person(person).wake();
      account.name = name;
      if (account.kind === "owner")
        await population.owner(person).changeAppState([{ kind: "pushName", name }], {});
    },
    async setPrivacy(person, name, value) {
      accountChanges.privacy(world.account(person), name, value, phoneOf(person));
    },
    privacy: async (person) => Object.fromEntries(profiles.of(world.account(person).number).privacy),
    async block(person, other, action = "block") {
      accountChanges.block(world.account(person), world.account(other), action, phoneOf(person));
    },
    blocked: async (person) => [...profiles.of(world.account(person).number).blocked],
    setPresence: async (person, state) => await population.person(person).presence(state),
    async presence(person) {
      const { available, seenAt } = profiles.of(world.account(person).number);
      return { available: [...available].map(({ id }) => id), seenAt: seenAt ?? null };
    },
    async sendHistory(number, { type, pieces, inline, ...history }) {
      const now = Math.floor(time.now() / 1000);
      const known = historyOf(world, number, history, random.fork(`history sent:${number}`), now);
      await population.owner(number).sendHistory({ ...known, type, pieces, inline });
    },
  };
}
