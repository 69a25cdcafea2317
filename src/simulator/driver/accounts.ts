import type { AccountMethods, CompanionInfo } from "../surface/accounts.ts";
import type { DeviceLists } from "../server/accounts/device-lists.ts";
import type { LidChanges } from "../server/accounts/lid-changes.ts";
import type { NumberChanges } from "../server/accounts/number-changes.ts";
import type { Passkeys } from "../server/linking/passkeys.ts";
import type { PrivacyTokens } from "../server/messages/privacy-tokens.ts";
import type { Time } from "../time.ts";
import { userJid } from "../world/accounts.ts";
import type { Account } from "../world/accounts.ts";
import type { World } from "../world/world.ts";
import { contactHandle, numberHandle } from "./handles.ts";
import type { AccountNames, HandleMethods } from "./handles.ts";
import type { Population } from "./population.ts";
import { companionInfo, companionsOf } from "./wire.ts";

interface Needs {
  world: World;
  passkeys: Pick<Passkeys, "require">;
  lidChanges: LidChanges;
  numberChanges: NumberChanges;
  deviceLists: Pick<DeviceLists, "announce" | "tellIdentity" | "remove">;
  privacyTokens: Pick<PrivacyTokens, "give">;
  time: Time;
  population: Population;
  /** What handles call; it is complete once they are used. */
  methods: () => HandleMethods;
}

/** Numbers, contacts and companions. */
export function createAccountMethods(needs: Needs): AccountMethods {
  const { world, population, methods } = needs;
  return {
    ...createLinkMethods(needs),
    async addNumber(number, options = {}) {
      return numberHandle(methods(), namesOf(population.addOwner(number, options)));
    },
    async addContact(number, options = {}) {
      return contactHandle(methods(), namesOf(population.addContact(number, options)));
    },
    async addContacts(count, { prefix, ...options }) {
      return Array.from({ length: count }, (_, index) => {
        const number = `${prefix}${String(index + 1).padStart(5, "0")}`;
        return population.addContact(number, options).number;
      });
    },
    async number(number) {
      population.owner(number);
      return numberHandle(methods(), namesOf(world.account(number)));
    },
    async contact(number) {
      population.contact(number);
      return contactHandle(methods(), namesOf(world.account(number)));
    },
    async changeLid(number, { lid = population.newLid(`${number}:moved`), told = "ack" } = {}) {
      const account = world.account(number);
      needs.lidChanges.move(account, lid, told);
      population.contact(number).moveLid(lid);
      return userJid(account, "lid");
    },
    async addDevice(number, { told = true } = {}) {
      const account = world.account(number);
      const id = await population.contact(number).addDevice(account.nextDevice);
      if (told) needs.deviceLists.announce(account.devices.get(id)!, "add");
      return id;
    },
    async changePhone(number, { told = true } = {}) {
      const account = world.account(number);
      const person = population.contact(number);
      person.startAnew();
      for (const device of account.devices.values()) {
        if (device.id === 0) device.forgetKeys();
        else needs.deviceLists.remove(device);
      }
      await person.wake();
      if (told) needs.deviceLists.tellIdentity(account);
    },
    async changeNumber(number, to, { suggested } = {}) {
      const before = world.account(number);
      const after = population.renumber(number, to);
      needs.numberChanges.move(before, after, suggested);
      return contactHandle(methods(), namesOf(after));
    },
    async sleep(number) {
      population.contact(number).sleep();
    },
    wake: (number) => population.contact(number).wake(),
    async giveToken(contact, number, { secondsAgo = 0 } = {}) {
      const t = Math.floor(needs.time.now() / 1000) - secondsAgo;
      needs.privacyTokens.give(world.account(contact), world.account(number), t);
    },
  };
}

/** What an owner does to link companions and to remove them. */
function createLinkMethods({ world, passkeys, population }: Needs) {
  /** @throws when the number has no such companion */
  const companion = (number: string, device: number): CompanionInfo => {
    const found = companionsOf(world, number, device)[0];
    if (!found) throw new Error(`${number} has no companion ${device}`);
    return companionInfo(found);
  };
  return {
    async scan(number, qrText) {
      const { device } = await population.owner(number).scan(qrText);
      return companion(number, device);
    },
    async enterPairingCode(number, code) {
      const { device } = await population.owner(number).enterPairingCode(code.replaceAll("-", ""));
      return companion(number, device);
    },
    async logoutCompanion(number, device) {
      companion(number, device);
      await population.owner(number).removeCompanion(device);
    },
    async requirePasskey(number, passkey, rule) {
      population.owner(number);
      passkeys.require(world.account(number), passkey, rule);
    },
    passkeyCode: (number, timeoutMs) => population.owner(number).passkeyCode(timeoutMs),
    async companions(number) {
      return companionsOf(world, number).map(companionInfo);
    },
  } satisfies Partial<AccountMethods>;
}

function namesOf(account: Account): AccountNames {
  return { number: account.number, jid: userJid(account, "pn"), lid: userJid(account, "lid") };
}
