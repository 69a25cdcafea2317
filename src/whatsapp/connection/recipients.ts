import type { FullJid, LIDMapping, WASocket } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";
import { baileys } from "../baileys.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { askOnce } from "./ask-once.ts";
import type { Device } from "./device-lists.ts";
import type { DeviceMemory } from "./device-memory.ts";
import { Unanswered } from "./unanswered.ts";

/** One device that a message is encrypted for. */
export interface Target {
  /** Its address in the stanza. */
  jid: string;
  /** The address that its session is kept under: the LID's where that is known. */
  session: string;
}

/** Who gets a message to a person: its devices and the other ones of this number, without this companion itself. */
export interface Recipients {
  /** The person's address, in the form that counts. */
  jid: string;
  /** The LID of the person; null when it is not known. */
  lid: string | null;
  theirs: Target[];
  own: Target[];
}

/** Nobody has this number. */
export const NOT_ON_WHATSAPP = "not_on_whatsapp";

/** Finds the devices that messages are encrypted for. */
export interface Directory {
  /**
   * Who gets a message to a person. A number may be known under another form of it (Brazilian ones with or without their
   * ninth digit): WhatsApp then names the form that counts.
   *
   * @returns `NOT_ON_WHATSAPP` only when WhatsApp says so, or names everybody but this LID
   * @throws {Unanswered} when it does not say
   */
  recipientsOf(jid: string): Promise<Recipients | typeof NOT_ON_WHATSAPP>;
  /** The same, when nobody has to be asked and everything is in memory; else null. */
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

/** @param socket the connection to ask on */
export function createDirectory(
  socket: () => WASocket,
  time: Pick<Time, "deadline">,
  { userDevices, otherForms }: Pick<DeviceMemory, "userDevices" | "otherForms">,
  peekLid: (pnUser: string) => string | null,
): Directory {
  const ask = askOnce(time, "what devices somebody has", (jids) => askForDevices(socket(), jids));

  async function listsOf(jids: string[]): Promise<Map<string, Device[]>> {
    const lists = new Map<string, Device[]>();
    const unknown: string[] = [];
    for (const jid of jids) {
      const known = await userDevices.get<Device[]>(userOf(jid));
      if (known === undefined) unknown.push(jid);
      else lists.set(jid, known);
    }
    if (unknown.length === 0) return lists;
    const answers = await ask(unknown);
    for (const jid of unknown) {
      const devices = answers.get(jid) ?? [];
      lists.set(jid, devices);
      await userDevices.set(userOf(jid), devices);
    }
    return lists;
  }

  /**
   * Whether WhatsApp leaves a LID out of an answer in which it names this number itself. Nobody can be asked whether a LID
   * exists: an answer about others that says nothing of it is the only "no" that there is.
   */
  async function isNobodys(lid: string): Promise<boolean> {
    const { me } = socket().authState.creds;
    const named = await ask([withoutDevice(me?.lid ?? me?.id), lid]);
    return named.size === 1 && !named.has(lid);
  }

  /** Null when the person has no devices, as far as WhatsApp tells. */
  async function withOwn(jid: string): Promise<Recipients | null> {
    const { me } = socket().authState.creds;
    const ownJid = withoutDevice(isLid(jid) && me?.lid ? me.lid : me?.id);
    const lists = await listsOf([...new Set([ownJid, jid])]);
    const theirs = lists.get(jid) ?? [];
    if (theirs.length === 0) {
      // Whoever has none today may have some when the next message is sent.
      void userDevices.del(userOf(jid));
      return null;
    }
    const [lid, ownLid] = await Promise.all([lidOf(socket(), jid), lidOf(socket(), ownJid)]);
    const own = { jid: ownJid, lid: ownLid, devices: lists.get(ownJid) ?? [] };
    return recipients({ jid, lid, devices: theirs }, own, me);
  }

  /** What is in memory of a person; null when that is not all. */
  function known(jid: string): Owned | null {
    const lid = isLid(jid) ? jid : lidJid(peekLid(userOf(jid)));
    // The lists are in memory, whatever the interface allows.
    const devices = userDevices.get(userOf(jid)) as Device[] | undefined;
    return lid === null || !devices?.length ? null : { jid, lid, devices };
  }

  function knownRecipients(wanted: string): Recipients | null {
    const jid = otherForms.get(wanted) ?? wanted;
    const { me } = socket().authState.creds;
    const theirs = known(jid);
    const own = known(withoutDevice(isLid(jid) && me?.lid ? me.lid : me?.id));
    return theirs && own && recipients(theirs, own, me);
  }

  return {
    knownRecipients,
    async recipientsOf(wanted) {
      const jid = otherForms.get(wanted) ?? wanted;
      const found = await withOwn(jid);
      if (found !== null) return found;
      if (isLid(jid)) {
        if (await isNobodys(jid)) return NOT_ON_WHATSAPP;
        throw new Unanswered("what devices this contact has");
      }
      const form = await askForForm(socket(), wanted);
      if (form === null) return NOT_ON_WHATSAPP;
      const other = form === jid ? null : await withOwn(form);
      if (other === null) throw new Unanswered("what devices this number has");
      otherForms.set(wanted, form);
      return other;
    },
    async devicesOf(jids) {
      const lists = await listsOf(jids);
      const targets = jids.map(async (jid) => targetsOf(lists.get(jid) ?? [], await lidOf(socket(), jid)));
      return (await Promise.all(targets)).flat();
    },
    formThatCounts: async (jid) => otherForms.get(jid) ?? askForForm(socket(), jid).catch(() => null),
  };
}

/**
 * The address under which WhatsApp knows a number; null when it says that nobody has it.
 *
 * @throws {Unanswered} also when it says neither
 */
async function askForForm(socket: WASocket, jid: string): Promise<string | null> {
  const user = new baileys.USyncUser().withPhone(`+${userOf(jid)}`);
  const answer = await socket.executeUSyncQuery(
    new baileys.USyncQuery().withContactProtocol().withUser(user),
  );
  const [found] = (answer?.list ?? []) as { id: string; contact?: boolean }[];
  if (found?.contact === true) return withoutDevice(found.id);
  if (found?.contact === false) return null;
  throw new Unanswered("whether the number is on WhatsApp");
}

/** The LIDs of numbers that have one; null when WhatsApp has not answered, which Baileys' own question hides. */
export async function askForLids(socket: WASocket, jids: string[]): Promise<LIDMapping[] | null> {
  const numbers = jids.filter((jid) => !isLid(jid));
  if (numbers.length === 0) return [];
  const query = new baileys.USyncQuery().withLIDProtocol().withContext("background");
  for (const jid of numbers) query.withUser(new baileys.USyncUser().withId(jid));
  const answer = await socket.executeUSyncQuery(query);
  const list = answer?.list as { id: string; lid?: string }[] | undefined;
  return list?.flatMap(({ id, lid }) => (lid ? [{ pn: id, lid }] : [])) ?? null;
}

/**
 * What Baileys' `getUSyncDevices` asks, but a question without an answer is told from one about nobody.
 *
 * @returns devices by the address that was asked about; nothing of whom the answer leaves out
 */
async function askForDevices(socket: WASocket, jids: string[]): Promise<Map<string, Device[]>> {
  const query = new baileys.USyncQuery().withContext("message").withDeviceProtocol().withLIDProtocol();
  for (const jid of jids) query.withUser(new baileys.USyncUser().withId(jid));
  const answer = await socket.executeUSyncQuery(query);
  if (answer === undefined) throw new Unanswered("what devices somebody has");
  const { me } = socket.authState.creds;
  const found = baileys.extractDeviceJids(
    answer.list as never,
    me!.id,
    userOf(me!.lid),
    false,
  ) as (FullJid & { device: number })[];
  const lists = new Map<string, Device[]>();
  const byUser = new Map<string, Device[]>();
  const named = new Set((answer.list as { id: string }[]).map(({ id }) => userOf(id)));
  for (const jid of jids) {
    if (!named.has(userOf(jid))) continue;
    const devices: Device[] = [];
    lists.set(jid, devices);
    byUser.set(userOf(jid), devices);
  }
  for (const { user, server, device } of found) byUser.get(user)?.push({ user, server, device });
  await remember(socket, answer.list as { id: string; lid?: string }[], lists);
  return lists;
}

async function remember(
  { signalRepository, authState }: WASocket,
  answers: { id: string; lid?: string }[],
  lists: Map<string, Device[]>,
): Promise<void> {
  const pairs = answers.flatMap(({ id, lid }) => (lid && isPn(id) ? [{ pn: id, lid }] : []));
  // With these Baileys moves the sessions of a number to its LID.
  const stored = [...lists].filter(([, devices]) => devices.length > 0);
  const ids = stored.map(([jid, devices]) => [userOf(jid), devices.map(({ device }) => String(device))]);
  await Promise.all([
    pairs.length > 0 && signalRepository.lidMapping.storeLIDPNMappings(pairs),
    stored.length > 0 && authState.keys.set({ "device-list": Object.fromEntries(ids) }),
  ]);
}

/** The LID of a person; null when it is not known. */
async function lidOf({ signalRepository }: WASocket, jid: string): Promise<string | null> {
  if (isLid(jid)) return jid;
  const lid = await signalRepository.lidMapping.getLIDForPN(jid);
  return lid === null ? null : withoutDevice(lid);
}

/** A person, and the devices it has. */
interface Owned {
  jid: string;
  lid: string | null;
  devices: Device[];
}

const lidJid = (user: string | null): string | null => (user === null ? null : `${user}@lid`);

function recipients(
  { jid, lid, devices }: Owned,
  own: Owned,
  me: { id: string; lid?: string | undefined } | undefined,
): Recipients {
  const others = (targets: Target[]): Target[] =>
    targets.filter((target) => target.jid !== me?.id && target.jid !== me?.lid);
  // In the chat with oneself all devices are own ones.
  if (jid === own.jid) return { jid, lid, theirs: [], own: others(targetsOf(devices, lid)) };
  return { jid, lid, theirs: targetsOf(devices, lid), own: others(targetsOf(own.devices, own.lid)) };
}

/** @param lid of the user whose devices they are */
function targetsOf(devices: Device[], lid: string | null): Target[] {
  return devices.map(({ user, server, device }) => {
    const jid = baileys.jidEncode(user, server, device);
    if (lid === null) return { jid, session: jid };
    const hosted = server === "hosted" || server === "hosted.lid";
    return { jid, session: baileys.jidEncode(userOf(lid), hosted ? "hosted.lid" : "lid", device) };
  });
}
