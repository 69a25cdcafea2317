/** Where phone numbers are addressed. */
export const PN_SERVER = "s.whatsapp.net";
/** Where LIDs are addressed. */
export const LID_SERVER = "lid";
/** Where groups are addressed. */
export const GROUP_SERVER = "g.us";
/** The server itself, as sender or receiver of a stanza. */
export const SERVER_JID = "@s.whatsapp.net";

/** The device of a business account that Meta runs for it (Cloud API). It is addressed at servers of its own. */
export const HOSTED_DEVICE = 99;
const HOSTED_SERVERS: Record<string, string> = { [PN_SERVER]: "hosted", [LID_SERVER]: "hosted.lid" };
const ORDINARY_SERVERS: Record<string, string> = {
  "c.us": PN_SERVER,
  hosted: PN_SERVER,
  "hosted.lid": LID_SERVER,
};

/** The server at which a device of somebody is addressed. */
export const serverOf = (server: string, device: number): string =>
  device === HOSTED_DEVICE ? (HOSTED_SERVERS[server] ?? server) : server;

/** An address, taken apart. */
interface ParsedJid {
  user: string;
  server: string;
  /** Device number; 0 when the address names none. */
  device: number;
}

/** Takes `user[:device]@server` apart, the servers of hosted devices read as the ordinary ones; undefined for anything else. */
export function parseJid(jid: string | undefined): ParsedJid | undefined {
  const match = /^([^@:]*)(?::(\d+))?@([a-z.]+)$/.exec(jid ?? "");
  if (!match) return undefined;
  const server = ORDINARY_SERVERS[match[3]!] ?? match[3]!;
  return { user: match[1]!, server, device: Number(match[2] ?? 0) };
}

/** `user@server`, or `user:device@server` for a device other than the phone. */
export function jidOf(user: string, server: string, device = 0): string {
  return device === 0 ? `${user}@${server}` : `${user}:${device}@${serverOf(server, device)}`;
}

/** Does the address name a group? */
export const isGroupJid = (jid: string): boolean => jid.endsWith(`@${GROUP_SERVER}`);
/** Is the address a LID? */
export const isLidJid = (jid: string): boolean => /@(hosted\.)?lid$/.test(jid);
