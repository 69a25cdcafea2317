import { url, type AnyContext } from "parley";
import { z } from "zod";
import { sumsOf } from "./_cart.ts";
import type { Session } from "./_session.ts";

/** Settings of a number: `PUT /devices/{number}/bots`. All may be left out. */
export const config = z.object({
  /** Takes orders by POST and tells their state by GET `<ordersUrl>/<number>`. Without it orders stay in the chat. */
  ordersUrl: url().optional(),
  /** Digits of the number that is told of orders, and of people who want to talk to somebody. */
  staff: z
    .string()
    .regex(/^\d{7,15}$/, "must be the digits of a number")
    .optional(),
  /** Minutes after which an abandoned cart is mentioned, once. */
  remindAfterMinutes: z.number().min(1).max(10_080).default(120),
});
export type Config = z.infer<typeof config>;

export interface Delivery {
  name: string;
  address: string;
  time: string;
  note: string | null;
}

const HTTP_TIME = "10s";
const Placed = z.object({ number: z.string().min(1) });
const State = z.object({ status: z.string().min(1) });

/**
 * Places an order.
 *
 * @param key the same when it is placed again after a crash: the other side then answers with the number it gave before
 * @returns the order's number
 */
export async function placeOrder(
  ctx: AnyContext,
  cart: Session["cart"],
  delivery: Delivery,
  key: string,
  signal: AbortSignal,
): Promise<string> {
  const { ordersUrl } = ctx.config as Config;
  if (ordersUrl === undefined)
    return `P-${key
      .replace(/[^A-Za-z0-9]/g, "")
      .slice(0, 6)
      .toUpperCase()}`;
  const response = await ctx.fetch(ordersUrl, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ cart, delivery, total: sumsOf(cart).total }),
    timeout: HTTP_TIME,
    signal,
  });
  if (!response.ok) throw new Error(`The shop answered ${response.status}.`);
  return Placed.parse(await response.json()).number;
}

/** @returns what the shop says of the order; null when it cannot be asked */
export async function orderState(ctx: AnyContext, number: string): Promise<string | null> {
  const { ordersUrl } = ctx.config as Config;
  if (ordersUrl === undefined) return "we are packing it";
  try {
    const response = await ctx.fetch(`${ordersUrl}/${encodeURIComponent(number)}`, { timeout: HTTP_TIME });
    return response.ok ? State.parse(await response.json()).status : null;
  } catch {
    return null;
  }
}
