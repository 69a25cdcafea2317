import { userJid } from "../world/accounts.ts";
import { isGroupJid, isLidJid } from "../world/jid.ts";
import type { World } from "../world/world.ts";

/** The address to write to: a group's id, or a person's number or LID. Those who hide their number are known by LID only. */
export function addressOf(world: World, to: string): string {
  if (isGroupJid(to)) return to;
  const account = world.account(to);
  return userJid(account, account.hidesNumber || isLidJid(to) ? "lid" : "pn");
}
