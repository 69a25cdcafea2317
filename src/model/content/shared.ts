import { z } from "zod";
import { phoneNumber, trimmedText } from "../fields.ts";
import type { ContactDraft, LocationDraft } from "./drafts.ts";

/** Places and people, as everybody describes them who has them sent: requests, webhooks' answers, bots. */

const MOST_CARDS = 10;
const MOST_NUMBERS = 10;

function asDegrees(value: unknown): unknown {
  return typeof value === "string" && /^\s*-?\d{1,3}(?:\.\d{1,20})?\s*$/.test(value) ? Number(value) : value;
}

const degrees = (most: number, description: string) =>
  z.preprocess(asDegrees, z.number().min(-most).max(most)).meta({ description });

/** Fields of a place on the map. */
export const placeFields = {
  latitude: degrees(90, "Degrees from -90 to 90; north is positive"),
  longitude: degrees(180, "Degrees from -180 to 180; east is positive"),
  name: trimmedText(1, 255).optional().meta({ description: "Name of the place, above its address" }),
  address: trimmedText(1, 1_000).optional().meta({ description: "Address of the place" }),
};

const card = z.object({
  name: trimmedText(1, 255),
  numbers: z
    .array(phoneNumber())
    .min(1)
    .max(MOST_NUMBERS)
    .meta({ description: `1 to ${MOST_NUMBERS} phone numbers, digits with the country code` }),
  organization: trimmedText(1, 255).optional(),
  email: z.string().trim().max(254).pipe(z.email()).optional(),
});

/** Ten cards of ten numbers are far shorter. A webhook's answer may be longer than a request. */
const MOST_LIST_TEXT = 65_536;

/** Forms and queries have no lists of records: there it is JSON as a text. */
function asList(value: unknown): unknown {
  if (typeof value !== "string" || value.length > MOST_LIST_TEXT) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Cards of people. */
export const contactFields = {
  contacts: z
    .preprocess(asList, z.array(card).min(1).max(MOST_CARDS))
    .meta({ description: `1 to ${MOST_CARDS} people; in a form, the same list as JSON` }),
};

const place = z.object(placeFields);
const contacts = z.object(contactFields);

/** The draft of a checked place. */
export function locationDraft({ latitude, longitude, name, address }: z.output<typeof place>): LocationDraft {
  return {
    kind: "location",
    latitude,
    longitude,
    ...(name !== undefined && { name }),
    ...(address !== undefined && { address }),
  };
}

/** The draft of checked cards. */
export function contactDraft({ contacts: cards }: z.output<typeof contacts>): ContactDraft {
  return {
    kind: "contact",
    contacts: cards.map(({ name, numbers, organization, email }) => ({
      name,
      numbers,
      ...(organization !== undefined && { organization }),
      ...(email !== undefined && { email }),
    })),
  };
}

/** A place or cards that somebody wrote down. @returns `problem`: what is wrong, in one sentence without what was written */
export function readPlace(value: unknown): { draft: LocationDraft } | { problem: string } {
  const read = place.safeParse(value);
  return read.success ? { draft: locationDraft(read.data) } : { problem: problemOf(read.error) };
}

/** As {@link readPlace}. @param value has `contacts` */
export function readContacts(value: unknown): { draft: ContactDraft } | { problem: string } {
  const read = contacts.safeParse(value);
  return read.success ? { draft: contactDraft(read.data) } : { problem: problemOf(read.error) };
}

function problemOf({ issues }: z.ZodError): string {
  const { path, message } = issues[0]!;
  return `${path.join(".") || "the value"}: ${message}`;
}
