import { rm } from "node:fs/promises";
import { join } from "node:path";
import { keysOfChat } from "../conversations/same-chat.ts";
import { peopleInBook, peopleOf, type ContactNotes } from "../directory/contacts/notes.ts";
import type { MessagePath } from "../path/path.ts";
import type { Observer } from "../path/observers.ts";
import { eraseContact, readContact, type ContactErased, type ContactRow } from "../retention/contact.ts";
import type { Base, Data } from "./data.ts";

/** What is stored of one contact, for the operator who is asked for it. */
export interface ContactData {
  /** @param contact canonical address of a person, `…@s.whatsapp.net` or `…@lid` */
  read(deviceId: number, contact: string): AsyncIterable<ContactRow>;
  erase(deviceId: number, contact: string): Promise<ContactErased>;
}

/** A contact is one person, whichever of its addresses is named. */
export function openContacts(
  { store, config }: Base,
  { files, contactNotes }: Pick<Data, "files" | "contactNotes">,
): ContactData {
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
    async erase(deviceId, contact) {
      const erased = await contactOf(deviceId, contact);
      contactNotes.forget(deviceId, erased.addresses);
      return eraseContact(store, received, erased);
    },
  };
}

/** Those who write, and those whom the owner's phone knows. */
export const notesWhomItMeets = ({ met, moved }: ContactNotes): Observer => ({
  received({ messages }) {
    const [first] = messages;
    if (first !== undefined) met(first.deviceId, peopleOf(messages.map(({ message }) => message)));
  },
  book: ({ deviceId, entries }) => met(deviceId, peopleInBook(entries)),
  moved: (event) => moved(event.deviceId, event.moved),
});

/** And those who are written to. */
export const notingWhomItWritesTo = <Path extends Pick<MessagePath, "submit">>(
  path: Path,
  { met }: ContactNotes,
): Path => ({
  ...path,
  async submit(request) {
    const results = await path.submit(request);
    const { deviceId, destinations } = request;
    const reached = destinations.filter((_, index) => results[index]?.state !== "failed");
    met(
      deviceId,
      reached.map(({ jid }) => ({ person: jid, names: {} })),
    );
    return results;
  },
});
