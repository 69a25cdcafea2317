/** What a restaurant's system answers; `orders` has what was ordered, by idempotency key. */
export interface Kitchen {
  orders: Map<string, unknown>;
  answer(request: Request): Promise<Response>;
}

const MENU = [
  { id: "soup", name: "Soup", price: 5 },
  { id: "fish", name: "Fish", price: 12 },
];
const TABLES = ["2026-05-05T18:00:00Z", "2026-05-05T20:00:00Z"];

/**
 * A restaurant's system as the bot asks it.
 *
 * @param outages how many orders it refuses before it takes one
 * @param taken how many bookings somebody else is faster with
 */
export function kitchen({ outages = 0, taken = 0 } = {}): Kitchen {
  const orders = new Map<string, unknown>();
  let left = outages;
  let others = taken;
  return {
    orders,
    async answer(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/menu") return Response.json(MENU);
      if (pathname === "/tables") return Response.json(TABLES.slice(taken - others));
      if (left-- > 0) return Response.json({}, { status: 503 });
      const isTaken = pathname === "/bookings" && others-- > 0;
      if (!isTaken) orders.set(request.headers.get("idempotency-key")!, await request.json());
      return Response.json(
        pathname === "/bookings" ? { taken: isTaken } : { payUrl: "https://pay.example/1" },
      );
    },
  };
}
