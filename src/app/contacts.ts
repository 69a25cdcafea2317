import { rm } from "node:fs/promises";
import { join } from "node:path";
import { keysOfChat } from "../conversations/same-chat.ts";
import { eraseContact, readContact, type ContactErased, type ContactRow } from "../retention/contact.ts";
import type { Base, Data } from "./data.ts";

/** What is stored of one contact, for the operator who is asked for it. */
export interface ContactData {
  /** @param contact canonical address of a person, `…@s.whatsapp.net` or `…@lid` */
  read(deviceId: number, contact: string): AsyncIterable<ContactRow>;
  erase(deviceId: number, contact: string): Promise<ContactErased>;
}

/** A contact is one person, whichever of its addresses is named. */
export function openContacts({ store, config }: Base, { files }: Pick<Data, "files">): ContactData {
  const contactOf = async (deviceId: number, contact: string) => ({
    deviceId,
    addresses: await keysOfChat(store, [deviceId], contact),
  });
  const received = {
    async removeReceived(deviceId: number, inboxId: number): Promise<void> {
      const name = `in/${deviceId}-${inboxId}`;
      await rm(join(config.dataDir, "media", name), { force: true });
      await files.media?.remove(name);
    },
  };
  return {
    async *read(deviceId, contact) {
      yield* readContact(store, await contactOf(deviceId, contact));
    },
    erase: async (deviceId, contact) => eraseContact(store, received, await contactOf(deviceId, contact)),
  };
}
