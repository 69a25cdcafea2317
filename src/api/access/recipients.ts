import { mayWriteTo } from "../../accounts/authorize.ts";
import type { Caller } from "../../accounts/caller.ts";
import type { App } from "../services.ts";

/** Whom a key may write to and read of, asked with all that a number knows of its contacts. */

/**
 * Whether the key's `recipients` cover a chat of this number. A contact who is known by LID and number is judged by the
 * number.
 *
 * @param chat a destination as `results[].number` shows it, or the chat's address on the wire
 */
export async function mayReach(
  { lids }: Pick<App, "lids">,
  caller: Pick<Caller, "permissions" | "devices" | "recipients">,
  deviceId: number,
  chat: string,
): Promise<boolean> {
  if (caller.recipients === null) return true;
  const destination = chat.replace(/@s\.whatsapp\.net$/, "");
  return mayWriteTo(caller, { destination, aliases: await lids.aliasesOf(deviceId, destination) });
}
