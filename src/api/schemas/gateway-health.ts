import { z } from "zod";
import { isoTime, oneOf, pageOfMany, text } from "../../model/fields.ts";
import { LINK_STATES } from "../../numbers/link.ts";
import { device } from "./numbers.ts";

const count = () => z.int().min(0);
const bytes = () => count().nullable();
const counted = () =>
  count().nullable().meta({ description: "Null: a number has more than is worth counting" });
const queue = z.strictObject({ waiting: count(), oldest_at: isoTime().nullable() });

/** One process. */
export const node = z
  .strictObject({
    node: z.string().meta({ description: "NODE_NAME; of a process that is alone the name of its host" }),
    partitions: count().meta({ description: "How many of the 256 partitions of numbers it has" }),
    numbers: count().meta({ description: "Numbers in these partitions" }),
    lag_ms: count().meta({
      description: "Longest time of the last five minutes for which it stood still; 0: none worth naming",
    }),
    version: z.string(),
    since: z.iso.datetime().meta({ description: "When it was started" }),
  })
  .meta({ id: "Node" });

/** The gateway as its operator sees it. */
export const gatewayHealth = z
  .strictObject({
    version: z.string(),
    node: z.string().meta({ description: "Of Node.js" }),
    whatsapp_version: z
      .strictObject({ version: z.string(), refused: z.boolean() })
      .meta({ description: "Named to WhatsApp; whether it was refused" }),
    started_at: isoTime(),
    uptime_seconds: count(),
    accounts: count().nullable(),
    numbers: z.strictObject({ total: count(), by_state: z.record(z.string(), count()) }),
    queues: z.strictObject({
      measured_at: isoTime(),
      inbox: queue.meta({ description: "Messages that wait for their decision" }),
      outbox: queue.meta({ description: "Messages that wait to be sent" }),
      deliveries: z.strictObject({ pending: counted(), retrying: counted(), dead: counted() }),
    }),
    stalls: z
      .strictObject({
        longest_ms: count().meta({ description: "In the last five minutes; 0: none worth naming" }),
        latest: z.array(z.strictObject({ at: isoTime(), ms: count(), bots: z.array(z.string()) })),
      })
      .meta({ description: "Times in which the event loop of this process stood still, the last 50" }),
    storage: z
      .strictObject({
        measured_at: isoTime().nullable(),
        database_bytes: bytes(),
        media_bytes: bytes(),
        free_bytes: bytes(),
        total_bytes: bytes(),
      })
      .meta({ description: "Of this process' disk; null: not known" }),
    backup: z
      .strictObject({ at: isoTime(), bytes: count() })
      .nullable()
      .meta({ description: "The last that POST /admin/backup gave; null: none yet" }),
    retention: z.strictObject({
      days: count(),
      started_at: isoTime().nullable(),
      ended_at: isoTime().nullable(),
      next_at: isoTime().nullable(),
      failed: z.boolean(),
    }),
    nodes: z.array(node),
  })
  .meta({ id: "GatewayHealth" });

/** Query of `GET /admin/devices`. */
export const devicesWanted = z.object({
  q: text(1, 100).optional().meta({ description: "A part of the digits, or of the name" }),
  state: oneOf(LINK_STATES).optional(),
  account: text(1, 100).optional().meta({ description: "Id of an account" }),
  ...pageOfMany(),
});

/** A number with the account that it belongs to. */
export const ownedDevice = device
  .extend({ account: z.strictObject({ id: z.string(), name: z.string() }) })
  .meta({ id: "OwnedDevice" });
