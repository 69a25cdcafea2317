/** Addresses as a phone reads and writes them. */

/** The servers of user addresses: phone numbers and LIDs. */
type UserServer = "s.whatsapp.net" | "lid";

/** Where phone numbers are addressed. */
export const NUMBERS: UserServer = "s.whatsapp.net";
/** Where LIDs are addressed. */
export const LIDS: UserServer = "lid";

/** The number of a device that Meta runs for a business, and where it is addressed. */
export const HOSTED = 99;
const HOSTED_SERVERS: Record<UserServer, string> = { "s.whatsapp.net": "hosted", lid: "hosted.lid" };

/** One device of a user, or with device 0 also the user as a whole. */
interface UserJid {
  user: string;
  server: UserServer;
  device: number;
}

/**
 * Reads `user[:device]@server` of a person; the servers of hosted devices are read as the ordinary ones.
 *
 * @throws for groups and everything else that is not a person
 */
export function readUserJid(jid: string): UserJid {
  const match = /^(\d+)(?::(\d+))?@(s\.whatsapp\.net|lid|hosted|hosted\.lid)$/.exec(jid);
  if (!match) throw new Error(`${jid} is not a person's address.`);
  return {
    user: match[1]!,
    device: Number(match[2] ?? 0),
    server: match[3]!.endsWith("lid") ? LIDS : NUMBERS,
  };
}

/** The address of one device; device 0 has none written out. */
export function deviceJid({ user, server, device }: UserJid): string {
  if (device === 0) return `${user}@${server}`;
  return `${user}:${device}@${device === HOSTED ? HOSTED_SERVERS[server] : server}`;
}

/** The address of the person, whatever device `jid` names. */
export function userJid(jid: string): string {
  return deviceJid({ ...readUserJid(jid), device: 0 });
}

/** Does the address name a group? */
export function isGroup(jid: string): boolean {
  return jid.endsWith("@g.us");
}

/** Where statuses are posted. */
export const STATUS = "status@broadcast";

/** A chat with many readers, where one ciphertext is for all of them. */
export function isShared(jid: string): boolean {
  return isGroup(jid) || jid === STATUS;
}

/** Digits become a number's address; addresses stay as they are. */
export function toJid(address: string): string {
  return address.includes("@") ? address : `${address}@${NUMBERS}`;
}

/** A person's own address on one of the servers. */
export function ownAddress({ user, lid }: { user: string; lid: string }, server: UserServer): string {
  return `${server === LIDS ? lid : user}@${server}`;
}
