import type { SessionOptions } from "parley";
import { z } from "zod";

const Session = z.object({
  /** Pieces by the product's id. */
  cart: z.record(z.string(), z.number().int().min(1).max(99)),
  /** Of the last order, for the next. */
  name: z.string().nullable(),
  orders: z.array(z.object({ number: z.string(), total: z.number().int(), at: z.number() })).max(20),
});

/** What the shop remembers of a chat. */
export type Session = z.infer<typeof Session>;
export type Order = Session["orders"][number];

/** Version 1 kept the cart as a list of ids, one for each piece. Carts of that time are still good. */
interface SessionV1 {
  cart: string[];
}

export const session: SessionOptions<Session> = {
  version: 2,
  schema: Session,
  ttl: "60d",
  initial: () => ({ cart: {}, name: null, orders: [] }),
  migrate(old, version) {
    const fresh = session.initial();
    if (version !== 1) return fresh;
    for (const id of (old as SessionV1).cart) fresh.cart[id] = (fresh.cart[id] ?? 0) + 1;
    return fresh;
  },
};
