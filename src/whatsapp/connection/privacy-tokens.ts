import type { WASocket } from "@whiskeysockets/baileys";
import { outsideTransactions } from "../signal/outside-transactions.ts";

/**
 * Lets privacy tokens be stored. After a send Baileys gives the contact a token and notes when, so that it is not done
 * again for a week; but it does so without waiting, inside the transaction of that send, which has ended by then: the
 * note is lost, and every message to the contact costs a further query (7.0.0-rc14, `messages-send.relayMessage`).
 */
export function keepPrivacyTokens({ authState: { keys } }: WASocket): void {
  const { get, set } = keys;
  keys.get = (type, ids) =>
    type === "tctoken" ? outsideTransactions(async () => get(type, ids)) : get(type, ids);
  keys.set = (data) => ("tctoken" in data ? outsideTransactions(async () => set(data)) : set(data));
}
