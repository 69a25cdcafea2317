import { z } from "zod";
import { PERMISSIONS } from "../../accounts/caller.ts";
import { integer, isoTime, ownNumber, text } from "../../model/fields.ts";

const secret = () => text(1, 500).optional();

/** Input of `POST /console/session`: one of the three. */
export const newSession = z.object({ key: secret(), token: secret(), link: secret() });

const account = z.strictObject({ id: z.string(), name: z.string() }).nullable();
const kind = z.enum(["key", "operator", "link"]);
const times = { created_at: isoTime(), idle_ends_at: isoTime(), expires_at: isoTime() };

/** Who is signed in. */
export const session = z
  .strictObject({
    id: z.string(),
    kind,
    account: account.meta({ description: "For the operator: the chosen account, or null" }),
    permissions: z.array(z.enum(PERMISSIONS)),
    devices: z.array(z.string()).nullable(),
    recipients: z.array(z.string()).nullable(),
    csrf: z
      .string()
      .meta({ description: "Send it as `X-CSRF-Token` with every request that changes something" }),
    playground: z.string().optional().meta({
      description:
        "Where the simulator's phones are; left out: WhatsApp is the real one, or there is no such page",
    }),
    ...times,
  })
  .meta({ id: "Session" });

/** A session in the list of those that were opened with the same key. */
export const listedSession = z
  .strictObject({
    id: z.string(),
    kind,
    account,
    ...times,
    last_used_at: isoTime().meta({ description: "Accurate to a minute" }),
    address: z.string().meta({ description: "Where it was opened; of IPv6 the /64" }),
    user_agent: z.string(),
    current: z.boolean(),
  })
  .meta({ id: "ListedSession" });

/** Input of `POST /devices/{number}/magic-link`. */
export const newMagicLink = z.object({ minutes: integer(1, 60).default(60) });

/** Input of `POST /admin/accounts/{id}/links`. */
export const newLink = newMagicLink.extend({ device: ownNumber() });

/** A link without its secret, which is shown only when it is made. */
export const link = z
  .strictObject({
    id: z.string(),
    device: z.string(),
    created_at: isoTime(),
    expires_at: isoTime(),
    last_used_at: isoTime().nullable().meta({ description: "When the link was last opened" }),
    made_by: z.strictObject({ kind: z.enum(["key", "operator"]), name: z.string().nullable() }).meta({
      description:
        "`name` of the key; null for the operator, and for a key that no longer exists (its link has ended too)",
    }),
  })
  .meta({ id: "Link" });

const url = () => z.string().meta({ description: "The address that the customer opens; shown only now" });

/** What stands beside `data` when a link is made. */
export const madeLinkFields = { id: z.string(), url: url(), expires_at: isoTime() };

/** A link as it is made. */
export const madeLink = z.strictObject({ ...link.shape, url: url() }).meta({ id: "MadeLink" });

const { csrf, expires_at, permissions } = session.shape;

/** What stands beside `data` of whoever is signed in. */
export const sessionFields = { csrf, expires_at, permissions, account };
