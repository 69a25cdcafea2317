/** What a business says of itself. */
export interface BusinessDetails {
  description: string | null;
  website: string | null;
  email: string | null;
  address: string | null;
  hours: BusinessHours | null;
}

/** When it is open; each day may have several rows. */
export interface BusinessHours {
  /** As in the database of time zones. */
  timezone: string | null;
  days: {
    /** `mon` … `sun` */
    day: string;
    /** `specific_hours`, `open_24h`, `appointment_only` */
    mode: string;
    /** `HH:MM`; null unless the hours are given. */
    open: string | null;
    close: string | null;
  }[];
}

/** What WhatsApp shows of a person to this number. */
export interface ContactDetails {
  /** The text under the name; null when it is not shown. */
  about: string | null;
  /** Where the picture lies for a while; null when it is not shown. */
  pictureUrl: string | null;
  /** As WhatsApp has verified it. */
  verifiedName: string | null;
  /** Null for people. */
  business: BusinessDetails | null;
}

/** Somebody whom the number's phone knows; what is left out it does not say. */
export interface BookEntry {
  /** The number's address where it is known, else the LID. */
  person: string;
  /** `…@lid`, or null. */
  lid: string | null;
  /** In its address book. */
  name?: string;
  /** What the person calls himself. */
  pushName?: string;
}

/** WhatsApp blocks people by both of their addresses, and one of them is not known. */
export class NotBlockable extends Error {}
