import type { proto } from "@whiskeysockets/baileys";
import type { Content } from "../../surface/content.ts";
import { contextOf, readContext } from "./context.ts";
import type { Desk, Extras } from "./context.ts";
import type { ContentKind } from "./kind.ts";

/** A single contact has its own message type; several go as a list. */
export function composeContacts(
  { contacts }: Extract<Content, { kind: "contacts" }>,
  _: Desk,
  extras: Extras,
): proto.IMessage {
  const contextInfo = contextOf(extras);
  const list = contacts.map(({ name, vcard }) => ({ displayName: name, vcard }));
  if (list.length === 1) return { contactMessage: { ...list[0], contextInfo } };
  return { contactsArrayMessage: { displayName: `${list.length} contacts`, contacts: list, contextInfo } };
}

/** `contactMessage` and `contactsArrayMessage`. */
export const contacts: ContentKind = {
  stanzaType: "media",
  read(message) {
    const { contactMessage: one, contactsArrayMessage: several } = message;
    if (!one && !several) return undefined;
    const list = one ? [one] : (several?.contacts ?? []);
    return {
      kind: "contacts",
      contacts: list.map(({ displayName, vcard }) => ({ name: displayName ?? "", vcard: vcard ?? "" })),
      ...readContext((one ?? several)?.contextInfo),
    };
  },
  envelope: (message) => ({ mediaType: message.contactMessage ? "vcard" : "contact_array" }),
};
