import { defineBot } from "parley";
import { z } from "zod";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;
type Day = (typeof DAYS)[number];

const time = z.string().regex(/^([01]\d|2[0-4]):[0-5]\d$/, 'must be a time like "09:00"');

/**
 * What a number may set: `PUT /devices/{number}/bots` with `config: {"timeZone": "…", "hours": {…}}`. What does not fit is
 * refused there, with the names of the fields. A day that is missing is a day off.
 */
const config = z.object({
  timeZone: z.string().refine(isTimeZone, "is no time zone like Europe/Berlin").default("Europe/Berlin"),
  hours: z.partialRecord(z.enum(DAYS), z.tuple([time, time])).default({
    Monday: ["09:00", "18:00"],
    Tuesday: ["09:00", "18:00"],
    Wednesday: ["09:00", "18:00"],
    Thursday: ["09:00", "20:00"],
    Friday: ["09:00", "18:00"],
    Saturday: ["10:00", "14:00"],
  }),
});
type Config = z.infer<typeof config>;

export default defineBot({ enable: "bound", config }, (b) => {
  b.keyword(["hours", "opening hours"], (ctx) => {
    const { hours } = ctx.config;
    const lines = DAYS.flatMap((day) => (hours[day] ? [`${day}: ${hours[day].join("–")}`] : []));
    ctx.reply(["Our opening hours:", ...lines].join("\n"));
  });

  // An expression finds the question inside a longer text: "Are you open on sunday?"
  b.match(/\bopen on (sun|mon|tues|wednes|thurs|fri|satur)day\b/i, (ctx) => {
    const day = DAYS.find((name) => name.toLowerCase().startsWith(ctx.match[1]!.toLowerCase()));
    ctx.reply(sentence(ctx.config, day!));
  });

  b.keyword(["open", "are you open", "open today", "open now"], (ctx) => {
    // The gateway's clock, in the shop's zone: where the server stands does not matter.
    const { day, clock } = localTime(ctx.now(), ctx.config.timeZone);
    const [opens, closes] = ctx.config.hours[day] ?? ["24:00", "00:00"];
    const isOpen = opens <= clock && clock < closes;
    ctx.reply(isOpen ? `Yes, until ${closes}.` : `Not now. ${sentence(ctx.config, day)}`);
  });
});

function sentence({ hours }: Config, day: Day): string {
  const open = hours[day];
  return open ? `On ${day} we are open from ${open[0]} to ${open[1]}.` : `On ${day} we are closed.`;
}

function localTime(at: number, timeZone: string): { day: Day; clock: string } {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "long",
    hour: "2-digit",
    minute: "2-digit",
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return { day: parts.weekday as Day, clock: `${parts.hour}:${parts.minute}` };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
