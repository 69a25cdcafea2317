/** Where phone numbers are addressed. */
export const PN_SERVER = "s.whatsapp.net";
/** Where LIDs are addressed. */
export const LID_SERVER = "lid";
/** Where groups are addressed. */
export const GROUP_SERVER = "g.us";
/** The server itself, as sender or receiver of a stanza. */
export const SERVER_JID = "@s.whatsapp.net";

/** An address, taken apart. */
interface ParsedJid {
  user: string;
  server: string;
  /** Device number; 0 when the address names none. */
  device: number;
}

/** Takes `user[:device]@server` apart; undefined for anything else. */
export function parseJid(jid: string | undefined): ParsedJid | undefined {
  const match = /^([^@:]*)(?::(\d+))?@([a-z.]+)$/.exec(jid ?? "");
  if (!match) return undefined;
  const server = match[3] === "c.us" ? PN_SERVER : match[3]!;
  return { user: match[1]!, server, device: Number(match[2] ?? 0) };
}

/** `user@server`, or `user:device@server` for a device other than the phone. */
export function jidOf(user: string, server: string, device = 0): string {
  return device === 0 ? `${user}@${server}` : `${user}:${device}@${server}`;
}

/** Does the address name a group? */
export const isGroupJid = (jid: string): boolean => jid.endsWith(`@${GROUP_SERVER}`);
/** Is the address a LID? */
export const isLidJid = (jid: string): boolean => jid.endsWith(`@${LID_SERVER}`);
