import { defineBot, url, type FetchOptions, type FlowContext } from "parley";
import { z } from "zod";

/** The diary: `GET` lists free times, `POST` books one. Without it the bot passes every message on. */
const config = z.object({ diaryUrl: url().optional() });
type Slot = { id: string; at: string };

const DAY_MS = 86_400_000;
const show = ({ at }: Slot): string => `${at.slice(0, 10)} at ${at.slice(11, 16)}`;

async function diary<T>(f: FlowContext<unknown>, request: FetchOptions): Promise<T> {
  const response = await f.fetch((f.config as z.infer<typeof config>).diaryUrl!, request);
  if (!response.ok) throw new Error(`The diary answered ${response.status}.`);
  return (await response.json()) as T;
}

export default defineBot({ enable: "bound", config }, (b) => {
  /** A time that is booked; null when none is free. */
  const pick = b.flow<object, Slot | null>("pick", async (f) => {
    for (;;) {
      const free = await f.step("free", (signal) => diary<Slot[]>(f, { signal }), { tries: 3 });
      if (free.length === 0) return null;
      const slot = await f.choose("slot", "Which time?", free, show);
      if (!(await f.confirm("sure", `Shall I book ${show(slot)}?`))) continue;
      const body = JSON.stringify({ ...f.input, slot: slot.id });
      const book = (signal: AbortSignal, key: string): Promise<{ taken: boolean }> =>
        diary(f, { method: "POST", body, signal, headers: { "idempotency-key": key } });
      if (!(await f.step("book", book, { tries: 5 })).taken) return slot;
      f.say("Somebody was faster.");
    }
  });

  // Goes on beside the chat until the visit, and reminds of it a day and an hour before; begins anew when it is moved.
  const visit = b.flow<{ slot: Slot; name: string }>("visit", async (f) => {
    for (const ahead of [DAY_MS, DAY_MS / 24]) {
      const due = Date.parse(f.input.slot.at) - ahead;
      const moved = due < f.now() ? null : await f.until({ at: new Date(due), signal: "moved" });
      if (moved?.signal === "moved") return f.again({ ...f.input, slot: moved.value as Slot });
      if (moved !== null)
        f.say(`${f.input.name}, we expect you on ${show(f.input.slot)}. Write “move” if you cannot come.`);
    }
  });

  const book = b.flow("book", { expire: "2h", remind: "20m" }, async (f) => {
    const kind = await f.choice("kind", "What is it about?", { check: "A check-up", pain: "Pain" });
    const name = await f.text("name", "Your full name?", {
      pattern: /\s/,
      retry: "First and last name, please.",
    });
    const slot = await f.run(pick, { kind, name });
    if (slot === null) return f.handoff({ say: "Nothing is free. We will call you." });
    f.spawn(visit, "visit", { slot, name });
    f.say(`Done: ${show(slot)}.`);
  });

  const move = b.flow("move", { expire: "2h" }, async (f) => {
    const slot = await f.run(pick, { moves: f.from.number });
    if (slot === null) return f.handoff({ say: "Nothing else is free. We will call you." });
    f.send(visit, "visit", "moved", slot);
    f.say(`Moved to ${show(slot)}.`);
  });

  b.keyword(["appointment", "book a visit"], (ctx) => (ctx.config.diaryUrl ? ctx.start(book) : ctx.next()));
  b.keyword("move", (ctx) => (ctx.config.diaryUrl ? ctx.start(move) : ctx.next()));
});
