import { defineBot } from "parley";

type Day = "Sunday" | "Monday" | "Tuesday" | "Wednesday" | "Thursday" | "Friday" | "Saturday";

/** Your hours, in the time zone of the shop. A day that is missing is a day off. */
const TIME_ZONE = "Europe/Berlin";
const HOURS: Partial<Record<Day, [opens: string, closes: string]>> = {
  Monday: ["09:00", "18:00"],
  Tuesday: ["09:00", "18:00"],
  Wednesday: ["09:00", "18:00"],
  Thursday: ["09:00", "20:00"],
  Friday: ["09:00", "18:00"],
  Saturday: ["10:00", "14:00"],
};

export default defineBot({ enable: "bound" }, (b) => {
  b.keyword(["hours", "opening hours"], (ctx) => {
    const lines = Object.entries(HOURS).map(([day, [opens, closes]]) => `${day}: ${opens}–${closes}`);
    ctx.reply(["Our opening hours:", ...lines].join("\n"));
  });

  // An expression finds the question inside a longer text: "Are you open on sunday?"
  b.match(/\bopen on (sun|mon|tues|wednes|thurs|fri|satur)day\b/i, (ctx) => {
    const day = `${ctx.match[1]}day`.toLowerCase().replace(/^./, (letter) => letter.toUpperCase()) as Day;
    ctx.reply(sentence(day));
  });

  b.keyword(["open", "are you open", "open today"], (ctx) => {
    const day = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: TIME_ZONE }).format(ctx.now());
    ctx.reply(`Today: ${sentence(day as Day)}`);
  });
});

function sentence(day: Day): string {
  const hours = HOURS[day];
  return hours ? `On ${day} we are open from ${hours[0]} to ${hours[1]}.` : `On ${day} we are closed.`;
}
