/** Times of a clinic, as the bot is shown them: ISO, all of one place. */
const TIMES = ["2026-05-07T09:00", "2026-05-07T10:00", "2026-05-08T09:00"];

/**
 * A clinic's diary as the bot asks it: a time is free until somebody has it, and the same booking under the same key is one.
 *
 * @param taken times that somebody else is faster with
 */
export function diary(taken: readonly string[] = []): (request: Request) => Promise<Response> {
  const booked = new Map<string, string>();
  const others = new Set(taken);
  return async (request) => {
    const isFree = (at: string): boolean => ![...booked.values()].includes(at);
    if (request.method === "GET") return Response.json(TIMES.filter(isFree).map((at) => ({ id: at, at })));
    const key = request.headers.get("idempotency-key")!;
    const { slot } = (await request.json()) as { slot: string };
    if (others.delete(slot)) {
      booked.set("somebody else", slot);
      return Response.json({ taken: true });
    }
    if (!booked.has(key) && !isFree(slot)) return Response.json({ taken: true });
    booked.set(key, slot);
    return Response.json({ taken: false });
  };
}
