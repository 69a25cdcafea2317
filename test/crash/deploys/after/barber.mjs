/** What is deployed under them: renamed, and with everything in it changed that people are in the middle of. */
export default {
  was: "salon",
  session: { initial: () => ({ visits: 0, stamps: [] }) },
  routes(b) {
    const { text, choice } = b.fields;
    const lead = b.form(
      "lead",
      {
        // Tightened.
        name: text("Full name?", { pattern: /\s/ }),
        born: text("Born?"),
        // `pet` is gone, `colour` is new, and the sizes have another order, one of them gone.
        colour: text("Colour?"),
        size: choice("Size?", { xl: "Huge", m: "Medium", s: "Small" }),
      },
      (ctx, { name, colour, size }) => ctx.reply(`lead: ${name} ${colour} ${size}`),
    );
    const main = b.menu("start", {
      was: "main",
      text: "What can we do?",
      options: {
        refund: { label: "Refund", reply: "REFUNDED" },
        person: { label: "A person", reply: "One moment" },
        hours: { label: "Opening hours", reply: "9 to 18" },
      },
    });
    const booking = b.flow("appointment", { was: "booking" }, async (f) => {
      const kind = await f.choice("kind", "What is it?", { beard: "A beard", dye: "A dye", cut: "A cut" });
      const name = await f.text("name", "Your full name?", { pattern: /\s/ });
      const colour = kind === "dye" ? await f.text("colour", "Which colour?") : "no";
      const free = await f.step("slots", () => ["Sun", "Sat"], { was: "free" });
      const slot = await f.choose("slot", "Which day?", free, (day) => day);
      if (!(await f.confirm("sure", `${kind}/${colour} for ${name} on ${slot}?`)))
        return f.say("As you like.");
      f.say("Booked.");
    });
    const pay = b.flow("pay", { onChange: { say: "We have changed. Please begin again." } }, async (f) => {
      await f.step("charge-anew", () => "ch-2");
      await f.text("note", "A note?");
      f.say("Paid.");
    });
    const again = b.flow("again", { onChange: "restart" }, async (f) => {
      await f.step("new", () => 2);
      await f.text("why", "Why now?");
      f.say("Thanks.");
    });
    const rename = (journal) =>
      journal.map((entry) => (entry.key === "make" ? { ...entry, key: "produce" } : entry));
    const made = b.flow("made", { onChange: rename }, async (f) => {
      const id = await f.step("produce", () => "m-2");
      await f.text("note", `How was ${id}?`);
      f.say("Noted.");
    });
    const address = b.flow("address", async (f, who) => f.text("street", `${who}: which street?`));
    const order = b.flow("order", async (f) => {
      const from = await f.run(address, "From");
      const to = await f.run(address, "To");
      f.say(`from ${from} to ${to}`);
    });
    const dishes = b.flow("dishes", async (f) => {
      const sizes = [];
      for (const dish of ["cake", "tea", "soup"])
        sizes.push(await f.at(dish).text("size", `how much ${dish}?`));
      f.say(sizes.join());
    });
    const visit = b.flow("reminder", { was: "visit" }, async (f) => {
      const { value } = await f.until({ at: "2d", signal: "moved" });
      await f.confirm("coming", `Will you come on ${value}?`);
      f.say("Good.");
    });
    const plan = b.flow("plan", async (f) => {
      f.spawn(visit, "v", undefined);
      await f.text("who", "Who comes?");
      f.say("It is planned.");
    });
    const move = b.flow("move", async (f) => {
      f.send(visit, "v", "moved", "Friday");
      f.say("Moved.");
    });
    const sleeper = b.flow("sleeper", async (f) => {
      await f.text("first", "Who are you?");
      f.say("Wait.");
      await f.until({ signal: "never", at: "2d" });
    });
    const asks = Object.entries({
      email: (f) => f.email("it", "Your e-mail?"),
      phone: (f) => f.phone("it", "Your phone?"),
      number: (f) => f.number("it", "How many now?", { max: 9 }),
      yes: (f) => f.confirm("it", "Really sure?"),
      place: (f) => f.location("it", "Where?", { skip: "skip" }),
      photo: (f) => f.file("it", "A picture?", { skip: "skip" }),
      list: (f) => f.choose("it", "Which one?", ["Third", "Fourth"], (one) => one),
      own: (f) => f.ask("it", b.fields.text("Your own?")),
    }).map(([name, ask]) => [name, b.flow(`ask-${name}`, async (f) => f.say(`${name}: ${await ask(f)}`))]);
    const all = { lead, main, booking, pay, again, made, order, dishes, plan, move, sleeper };
    for (const [word, dialogue] of [...Object.entries(all), ...asks])
      b.keyword(`go ${word}`, (ctx) => ctx.start(dialogue));
    b.keyword("visit", (ctx) => {
      ctx.session.visits += 1;
      ctx.session.stamps.push("x");
      ctx.reply(`visit ${ctx.session.visits}, ${ctx.session.stamps.length} stamps`);
    });
  },
};
