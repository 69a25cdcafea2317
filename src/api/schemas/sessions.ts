import { z } from "zod";
import { PERMISSIONS } from "../../accounts/caller.ts";
import { integer, isoTime, ownNumber, text } from "../../model/fields.ts";

const secret = () => text(1, 500).optional();

/** Input of `POST /sessions`: one of the three. */
export const newSession = z.object({ api_key: secret(), admin_token: secret(), link: secret() });

const account = z.strictObject({ id: z.string(), name: z.string() }).nullable();
const kind = z.enum(["key", "operator", "link"]);
const times = { created_at: isoTime(), idle_ends_at: isoTime(), ends_at: isoTime() };

/** Who is signed in. */
export const session = z
  .strictObject({
    id: z.string(),
    kind,
    account: account.meta({ description: "Of the operator the one that was chosen, or null" }),
    permissions: z.array(z.enum(PERMISSIONS)),
    devices: z.array(z.string()).nullable(),
    csrf_token: z
      .string()
      .meta({ description: "Header `X-CSRF-Token` of every request that changes something" }),
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
    last_used_at: isoTime().meta({ description: "Within a minute of the truth" }),
    address: z.string().meta({ description: "Where it was opened; of IPv6 the /64" }),
    user_agent: z.string(),
    current: z.boolean(),
  })
  .meta({ id: "ListedSession" });

/** Input of `POST /links`. */
export const newLink = z.object({ device: ownNumber(), minutes: integer(1, 1_440).default(60) });

/** A link without its secret, which is shown only when it is made. */
export const link = z
  .strictObject({
    id: z.string(),
    device: z.string(),
    created_at: isoTime(),
    expires_at: isoTime(),
    last_used_at: isoTime().nullable().meta({ description: "When somebody opened it last" }),
    made_by: z.strictObject({ kind: z.enum(["key", "operator"]), name: z.string().nullable() }).meta({
      description: "`name` of the key; null for the operator, and of a key that has ended: so has the link",
    }),
  })
  .meta({ id: "Link" });
