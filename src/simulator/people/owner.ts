import type { proto } from "@whiskeysockets/baileys";
import type { Random } from "../random.ts";
import { type BinaryNode, child, children } from "../wire/nodes.ts";
import { Devices } from "./devices.ts";
import {
  type AppStateKey,
  asksForAppStateKey,
  firstHistory,
  makeAppStateKey,
  shareAppStateKey,
} from "./first-sync.ts";
import { NUMBERS, deviceJid, readUserJid } from "./jids.ts";
import type { PhoneWorld } from "./link.ts";
import { createLinking } from "./linking.ts";
import type { KnownHistory, OwnerOptions, PlaceholderAnswer, SimulatedOwner } from "./people.ts";
import { createPerson } from "./person.ts";
import type { Phone } from "./phone.ts";
import { sendPlaceholders, wantedMessages } from "./placeholders.ts";

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
    onNotification: care.introduce,
    async onMessage(message, about) {
      if (about.isPeer) await care.answer(message, about);
    },
  });
  return Object.assign(createPerson(world, options, devices), {
    scan: linking.scan,
    enterPairingCode: linking.enterPairingCode,
    passkeyCode: linking.passkeyCode,
    answerPlaceholder: care.answerPlaceholder,
    async removeCompanion(device: number) {
      await linking.removeCompanion(device);
      care.forget(deviceJid({ user: options.number, server: NUMBERS, device }));
    },
  });
}

interface CareNeeds {
  world: PhoneWorld;
  options: OwnerOptions;
  random(): Random;
  phone(): Phone;
}

/** What an owner's phone tells its companions. */
interface Care extends Pick<SimulatedOwner, "answerPlaceholder"> {
  /** A companion that has come online for the first time gets the app-state key and its first history. */
  introduce(notification: BinaryNode): Promise<void>;
  /** A companion asks for its keys, or for messages that reached it without content. */
  answer(message: proto.IMessage, about: { id: string; from: string }): Promise<void>;
  /** A companion was removed. */
  forget(companion: string): void;
}

function createCare({ world, options, random, phone }: CareNeeds): Care {
  const { history = (): KnownHistory => ({ pairs: [], chats: [] }) } = options;
  const introduced = new Set<string>();
  const placeholders = new Map<string, PlaceholderAnswer>();
  let appStateKey: AppStateKey | undefined;
  const key = (): AppStateKey =>
    (appStateKey ??= makeAppStateKey(random().fork("app state key"), world.time.now()));
  const tell = async (companion: string, message: proto.IMessage): Promise<void> =>
    await phone().outbox.sendToOwnDevice(companion, phone().newMessageId(), message);
  return {
    answerPlaceholder: (id, how) => void placeholders.set(id, how),
    forget: (companion) => void introduced.delete(companion),
    async introduce(notification) {
      if (notification.attrs.type !== "devices") return;
      for (const { attrs } of children(child(notification, "remove"), "device"))
        introduced.delete(attrs.jid ?? "");
      for (const { attrs } of children(child(notification, "add"), "device")) {
        const { jid } = attrs;
        if (!jid || readUserJid(jid).user !== options.number || introduced.has(jid)) continue;
        introduced.add(jid);
        await tell(jid, shareAppStateKey(key()));
        await tell(jid, firstHistory(history()));
      }
    },
    async answer(message, { id, from }) {
      if (asksForAppStateKey(message)) await tell(from, shareAppStateKey(key()));
      const wanted = wantedMessages(message);
      const answered = wanted?.filter((one) => placeholders.get(one.id ?? "") !== "silent");
      if (!answered?.length) return;
      const { memory } = phone().state;
      const found = answered.map((one) =>
        placeholders.get(one.id ?? "") === "not_found" ? undefined : memory.find(one.id ?? ""),
      );
      await tell(from, sendPlaceholders(id, found));
    },
  };
}
