import type { Caller } from "../../accounts/caller.ts";
import { shownAddress } from "../../conversations/shown.ts";
import type { ContactRecord, KnownDetails } from "../../directory/contacts/record.ts";
import { parseDestination } from "../../model/address.ts";
import { mayReach } from "../access/recipients.ts";
import { chatFilter, findSender, requireLinked } from "../access/senders.ts";
import { notFound } from "../answers/unmatched.ts";
import type { CallOf } from "../call.ts";
import type { blockContact, getContact, listContacts, unblockContact } from "../endpoints/contacts.ts";
import type { App } from "../services.ts";
import { isoOrNull } from "../views/views.ts";

/** Whom a number knows. @throws SENDER_NOT_FOUND */
export async function contactsOf({ app, caller, input }: CallOf<typeof listContacts>) {
  const { sender, ...wanted } = input;
  const device = findSender(app, caller, sender);
  const { items, ...page } = await app.contacts.list(device.id, { ...wanted, allowed: chatFilter(caller) });
  return { ...page, data: items.map(contactView) };
}

/** One of them, with what WhatsApp shows of him. @throws SENDER_NOT_FOUND; NOT_FOUND for whom the number has never met */
export async function contactOf({ app, caller, input, params }: CallOf<typeof getContact>) {
  const { deviceId, keys, found } = await personOf(app, caller, input.sender, params["contact"]);
  const details = await app.contacts.details(deviceId, keys);
  return { data: detailsView(found?.record ?? nameless(keys), details) };
}

/** @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, NOT_ON_WHATSAPP, WHATSAPP_REFUSED, UNAVAILABLE; NOT_FOUND as {@link contactOf} */
const setBlocked =
  (blocked: boolean) =>
  async ({ app, caller, input, params }: CallOf<typeof blockContact | typeof unblockContact>) => {
    const { deviceId, sender, keys } = await personOf(app, caller, input.sender, params["contact"]);
    requireLinked(app, findSender(app, caller, sender));
    await app.contacts.block(deviceId, { person: keys[0]!, blocked });
    return { data: { sender, contact: shownAddress(keys[0]!), blocked } };
  };

/** Nothing that the person writes arrives any more. */
export const block = setBlocked(true);
/** It does again. */
export const unblock = setBlocked(false);

/**
 * A person whom a number has met.
 *
 * @param named the person, as it stands in the path
 * @throws SENDER_NOT_FOUND; NOT_FOUND, also outside of the key's `recipients`
 */
async function personOf(app: App, caller: Caller, sender: string, named: string | undefined) {
  const device = findSender(app, caller, sender);
  const place = parseDestination(named ?? "");
  const isPerson = place?.kind === "number" || place?.kind === "lid";
  if (!isPerson || !(await mayReach(app, caller, device.id, place.number))) throw notFound();
  const keys = await app.conversations.keysOf(device.id, place.jid);
  const found = await app.contacts.find(device.id, keys);
  // Whoever was written to by an earlier version stands in the chats alone.
  if (found === null && !(await app.conversations.isKnown(device.id, keys))) throw notFound();
  return { deviceId: device.id, sender: device.number, keys, found };
}

function nameless(keys: readonly string[]): ContactRecord {
  const number = keys.find((key) => key.endsWith("@s.whatsapp.net"));
  return {
    number: number === undefined ? null : shownAddress(number),
    lid: keys.find((key) => key.endsWith("@lid")) ?? null,
    name: null,
    pushName: null,
    verifiedName: null,
    isBusiness: false,
  };
}

const namesView = ({ number, lid, name, pushName, verifiedName }: ContactRecord) => ({
  number,
  lid,
  name,
  push_name: pushName,
  verified_name: verifiedName,
});

/** A person in the list. */
const contactView = (record: ContactRecord) => ({ ...namesView(record), business: record.isBusiness });

function detailsView(record: ContactRecord, details: KnownDetails | null) {
  const { about = null, pictureUrl = null, business = null, askedAt = null } = details ?? {};
  return {
    ...namesView({ ...record, verifiedName: record.verifiedName ?? details?.verifiedName ?? null }),
    about,
    picture_url: pictureUrl,
    business,
    checked_at: isoOrNull(askedAt),
  };
}
