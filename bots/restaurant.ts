import { defineBot, url } from "parley";
import { z } from "zod";

/** Has `GET /menu` and `/tables?people=2`, `POST /orders` and `/bookings`. Without it every message is passed on. */
const config = z.object({ kitchenUrl: url().optional() });
type Dish = { id: string; name: string; price: number; count: number };
const show = ({ count, name, price }: Dish): string => `${count} × ${name}: ${count * price} €`;

export default defineBot({ enable: "bound", config, needs: ["kitchenUrl"] }, (b) => {
  // Beside the chat, two hours after a meal; what comes half a day late is not asked any more.
  const meal = b.flow("meal", async (f, eaten: number) => {
    const { late } = await f.until({ at: new Date(eaten + 7_200_000), expire: "12h" });
    if (late) return;
    if (await f.confirm("liked", "Did you like it?")) f.say("Thank you!");
    else f.handoff({ say: "We are sorry. Somebody will write to you." });
  });

  const table = b.flow("table", { expire: "2h", remind: "20m" }, async (f) => {
    const api = f.config.kitchenUrl;
    const people = await f.number("people", "For how many?", { min: 1, max: 20, integer: true });
    for (;;) {
      const free = await f.call<string[]>("free", `${api}/tables?people=${people}`, { tries: 3, of: people });
      if (free.length === 0) return f.handoff({ say: "We are full. Somebody will call you." });
      const at = await f.choose("at", "When?", free, (time) => time.slice(0, 16).replace("T", " at "));
      const json = { people, at, from: f.from.number };
      const { taken } = await f.call<{ taken: boolean }>("book", `${api}/bookings`, { json, tries: 5 });
      if (!taken) f.spawn(meal, at, Date.parse(at));
      if (!taken) return f.say(`A table for ${people}. See you!`);
      f.say("Somebody was faster.");
    }
  });

  const deliver = b.flow("deliver", { expire: "2h", remind: "20m" }, async (f) => {
    const api = f.config.kitchenUrl;
    const menu = await f.call<Dish[]>("menu", `${api}/menu`, { tries: 3 });
    const cart = new Map<string, Dish>();
    for (;;) {
      const lines = [...cart.values()].map(show);
      const list = lines.length === 0 ? menu : [...menu, null];
      const text = [...lines, "What would you like?"].join("\n");
      const dish = await f.choose("dish", text, list, (one) => one?.name ?? "That is all");
      if (dish === null) break;
      const count = await f.number("count", `${dish.price} €. How many?`, { min: 0, max: 20, integer: true });
      if (count > 0) cart.set(dish.id, { ...dish, count });
      else cart.delete(dish.id);
    }
    const place = await f.location("place", "Share where you are, or write “address”.", { skip: "address" });
    const to = place ?? (await f.text("address", "Your address?", { min: 8 }));
    const json = { to, dishes: [...cart.values()], from: f.from.number };
    const order = f.call<{ payUrl: string }>("order", `${api}/orders`, { json, tries: 4 });
    const done = await order.catch(() => null);
    if (done === null) return f.handoff({ say: "Our kitchen does not answer. Somebody will call you." });
    f.spawn(meal, "delivery", f.now());
    return f.say(`Thank you! Please pay here: ${done.payUrl}`);
  });

  b.keyword(["delivery", "food"], (ctx) => ctx.start(deliver));
  b.keyword("table", (ctx) => ctx.start(table));
  b.interrupt("waiter", (ctx) => ctx.handoff({ say: "One moment." }));
});
