/** What runs when people begin. */
export default {
  session: { initial: () => ({ visits: 0 }) },
  routes(b) {
    const { text, choice } = b.fields;
    const lead = b.form(
      "lead",
      {
        name: text("Name?"),
        born: text("Born?"),
        pet: text("Pet?"),
        size: choice("Size?", { s: "Small", m: "Medium", l: "Large" }),
      },
      (ctx, { name, size }) => ctx.reply(`lead: ${name} ${size}`),
    );
    const main = b.menu("main", {
      text: "What?",
      options: {
        hours: { label: "Hours", reply: "9 to 18" },
        prices: { label: "Prices", reply: "10" },
        person: { label: "A person", reply: "One moment" },
      },
    });
    const booking = b.flow("booking", async (f) => {
      const kind = await f.choice("kind", "What for?", { cut: "A cut", dye: "A dye" });
      const name = await f.text("name", "Your name?");
      const free = await f.step("free", () => ["Mon", "Tue"]);
      const slot = await f.choose("slot", "When?", free, (day) => day);
      if (!(await f.confirm("sure", `${kind} for ${name} on ${slot}?`))) return f.say("As you like.");
      f.say("Booked.");
    });
    const pay = b.flow("pay", { onChange: { say: "We have changed. Please begin again." } }, async (f) => {
      await f.step("charge", () => "ch-1");
      await f.text("note", "A note?");
      f.say("Paid.");
    });
    const again = b.flow("again", { onChange: "restart" }, async (f) => {
      await f.step("old", () => 1);
      await f.text("why", "Why?");
    });
    const made = b.flow("made", async (f) => {
      await f.step("make", () => "m-1");
      await f.text("note", "How was it?");
    });
    const address = b.flow("address", async (f, who) => f.text("street", `${who} where?`));
    const order = b.flow("order", async (f) => {
      const from = await f.run(address, "From");
      const to = await f.run(address, "To");
      f.say(`${from} to ${to}`);
    });
    const dishes = b.flow("dishes", async (f) => {
      const sizes = [];
      for (const dish of ["soup", "cake"]) sizes.push(await f.at(dish).text("size", `${dish}?`));
      f.say(sizes.join());
    });
    const visit = b.flow("visit", async (f) => {
      const { value } = await f.until({ at: "2d", signal: "moved" });
      await f.confirm("coming", `Coming on ${value}?`);
      f.say("Good.");
    });
    const plan = b.flow("plan", async (f) => {
      f.spawn(visit, "v", undefined);
      await f.text("who", "Who comes?");
      f.say("Planned.");
    });
    const move = b.flow("move", async (f) => {
      f.send(visit, "v", "moved", "Friday");
      f.say("Moved.");
    });
    const sleeper = b.flow("sleeper", async (f) => {
      f.say("Wait.");
      await f.until({ signal: "never", at: "2d" });
    });
    const asks = Object.entries({
      email: (f) => f.email("it", "E-mail?"),
      phone: (f) => f.phone("it", "Phone?"),
      number: (f) => f.number("it", "How many?"),
      yes: (f) => f.confirm("it", "Sure?"),
      place: (f) => f.location("it", "Where are you?", { skip: "skip" }),
      photo: (f) => f.file("it", "A photo?", { skip: "skip" }),
      list: (f) => f.choice("it", "Which?", { a: "First", b: "Second" }),
      own: (f) => f.ask("it", b.fields.text("Own?")),
    }).map(([name, ask]) => [name, b.flow(`ask-${name}`, async (f) => f.say(`${name}: ${await ask(f)}`))]);
    const all = { lead, main, booking, pay, again, made, order, dishes, plan, move, sleeper };
    for (const [word, dialogue] of [...Object.entries(all), ...asks])
      b.keyword(`go ${word}`, (ctx) => ctx.start(dialogue));
    b.keyword("visit", (ctx) => {
      ctx.session.visits += 1;
      ctx.reply(`visit ${ctx.session.visits}`);
    });
  },
};
