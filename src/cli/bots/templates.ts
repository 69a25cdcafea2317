/** What `bots new` begins with. */
export interface TemplateText {
  about: string;
  /** Lines inside the function that adds the routes. */
  routes: string;
  /** Lines inside the test. */
  test: string;
}

/** What a new bot may begin as. */
export type Template = "hello" | "menu" | "form" | "flow";

/** For each template one sentence about it, its routes, and a test that passes. */
export const TEMPLATES: Record<Template, TemplateText> = {
  hello: {
    about: "Answers a greeting.",
    routes: `b.keyword(["hi", "hello"], (ctx) => ctx.reply(\`Hello \${ctx.from.name || "there"}!\`));`,
    test: `await chat.user("hi");
await chat.expect("Hello Ana!");`,
  },
  menu: {
    about: "Shows a menu. The contact answers with a number, the label or the key.",
    routes: `const menu = b.menu("main", {
  text: "What can we do for you?",
  options: {
    hours: { label: "Opening hours", reply: "We are open from 9 to 18.", again: true },
    person: { label: "Talk to a person", run: (ctx) => ctx.handoff({ say: "Somebody will write to you soon." }) },
  },
});

b.keyword(["menu", "hi", "hello"], (ctx) => ctx.start(menu));`,
    test: `await chat.user("menu");
await chat.expect(/What can we do for you/);
await chat.user("1");
await chat.expect("We are open from 9 to 18.");`,
  },
  form: {
    about: "Asks a few questions, one after another. A restart in the middle loses nothing.",
    routes: `const form = b.form(
  "contact",
  {
    name: b.fields.text("What is your name?"),
    email: b.fields.email("Which e-mail address may we write to?"),
  },
  (ctx, { name, email }) => ctx.reply(\`Thank you, \${name}. We will write to \${email}.\`),
  { remind: "15m", expire: "12h" },
);

b.keyword(["contact", "write to me"], (ctx) => ctx.start(form));`,
    test: `await chat.user("contact");
await chat.expect("What is your name?");
await chat.user("Ana");
await chat.expect(/e-mail/);
await chat.kill();
await chat.user("ana@example.com");
await chat.expect("Thank you, Ana. We will write to ana@example.com.");`,
  },
  flow: {
    about:
      "Takes a booking: what it asks depends on the answers. A restart in the middle books nothing twice.",
    routes: `const visit = b.flow("visit", { remind: "15m", expire: "12h" }, async (f) => {
  const people = await f.number("people", "For how many?", { min: 1, max: 99, integer: true });
  if (people > 8) return f.handoff({ say: "So many! Somebody will write to you soon." });
  const day = await f.choice("day", "Which day?", { today: "Today", tomorrow: "Tomorrow" });
  if (!(await f.review("sure", "Shall I book it?", { people, day }))) return f.say("Nothing is booked.");
  // Your other system belongs here: await f.call("book", "https://…", { json: { people, day }, tries: 5 }).
  const { code } = await f.step("book", (_signal, key) => ({ code: key.slice(0, 6) }));
  f.say(\`Booked. Your code is \${code}.\`);
});

b.keyword(["visit", "book"], (ctx) => ctx.start(visit));`,
    test: `await chat.user("visit");
await chat.expect("For how many?");
await chat.user("four");
await chat.expect(/Which day/);
await chat.user("2");
await chat.expect(/Shall I book it/);
await chat.kill();
await chat.user("yes");
await chat.expect(/^Booked/);`,
  },
};

const KIT = "parley/testing";

/** @param plain without imports and types, as BOTS_DIR takes it */
export function showBot({ about, routes }: TemplateText, plain: boolean): string {
  const comment = `/** ${about} On where it is bound to a number. */`;
  if (plain)
    return `${comment}\nexport default {\n  enable: "bound",\n  routes(b) {\n${indent(routes, 4)}\n  },\n};\n`;
  return `import { defineBot } from "parley";\n\n${comment}\nexport default defineBot({ enable: "bound" }, (b) => {\n${indent(routes, 2)}\n});\n`;
}

/** @param file of the bot, beside the test */
export function showTest({ test }: TemplateText, file: string): string {
  return `import { it } from "vitest";
import { createTestChat } from "${KIT}";
import bot from "./${file}";

it("answers", async () => {
  const chat = await createTestChat([bot]);
  try {
${indent(test, 4)}
  } finally {
    await chat.close();
  }
});
`;
}

const indent = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, " ".repeat(by));
