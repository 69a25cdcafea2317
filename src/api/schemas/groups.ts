import { z } from "zod";
import { isoTime } from "../../model/fields.ts";

/** A row of `/groups`. */
export const group = z
  .strictObject({
    id: z.string().endsWith("@g.us"),
    name: z.string(),
    participants: z.int().min(0),
    only_admins: z.boolean(),
    is_member: z.boolean(),
    is_admin: z.boolean(),
    can_send: z.boolean(),
  })
  .meta({ id: "Group" });

const member = z.strictObject({
  number: z.string().nullable(),
  lid: z.string().nullable(),
  admin: z.boolean(),
});
/** A group as `GET /groups/{id}` shows it. */
export const groupDetails = group
  .extend({
    description: z.string(),
    owner: z.string().nullable(),
    created_at: isoTime().nullable(),
    members: z.array(member),
    announce: z.boolean(),
    locked: z.boolean(),
    join_approval: z.boolean(),
    disappearing: z
      .int()
      .min(0)
      .meta({ description: "Seconds after which messages disappear; 0: they stay" }),
    community: z.string().nullable().meta({ description: "The community that it belongs to" }),
  })
  .meta({ id: "GroupDetails" });
