/**
 * What the compiler must know about bots, and what it must refuse. Nothing here runs: `npm run typecheck` reads it, and an
 * expectation that does not hold is an error there.
 */
import { z } from "zod";
import { defineBot, fields, form, type CommandMatch } from "parley";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when the value's type is exactly `Expected`. */
declare function exactly<Expected>(): <Actual>(
  value: Actual,
  ...wrong: Same<Actual, Expected> extends true ? [] : [never]
) => void;

defineBot((b) => {
  // Filters narrow the message.
  b.on("media:image", (ctx) => exactly<"image">()(ctx.message.media.kind));
  b.on(["media:image", "media:voice"], (ctx) => exactly<"image" | "voice">()(ctx.message.media.kind));
  b.on("location", (ctx) => exactly<number>()(ctx.message.location.latitude));
  b.on("reaction", (ctx) => exactly<string>()(ctx.message.reaction.emoji));
  b.on("edit", (ctx) => exactly<string>()(ctx.message.targetId));
  b.on("quoted", (ctx) => exactly<string>()(ctx.message.quoted.text));
  b.on("poll:vote", (ctx) => exactly<"poll_vote">()(ctx.message.type));
  // @ts-expect-error -- a text may come without a file
  b.on("text", (ctx) => ctx.message.media.kind);
  // @ts-expect-error -- a fallback knows nothing of places
  b.fallback((ctx) => ctx.message.location.latitude);
  // @ts-expect-error -- no such filter
  b.on("media:pdf", () => null);

  // What routes find.
  b.keyword("a", (ctx) => exactly<null>()(ctx.match));
  b.prefix("book", (ctx) => exactly<string>()(ctx.match));
  b.command("order", (ctx) => exactly<CommandMatch>()(ctx.match));
  b.match(/(\d+)/, (ctx) => exactly<string | undefined>()(ctx.match[1]));
  // @ts-expect-error -- a command's arguments may be fewer
  b.command("order", (ctx) => ctx.match.args[0].trim());
  // @ts-expect-error -- an expression, not a text
  b.match("order", () => null);

  // Who only looks cannot answer.
  b.tap((seen) => exactly<string>()(seen.text));
  // @ts-expect-error -- a tap has no reply
  b.tap((seen) => seen.reply("x"));
  // @ts-expect-error -- nor a session
  b.tap((seen) => seen.session);

  // Replies.
  b.keyword("r", (ctx) => {
    ctx.reply({ poll: "Tea?", options: ["yes", "no"] });
    ctx.image({ bytes: new Uint8Array(1) }, { caption: "x", quote: true });
    // @ts-expect-error -- a poll has options
    ctx.reply({ poll: "Tea?" });
    // @ts-expect-error -- no such content
    ctx.reply({ picture: "https://example.com/x.png" });
    // @ts-expect-error -- not a number
    ctx.reply(5);
    // @ts-expect-error -- no such unit
    ctx.after("5 weeks", "t");
    // @ts-expect-error -- a message cannot be changed
    ctx.message.text = "x";
    void ctx.step("k", () => 5).then((made) => exactly<number>()(made));
    // What JSON keeps: as it comes back after a crash, and before.
    void ctx
      .step("k", () => ({
        at: new Date() as Date | null,
        all: [1, "a"] as const,
        by: new Map<string, Date>(),
      }))
      .then((made) => {
        exactly<string | null>()(made.at);
        exactly<[1, "a"]>()(made.all);
        exactly<Record<string, never>>()(made.by);
        // @ts-expect-error -- a Date is its text
        made.at?.getTime();
      });
    void ctx.step("k", (): any => 5).then((made) => made.whatever);
  });

  // A flow's input and output are those of its function.
  const pick = b.flow("pick", async (f, _who: { name: string } | { moves: string }) => {
    const slot = await f.choose("slot", "Which?", [{ id: "a", at: 1 }], ({ id }) => id);
    return (await f.confirm("sure", "Sure?")) ? slot : null;
  });
  const visit = b.flow("visit", { expire: "2h" }, async (f, { day }: { day: string }) => {
    if (day === "") return f.again({ day: "today" });
    // @ts-expect-error -- begins anew with what it begins with
    return f.again({ hour: 5 });
  });
  b.flow("book", async (f) => {
    exactly<{ id: string; at: number } | null>()(await f.run(pick, { name: "Ana" }));
    f.spawn(visit, "v", { day: "today" });
    // @ts-expect-error -- a day is a text
    f.spawn(visit, "v", { day: 5 });
    // @ts-expect-error -- neither a name nor what it moves
    await f.run(pick, {});
  });
  b.keyword("visit", (ctx) => ctx.start(visit, { day: "today" }));
  // @ts-expect-error -- it begins with a day
  b.keyword("visit", (ctx) => ctx.start(visit));

  // What a timer is set with, and what comes back of it.
  const remind = b.timer<{ at: Date; who: string }>("remind", (ctx) => {
    exactly<string>()(ctx.timer.data.at);
    exactly<string>()(ctx.timer.data.who);
    exactly<string | null>()(ctx.timer.id);
  });
  const wake = b.timer<string | undefined>("wake", (ctx) => exactly<string | undefined>()(ctx.timer.data));
  b.timer("any", (ctx) => exactly<unknown>()(ctx.timer.data));
  b.keyword("t", (ctx) => {
    ctx.after("1h", remind, { at: new Date(), who: "Ana" }, { id: 7, existing: "keep", expire: "10m" });
    exactly<boolean>()(ctx.at(new Date(), remind, { at: new Date(), who: "Ana" }, { past: "skip" }));
    ctx.after("1h", wake);
    ctx.after("1h", "any", { whatever: 1 });
    ctx.cancelTimer(remind, 7);
    // @ts-expect-error -- a timer's data are what its key says
    ctx.after("1h", remind, { at: "tomorrow" });
    // @ts-expect-error -- and they are needed
    ctx.after("1h", remind);
    exactly<boolean>()(ctx.after("-5m", "any", null, { past: "skip" }));
    // @ts-expect-error -- a date
    ctx.at("2026-05-07", "any");
  });

  // @ts-expect-error -- a bot without `session` has none
  b.keyword("s", (ctx) => ctx.session.count);
});

defineBot((b) => {
  const order = b.form(
    "order",
    {
      name: b.fields.text("Name?", { check: (value) => value !== "x" }),
      note: b.fields.text("Note?", { skip: "no" }),
      count: b.fields.number("How many?"),
      size: b.fields.choice("Size?", { s: "Small", l: "Large" }),
      colour: b.fields.choice("Colour?", ["red", "blue"], { skip: ["none"] }),
      sure: b.fields.confirm("Sure?"),
      file: b.fields.file("Picture?"),
      place: b.fields.location("Where?"),
    },
    (ctx, values) => {
      exactly<string>()(values.name);
      exactly<string | null>()(values.note);
      exactly<number>()(values.count);
      exactly<"s" | "l">()(values.size);
      exactly<"red" | "blue" | null>()(values.colour);
      exactly<boolean>()(values.sure);
      exactly<string>()(values.file.messageId);
      exactly<number>()(values.place.latitude);
      // @ts-expect-error -- no such question
      ctx.reply(values.surname);
      // @ts-expect-error -- it may have been left out
      ctx.reply(values.note.trim());
    },
  );
  const greeting = b.menu("m", { text: "?", options: { a: { label: "A", reply: "a" } } });
  b.keyword("order", (ctx) => {
    ctx.start(order);
    ctx.start(order, { count: 2, size: "s" });
    ctx.start(greeting);
    // @ts-expect-error -- a number is wanted
    ctx.start(order, { count: "two" });
    // @ts-expect-error -- none of the sizes
    ctx.start(order, { size: "xl" });
    // @ts-expect-error -- no dialogue
    ctx.start("order");
  });
  // @ts-expect-error -- an option has a label
  b.menu("n", { text: "?", options: { a: { reply: "a" } } });
  // @ts-expect-error -- what is asked is made of fields
  b.form("o", { name: "Name?" }, () => null);
  // @ts-expect-error -- a form has an end
  b.form("p", { name: b.fields.text("?") });
});

defineBot((b) => {
  const name = fields.text("Name?");
  // A question names the answers that it uses, and their form must have them.
  b.form(
    "typed",
    {
      name,
      count: fields.number((_ctx, answers: { name: string }) => `How many, ${answers.name}?`),
      size: fields.choice("Size?", (_ctx, answers: { count: number }) => (answers.count > 1 ? ["s"] : ["l"])),
      sure: fields.confirm((_ctx, { count }: { count: number }) => `${count}, sure?`),
    },
    (_ctx, values) => exactly<number>()(values.count),
  );
  b.form(
    "missing",
    // @ts-expect-error -- the form does not ask for it
    { name, sure: fields.confirm((_ctx, answers: { nmae: string }) => answers.nmae) },
    () => null,
  );
  b.form(
    "other",
    // @ts-expect-error -- it is a text
    { name, sure: fields.confirm((_ctx, answers: { name: number }) => String(answers.name)) },
    () => null,
  );
  // @ts-expect-error -- whoever does not say what they are knows nothing of them
  fields.confirm((_ctx, answers) => answers.name.trim());

  const flow = b.flow("f", async (f) => {
    exactly<boolean>()(await f.review("right", "Right?", { name: "Ana", count: 2 }));
    exactly<boolean | null>()(await f.review("right", "Right?", { name: "Ana" }, { skip: "skip" }));
    // @ts-expect-error -- what is shown is a text
    await f.review("right", "Right?", { at: new Date() });
    const photo = await f.file("photo", "Photo?");
    exactly<Buffer>()((await f.bytes(photo)).bytes);
    f.react("👍");
    f.setLocale("es");
  });
  b.keyword("f", (ctx) => ctx.start(flow));
});

defineBot({ session: { initial: () => ({ count: 0 }) } }, (b) => {
  b.flow("f", (f) => {
    exactly<number>()(f.session.count);
    exactly<number>()(f.at(1).session.count);
    // @ts-expect-error -- no such key
    f.session.cuont = 1;
  });
});

form("outside", { email: fields.email("?", { skip: "no" }) }, (_ctx, { email }) =>
  exactly<string | null>()(email),
);

defineBot(
  {
    config: z.object({ city: z.string(), rooms: z.number().default(1) }),
    session: {
      version: 2,
      schema: z.object({ cart: z.array(z.string()) }),
      initial: () => ({ cart: [] }),
      ttl: "30d",
    },
  },
  (b) => {
    b.keyword("x", (ctx) => {
      exactly<string>()(ctx.config.city);
      exactly<number>()(ctx.config.rooms);
      exactly<string[]>()(ctx.session.cart);
      ctx.session.cart.push("tea");
      // @ts-expect-error -- no such setting
      ctx.reply(ctx.config.country);
      // @ts-expect-error -- texts only
      ctx.session.cart.push(5);
    });
    b.use(async (ctx, next) => {
      exactly<string[]>()(ctx.session.cart);
      await next();
    });
    b.timer("t", (ctx) => exactly<string[]>()(ctx.session.cart));
    b.interrupt("stop", (ctx) => exactly<string>()(ctx.config.city));
    b.form("f", { a: fields.text("?") }, (ctx) => exactly<string[]>()(ctx.session.cart));
    b.menu("m", {
      text: "?",
      options: { a: { label: "A", run: (ctx) => exactly<string[]>()(ctx.session.cart) } },
    });
  },
);

// The session's shape is the schema's alone, however little of it `initial` and `migrate` give.
defineBot(
  {
    session: {
      schema: z.object({
        state: z.enum(["new", "old"]),
        note: z.string().optional(),
        dishes: z.array(z.string()),
      }),
      initial: () => ({ state: "new" as const, dishes: [] }),
      migrate: () => ({ state: "old" as const, dishes: [] }),
    },
  },
  (b) => {
    b.keyword("x", (ctx) => {
      exactly<"new" | "old">()(ctx.session.state);
      exactly<string | undefined>()(ctx.session.note);
      exactly<string[]>()(ctx.session.dishes);
    });
  },
);

// The session's shape follows from `initial` when there is no schema.
defineBot({ session: { initial: () => 0 } }, (b) => b.keyword("x", (ctx) => exactly<number>()(ctx.session)));
defineBot({ session: { initial: () => ({ n: 0 }) } }, (b) => {
  b.keyword("x", (ctx) => exactly<number>()(ctx.session.n));
});
defineBot(
  {
    session: {
      schema: z.object({ n: z.number() }),
      // @ts-expect-error -- what `initial` gives must fit the schema
      initial: () => ({ n: "none" }),
    },
  },
  () => undefined,
);
// @ts-expect-error -- no such chats
defineBot({ chats: ["private"] }, () => undefined);
// @ts-expect-error -- a bot has routes
defineBot({ priority: 3 });
// @ts-expect-error -- either of the two
defineBot({ onError: "ignore" }, () => undefined);

// Settings that a bot needs are there.
const settings = z.object({ diaryUrl: z.string().optional(), name: z.string().optional() });
defineBot({ config: settings, needs: ["diaryUrl"] }, (b) => {
  b.keyword("a", (ctx) => {
    exactly<string>()(ctx.config.diaryUrl);
    exactly<string | undefined>()(ctx.config.name);
  });
  b.flow("f", (f) => exactly<string>()(f.config.diaryUrl));
});
// @ts-expect-error -- no such setting
defineBot({ config: settings, needs: ["dairyUrl"] }, (b) => b.fallback(() => null));
defineBot({ config: settings }, (b) =>
  b.fallback((ctx) => exactly<string | undefined>()(ctx.config.diaryUrl)),
);
