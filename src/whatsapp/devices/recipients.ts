import type { WASocket } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";
import { isLid, toPn, userOf, withoutDevice } from "../jids.ts";
import { askOnce } from "./ask-once.ts";
import type { Device } from "./device-lists.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { Unanswered } from "./unanswered.ts";
import {
  inLidForm,
  recipients,
  targetsOf,
  type TargetForm,
  type Owned,
  type Recipients,
  type Target,
} from "../send/targets.ts";
import { askForDevices, askForForm } from "./usync.ts";

/** Nobody has this number. */
export const NOT_ON_WHATSAPP = "not_on_whatsapp";

/** Finds the devices that messages are encrypted for. */
export interface Directory {
  /**
   * Who gets a message to a person. A number may be known under another form of it (Brazilian ones with or without their
   * ninth digit): WhatsApp then names the form that counts. Who has a LID is written to by it: WhatsApp refuses messages by
   * number to people who have moved to LIDs.
   *
   * @param form only this address, when it is known. Default: what was accepted last, else the LID
   * @returns `NOT_ON_WHATSAPP` only when WhatsApp says so, or names everybody but this LID
   * @throws {Unanswered} when it does not say
   */
  recipientsOf(jid: string, form?: TargetForm): Promise<Recipients | typeof NOT_ON_WHATSAPP>;
  /** The same, when nobody has to be asked and everything is in memory; else null. `pn` is null. */
  knownRecipients(jid: string): Recipients | null;
  /**
   * All devices of these persons. They are asked for at once, and only those that are not known.
   *
   * @throws {Unanswered}
   */
  devicesOf(jids: string[]): Promise<Target[]>;
  /** The address under which WhatsApp knows a number; null when nobody has it, or WhatsApp does not say. */
  formThatCounts(jid: string): Promise<string | null>;
}

/** What is known of LIDs. */
interface LidSources {
  /** The LID's user of a number's, if that is in memory. */
  peekLid(pnUser: string): string | null;
  /** See `LidChanges`. */
  underWay(jid: string): Promise<void> | null;
}

/** @param socket the connection to ask on */
export function createDirectory(
  socket: () => WASocket,
  time: Pick<Time, "deadline">,
  {
    userDevices,
    otherForms,
    acceptedForms,
    dropped,
  }: Pick<DeviceMemory, "userDevices" | "otherForms" | "acceptedForms" | "dropped">,
  { peekLid, underWay }: LidSources,
): Directory {
  const lists = createLists(socket, time, { userDevices, dropped });
  const find = createFinder(socket, lists, { userDevices, dropped });

  /**
   * Whether WhatsApp leaves a LID out of an answer in which it names this number itself. Nobody can be asked whether a LID
   * exists: an answer about others that says nothing of it is the only "no" that there is.
   */
  async function isNobodys(lid: string): Promise<boolean> {
    const { me } = socket().authState.creds;
    const named = await lists.ask([withoutDevice(me?.lid ?? me?.id), lid]);
    return named.size === 1 && !named.has(lid);
  }

  /** What is in memory of a person at an address; null when that is not all. */
  function known(jid: string, lid: string | null): Owned | null {
    // The lists are in memory, whatever the interface allows.
    const devices = userDevices.get(userOf(jid)) as Device[] | undefined;
    return lid === null || !devices?.length ? null : { jid, lid, devices };
  }

  const knownLid = (jid: string): string | null => (isLid(jid) ? jid : lidJid(peekLid(userOf(jid))));

  function knownRecipients(wanted: string): Recipients | null {
    const jid = otherForms.get(wanted) ?? wanted;
    if (underWay(jid) !== null) return null;
    const { me } = socket().authState.creds;
    const lid = knownLid(jid);
    const to = acceptedForms.get(wanted) === "number" ? jid : lid;
    const from = withoutDevice(to !== null && isLid(to) && me?.lid ? me.lid : me?.id);
    const theirs = to === null ? null : known(to, lid);
    const own = known(from, knownLid(from));
    return theirs && own && recipients({ ...theirs, pn: null }, own, me);
  }

  return {
    knownRecipients,
    async recipientsOf(wanted, form = acceptedForms.get(wanted) ?? "lid") {
      const jid = otherForms.get(wanted) ?? wanted;
      await underWay(jid);
      const found = await find(jid, form);
      if (found !== null) return found;
      if (isLid(jid)) {
        if (await isNobodys(jid)) return NOT_ON_WHATSAPP;
        throw new Unanswered("the query for this contact's devices");
      }
      const counts = await askForForm(socket(), wanted);
      if (counts === null) return NOT_ON_WHATSAPP;
      const other = counts === jid ? null : await find(counts, form);
      if (other === null) throw new Unanswered("the query for this number's devices");
      otherForms.set(wanted, counts);
      return other;
    },
    async devicesOf(jids) {
      const found = await lists.listsOf(jids);
      const targets = jids.map(async (jid) =>
        targetsOf({ devices: found.get(jid) ?? [], lid: await lidOf(socket(), jid) }),
      );
      return (await Promise.all(targets)).flat();
    },
    formThatCounts: async (jid) => otherForms.get(jid) ?? askForForm(socket(), jid).catch(() => null),
  };
}

/** Devices of persons: those that are not known are asked for at once. */
function createLists(
  socket: () => WASocket,
  time: Pick<Time, "deadline">,
  { userDevices, dropped }: Pick<DeviceMemory, "userDevices" | "dropped">,
) {
  const ask = askOnce(time, "the query for devices", (jids) => askForDevices(socket(), jids));

  async function listsOf(jids: string[]): Promise<Map<string, Device[]>> {
    const lists = new Map<string, Device[]>();
    const unknown: string[] = [];
    for (const jid of jids) {
      const known = await userDevices.get<Device[]>(userOf(jid));
      if (known === undefined) unknown.push(jid);
      else lists.set(jid, known);
    }
    if (unknown.length === 0) return lists;
    const { times } = dropped;
    const answers = await ask(unknown);
    for (const jid of unknown) {
      const devices = answers.get(jid) ?? [];
      lists.set(jid, devices);
      if (dropped.times === times) await userDevices.set(userOf(jid), devices);
    }
    return lists;
  }

  return { ask, listsOf };
}

/** @returns finds whom a message is encrypted for by an address; null when the person has no devices */
function createFinder(
  socket: () => WASocket,
  { listsOf }: Pick<ReturnType<typeof createLists>, "listsOf">,
  { userDevices, dropped }: Pick<DeviceMemory, "userDevices" | "dropped">,
): (jid: string, form: TargetForm) => Promise<Recipients | null> {
  /**
   * Null when the person has no devices, as far as WhatsApp tells.
   *
   * @param asked the address that devices are asked for by
   * @param byLid whether a LID that the answer names is what is written to
   */
  async function withOwn(asked: string, byLid: boolean): Promise<Recipients | null> {
    const { me } = socket().authState.creds;
    const ownAsked = withoutDevice(isLid(asked) && me?.lid ? me.lid : me?.id);
    const { times } = dropped;
    const lists = await listsOf([...new Set([ownAsked, asked])]);
    const theirs = lists.get(asked) ?? [];
    if (theirs.length === 0) {
      // Whoever has none today may have some when the next message is sent.
      void userDevices.del(userOf(asked));
      return null;
    }
    const [lid, ownLid] = await Promise.all([lidOf(socket(), asked), lidOf(socket(), ownAsked)]);
    const { pn } = await namesOf(socket(), asked);
    const person = { jid: asked, lid, devices: theirs };
    const own = { jid: ownAsked, lid: ownLid, devices: lists.get(ownAsked) ?? [] };
    const [to, from] = byLid && lid !== null ? [inLidForm(person), inLidForm(own)] : [person, own];
    // The next message is written to the LID: nobody has to be asked for it.
    const isCurrent = dropped.times === times;
    if (to !== person && isCurrent) await userDevices.set(userOf(to.jid), to.devices);
    if (from !== own && isCurrent) await userDevices.set(userOf(from.jid), from.devices);
    return recipients({ ...to, pn }, from, me);
  }

  return async (jid, form) => {
    const { pn, lid } = await namesOf(socket(), jid);
    if (form === "number" && pn !== null) return withOwn(pn, false);
    if (lid === null) return withOwn(jid, true);
    const found = await withOwn(lid, true);
    // Whoever has another LID by now is found by the number.
    return found ?? (pn === null ? null : withOwn(pn, true));
  };
}

/** The LID of a person; null when it is not known. */
async function lidOf({ signalRepository }: WASocket, jid: string): Promise<string | null> {
  if (isLid(jid)) return jid;
  const lid = await signalRepository.lidMapping.getLIDForPN(jid);
  return lid === null ? null : withoutDevice(lid);
}

/** Both addresses of a person, as far as they are stored: the LID is the one that counts now. Nobody is asked. */
async function namesOf(
  { authState }: WASocket,
  jid: string,
): Promise<{ pn: string | null; lid: string | null }> {
  const stored = async (key: string): Promise<string | undefined> =>
    (await authState.keys.get("lid-mapping", [key]))[key];
  const number = isLid(jid) ? await stored(`${userOf(jid)}_reverse`) : userOf(jid);
  if (number === undefined) return { lid: jid, pn: null };
  const lid = lidJid((await stored(number)) ?? null);
  return { pn: toPn(number), lid: lid ?? (isLid(jid) ? jid : null) };
}

const lidJid = (user: string | null): string | null => (user === null ? null : `${user}@lid`);
