import type { Contact, WASocket } from "@whiskeysockets/baileys";
import { isLid, isPn, withoutDevice } from "../jids.ts";
import type { BookEntry, ConnectionListener } from "../port.ts";

/** Tells whom the owner's phone knows: by its app state, which comes whole at linking, and by its history. */
export function listenForContacts(
  { ev }: Pick<WASocket, "ev">,
  { tell }: Pick<ConnectionListener, "tell">,
): void {
  const hear = (contacts: readonly Contact[]): void => {
    const entries = contacts.flatMap(entryOf);
    if (entries.length > 0) tell({ type: "book", entries });
  };
  ev.on("contacts.upsert", hear);
  ev.on("messaging-history.set", ({ contacts }) => hear(contacts));
}

function entryOf({ id, lid, phoneNumber, name, notify }: Contact): BookEntry[] {
  const addresses = [id, phoneNumber, lid].map((address) => withoutDevice(address));
  const hidden = addresses.find(isLid) ?? null;
  const person = addresses.find(isPn) ?? hidden;
  if (person === null || !(name || notify)) return [];
  return [{ person, lid: hidden, ...(name && { name }), ...(notify && { pushName: notify }) }];
}
