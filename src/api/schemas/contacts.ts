import { z } from "zod";
import { isoTime } from "../../model/fields.ts";

const names = {
  number: z.string().nullable().meta({ description: "Digits; null while only the LID is known" }),
  lid: z.string().nullable(),
  name: z.string().nullable().meta({ description: "In the address book of the number's phone" }),
  push_name: z.string().nullable().meta({ description: "What the person calls himself" }),
  verified_name: z.string().nullable().meta({ description: "Of a business, verified by WhatsApp" }),
};

/** A person in the list. */
export const contact = z.strictObject({ ...names, business: z.boolean() }).meta({ id: "Contact" });

const hours = z.strictObject({
  timezone: z.string().nullable(),
  days: z.array(
    z.strictObject({
      day: z.string().meta({ description: "`mon` to `sun`" }),
      mode: z.string().meta({ description: "`specific_hours`, `open_24h` or `appointment_only`" }),
      open: z.string().nullable().meta({ description: "`HH:MM`" }),
      close: z.string().nullable(),
    }),
  ),
});

const business = z.strictObject({
  description: z.string().nullable(),
  website: z.string().nullable(),
  email: z.string().nullable(),
  address: z.string().nullable(),
  hours: hours.nullable(),
});

/** A person, with what WhatsApp shows of him. */
export const contactDetails = z
  .strictObject({
    ...names,
    about: z.string().nullable(),
    picture_url: z.string().nullable().meta({ description: "At WhatsApp; it expires" }),
    business: business.nullable(),
    checked_at: isoTime().nullable().meta({ description: "When WhatsApp was asked; null: not yet" }),
  })
  .meta({ id: "ContactDetails" });

/** Whether a person is blocked. */
export const blockedContact = z.strictObject({
  sender: z.string(),
  contact: z.string(),
  blocked: z.boolean(),
});
