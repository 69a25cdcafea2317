import type { LIDMapping, WASocket } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { HOSTED_DEVICE, hostedServer, isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import type { Device } from "./device-lists.ts";
import { Unanswered } from "./unanswered.ts";

/**
 * The address under which WhatsApp knows a number; null when it says that nobody has it.
 *
 * @throws {Unanswered} also when it says neither
 */
export async function askForForm(socket: WASocket, jid: string): Promise<string | null> {
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
export async function askForDevices(socket: WASocket, jids: string[]): Promise<Map<string, Device[]>> {
  const query = new baileys.USyncQuery().withContext("message").withDeviceProtocol().withLIDProtocol();
  for (const jid of jids) query.withUser(new baileys.USyncUser().withId(jid));
  const answer = await socket.executeUSyncQuery(query);
  if (answer === undefined) throw new Unanswered("the query for devices");
  const answers = new Map((answer.list as UsyncAnswer[]).map((one) => [userOf(one.id), one]));
  const lists = new Map<string, Device[]>();
  for (const jid of jids) {
    const found = answers.get(userOf(jid));
    if (found !== undefined) lists.set(jid, devicesIn(found, socket.authState.creds.me));
  }
  await remember(socket, answer.list as { id: string; lid?: string }[], lists);
  return lists;
}

/** What is said of one person. */
interface UsyncAnswer {
  id: string;
  devices?: { deviceList?: { id: number; keyIndex?: number; isHosted?: boolean }[] };
}

/**
 * Devices of one person, without this companion itself. A companion without a place among the keys is none yet; hosted devices have servers
 * of their own. The library's reading takes whatever stands behind one for hosted as well, and knows no address for a hosted
 * one that is not said to be.
 */
function devicesIn(
  { id: jid, devices }: UsyncAnswer,
  me: { id: string; lid?: string } | undefined,
): Device[] {
  const user = userOf(jid);
  const server = withoutDevice(jid).split("@")[1] as Device["server"];
  const isOwn = user === userOf(me?.id) || user === userOf(me?.lid);
  const ownDevice = Number(me?.id.split("@")[0]?.split(":")[1] ?? 0);
  return (devices?.deviceList ?? []).flatMap(({ id: device, keyIndex, isHosted }) => {
    if (isOwn && device === ownDevice) return [];
    if (isHosted || device === HOSTED_DEVICE) return [{ user, server: hostedServer(server), device }];
    return device === 0 || keyIndex ? [{ user, server, device }] : [];
  });
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
