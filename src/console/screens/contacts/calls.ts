import type { Schemas } from "../../../client/index.ts";
import type { Call } from "../../data/index.ts";

/** A person, as `GET /contacts` lists people. */
export type Contact = Schemas["Contact"];
/** A person, as `GET /contacts/{contact}` shows one. */
export type ContactDetails = Schemas["ContactDetails"];

/** A person as one of the account's numbers knows them. */
export interface ContactPlace {
  /** The number itself, digits. */
  sender: string;
  /** Digits, or `…@lid`. */
  contact: string;
}

const path = ({ contact }: ContactPlace, rest = ""): string =>
  `/contacts/${encodeURIComponent(contact)}${rest}`;

export const contactsCall = (sender: string, q: string, before: string | null): Call => ({
  method: "GET",
  path: "/contacts",
  query: { sender, q: q || null, limit: 50, before },
});
export const contactCall = (place: ContactPlace): Call => ({
  method: "GET",
  path: path(place),
  query: { sender: place.sender },
});
export const blockCall = (place: ContactPlace): Call => ({
  method: "PUT",
  path: path(place, "/block"),
  body: { sender: place.sender },
});
export const unblockCall = (place: ContactPlace): Call => ({
  method: "DELETE",
  path: path(place, "/block"),
  query: { sender: place.sender },
});

/** How the API names somebody. */
export const addressOf = ({ number, lid }: Pick<Contact, "number" | "lid">): string => number ?? lid ?? "";

/** What somebody is called: by the phone's address book, by WhatsApp's check of a business, by themselves. */
export const nameOf = (contact: Pick<Contact, "name" | "push_name" | "verified_name">): string | null =>
  contact.name ?? contact.verified_name ?? contact.push_name;
