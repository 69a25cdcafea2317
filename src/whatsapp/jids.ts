/** The digits before device and server: `31600000001:4@s.whatsapp.net` gives `31600000001`; "" for what is no id. */
export function userOf(jid: string | null | undefined): string {
  return jid?.split("@", 1)[0]?.split(":", 1)[0]?.split("_", 1)[0] ?? "";
}

/** The id without its device part, `c.us` and hosted servers read as the ordinary ones; "" for what is no id. */
export function withoutDevice(jid: string | null | undefined): string {
  const at = jid?.indexOf("@") ?? -1;
  if (!jid || at < 0) return "";
  return `${userOf(jid)}@${ORDINARY_SERVERS[jid.slice(at + 1)] ?? jid.slice(at + 1)}`;
}

const ORDINARY_SERVERS: Record<string, string> = {
  "c.us": "s.whatsapp.net",
  hosted: "s.whatsapp.net",
  "hosted.lid": "lid",
};

/** Whether an id is that of a phone number: `<digits>@s.whatsapp.net`. */
export const isPn = (jid: string): boolean => jid.endsWith("@s.whatsapp.net");
/** Whether it is a LID, which hides the number. */
export const isLid = (jid: string): boolean => jid.endsWith("@lid");
/** Whether it is a group. */
export const isGroup = (jid: string): boolean => jid.endsWith("@g.us");
/** Whether it is a channel. */
export const isChannel = (jid: string): boolean => jid.endsWith("@newsletter");
/** The id of a phone number. @param digits without `+` */
export const toPn = (digits: string): string => `${digits}@s.whatsapp.net`;

/** The number of a device that Meta runs for a business (Cloud API). Its servers are others: `…:99@hosted`, `…:99@hosted.lid`. */
export const HOSTED_DEVICE = 99;
/** Whether it is such a device's. Sources: whatsapp-rust `JidExt::is_hosted`, zapo `isHostedDeviceJid`. */
export const isHosted = (jid: string): boolean => /(:99@|@hosted(\.lid)?$)/.test(jid);
/** The server at which hosted devices of somebody are addressed. @param server `s.whatsapp.net` or `lid` */
export const hostedServer = (server: string): "hosted" | "hosted.lid" =>
  server.endsWith("lid") ? "hosted.lid" : "hosted";
