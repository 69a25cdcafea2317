/** What accounts show of themselves, to whom, and when they are there. */
import type { PhoneNumber } from "./addresses.ts";

/** A setting of who may see or do what. */
export type PrivacyName =
  | "readreceipts"
  | "profile"
  | "status"
  | "online"
  | "last"
  | "groupadd"
  | "calladd"
  | "messages";

/** Whether somebody has the app open. */
export type PresenceState = "available" | "unavailable";

/** What a business says of itself. */
export interface BusinessProfile {
  /** The name that WhatsApp has verified; it goes along with each message of the account. */
  name: string;
  description?: string;
  address?: string;
  email?: string;
  website?: string;
  category?: string;
  /** Days as `sun` … `sat`; minutes since midnight. */
  hours?: { timezone: string; days: { day: string; open: number; close: number }[] };
}

/** What people change about themselves on their phones. */
export interface ProfileMethods {
  /** A person's picture: the bytes of a JPEG; null takes it away. Whoever has asked for the person's devices is told. */
  setPicture(person: PhoneNumber, bytes: Uint8Array | null): Promise<{ id: string | null }>;
  /** The picture of a person or a group, as phones load it; null: there is none. */
  picture(of: PhoneNumber | string): Promise<Uint8Array | null>;
  /** The text under a person's name. */
  about(person: PhoneNumber): Promise<string>;
  /** The text under a person's name. Nobody is told. */
  setAbout(person: PhoneNumber, text: string): Promise<void>;
  /** The owner or a contact becomes a business, or changes what it says of itself. */
  setBusiness(person: PhoneNumber, profile: BusinessProfile): Promise<void>;
  /** A person changes the name that others see. It comes with the next message, and the own companions hear of it by app state. */
  setPushName(person: PhoneNumber, name: string): Promise<void>;
  /** A person changes who may see or do what; the own companions are told. */
  setPrivacy(person: PhoneNumber, name: PrivacyName, value: string): Promise<void>;
  privacy(person: PhoneNumber): Promise<Partial<Record<PrivacyName, string>>>;
  /** A person blocks somebody, or lets him in again; the own companions are told. */
  block(person: PhoneNumber, other: PhoneNumber, action?: "block" | "unblock"): Promise<void>;
  /** Numbers of those whom a person has blocked. */
  blocked(person: PhoneNumber): Promise<PhoneNumber[]>;
  /** A person opens or closes the app: those who asked are told, as far as the person allows it. */
  setPresence(person: PhoneNumber, state: PresenceState): Promise<void>;
  /** On which of a person's devices the app is open, companions of a number included, and when it last was: Unix seconds. */
  presence(person: PhoneNumber): Promise<{ available: number[]; seenAt: number | null }>;
}
