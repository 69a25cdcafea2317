import { defineBot, url } from "parley";
import { z } from "zod";

/** The diary: `GET` lists free times, `POST` books one. Without it the bot passes every message on. */
const config = z.object({ diaryUrl: url().optional() });
type Slot = { id: string; at: string };
type Who = { kind: string; name: string } | { moves: string | null };

const DAY_MS = 86_400_000;
const show = ({ at }: Slot): string => `${at.slice(0, 10)} at ${at.slice(11, 16)}`;

export default defineBot({ enable: "bound", config, needs: ["diaryUrl"] }, (b) => {
  /** A time that is booked; null when none is free. */
  const pick = b.flow("pick", async (f, who: Who) => {
    const diary = f.config.diaryUrl;
    for (;;) {
      const free = await f.call<Slot[]>("free", diary, { tries: 3 });
      if (free.length === 0) return null;
      const slot = await f.choose("slot", "Which time?", free, show);
      if (!(await f.confirm("sure", `Shall I book ${show(slot)}?`))) continue;
      const json = { ...who, slot: slot.id };
      const { taken } = await f.call<{ taken: boolean }>("book", diary, { json, tries: 5 });
      if (!taken) return slot;
      f.say("Somebody was faster.");
    }
  });

  // Goes on beside the chat until the visit, and reminds of it a day and an hour before; begins anew when it is moved.
  const visit = b.flow("visit", async (f, { slot, name }: { slot: Slot; name: string }) => {
    for (const ahead of [DAY_MS, DAY_MS / 24]) {
      const at = new Date(Date.parse(slot.at) - ahead);
      const woken = await f.until({ at, expire: ahead / 2, signal: "moved" });
      if (woken.signal === "moved") return f.again({ name, slot: woken.value as Slot });
      if (!woken.late) f.say(`${name}, we expect you on ${show(slot)}. Write “move” if you cannot come.`);
    }
  });

  const book = b.flow("book", { expire: "2h", remind: "20m" }, async (f) => {
    const kind = await f.choice("kind", "What is it about?", { check: "A check-up", pain: "Pain" });
    const retry = "First and last name, please.";
    const name = await f.text("name", "Your full name?", { pattern: /\s/, retry });
    const slot = await f.run(pick, { kind, name });
    if (slot === null) return f.handoff({ say: "Nothing is free. We will call you." });
    f.spawn(visit, "visit", { slot, name });
    return f.say(`Done: ${show(slot)}.`);
  });

  const move = b.flow("move", { expire: "2h" }, async (f) => {
    const slot = await f.run(pick, { moves: f.from.number });
    if (slot === null) return f.handoff({ say: "Nothing else is free. We will call you." });
    f.send(visit, "visit", "moved", slot);
    return f.say(`Moved to ${show(slot)}.`);
  });

  b.keyword(["appointment", "book a visit"], (ctx) => ctx.start(book));
  b.keyword("move", (ctx) => ctx.start(move));
});
