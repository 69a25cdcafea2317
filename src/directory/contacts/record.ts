import type { SecretBox } from "../../store/store.ts";
import type { ContactDetails } from "../../whatsapp/port/contacts.ts";

/** What somebody is called. */
export interface ContactNames {
  /** In the address book of the number's phone. */
  name: string | null;
  /** What the person calls himself. */
  pushName: string | null;
  /** Of a business, as WhatsApp has verified it. */
  verifiedName: string | null;
  isBusiness: boolean;
  /** `<digits>@lid` under which the person was seen last. */
  lid: string | null;
}

/** A person as `GET /contacts` shows it. */
export interface ContactRecord extends Omit<ContactNames, "lid"> {
  /** Digits; null while only the LID is known. */
  number: string | null;
  lid: string | null;
}

/** What WhatsApp has said of a person, and when it was asked: Unix milliseconds. */
export type KnownDetails = ContactDetails & { askedAt: number };

/** Nothing is known. */
export const NO_NAMES: ContactNames = {
  name: null,
  pushName: null,
  verifiedName: null,
  isBusiness: false,
  lid: null,
};

const contextOf = (deviceId: number, person: string): string => `contact:${deviceId}:${person}`;

/** For the column `names`, or `details`. */
export const sealed = (
  box: Pick<SecretBox, "sealJson">,
  deviceId: number,
  person: string,
  value: ContactNames | ContactDetails,
): Buffer => box.sealJson(value, contextOf(deviceId, person));

/** One that does not open any more says nothing. */
export const openNames = (
  box: Pick<SecretBox, "openJson">,
  deviceId: number,
  person: string,
  names: Uint8Array | null,
): ContactNames => ({ ...NO_NAMES, ...opened<ContactNames>(box, contextOf(deviceId, person), names) });

/** Null when there are none that open. */
export const openDetails = (
  box: Pick<SecretBox, "openJson">,
  deviceId: number,
  person: string,
  details: Uint8Array | null,
): ContactDetails | null => opened(box, contextOf(deviceId, person), details);

function opened<T>(box: Pick<SecretBox, "openJson">, context: string, value: Uint8Array | null): T | null {
  if (value === null) return null;
  try {
    return box.openJson<T>(value, context);
  } catch {
    return null;
  }
}

/** Whether a row may be one of a person at all: groups and channels are none. */
export const isPerson = (jid: string): boolean => jid.endsWith("@s.whatsapp.net") || jid.endsWith("@lid");

/** Digits of a number's id, null for every other. */
export const numberIn = (person: string): string | null =>
  person.endsWith("@s.whatsapp.net") ? person.slice(0, person.indexOf("@")) : null;
