import { describe, expect, it } from "vitest";
import type { Routes } from "../../../src/bot/types.ts";
import { createBindings } from "../../../src/bot/bindings/bindings.ts";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";
import { bot, DEVICE, startBots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

const HOUR = 3_600_000;
const session = { initial: () => ({ n: 0 }) };

/** Everything that a bot may have stored in a chat. */
const routes = (b: Routes<never, { n: number }>): void => {
  const visit = b.flow("visit", async (f, day: string) => {
    await f.until("2h");
    await f.confirm("coming", `Are you coming on ${day}?`);
    f.say("Good.");
  });
  const booking = b.flow("booking", { expire: "3h", remind: "90m" }, async (f) => {
    const day = await f.choice("day", "Which day?", { mon: "Monday", tue: "Tuesday" });
    f.spawn(visit, "v", day);
    f.say(`Booked ${day}.`);
  });
  b.keyword("book", (ctx) => ctx.start(booking));
  b.timer("later", (ctx) => ctx.reply(`later: ${ctx.timer?.data}`));
  b.keyword("wait", (ctx) => ctx.after("1h", "later", "tea"));
  b.keyword("es", (ctx) => ctx.setLocale("es"));
  b.keyword("locale", (ctx) => ctx.reply(ctx.locale));
  b.keyword("count", (ctx) => {
    ctx.session.n += 1;
    ctx.reply(`${ctx.session.n}`);
  });
};
const named = (options: object = {}) => bot(routes as never, { session, ...options } as never);

describe("a bot that says what it was", () => {
  it("goes on with its open flow, session, timers, language, and flows beside", async () => {
    const bots = await startBots({ salon: named() });
    for (const text of ["count", "es", "wait", "book", "2", "book"]) await bots.say(text);
    bots.heard();
    await bots.kill({ barber: named({ was: "salon" }) });
    expect(await bots.say("1")).toMatchObject({ by: "bot:barber", route: "flow:booking" });
    await bots.say("count");
    await bots.say("locale");
    expect(bots.heard()).toEqual(["Booked mon.", "2", "es"]);
    await bots.later(HOUR + 1_000);
    expect(bots.heard()).toEqual(["later: tea"]);
    await bots.later(HOUR);
    expect(bots.heard()).toEqual(["Are you coming on mon?"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers WHERE bot_id = 'salon'")).toBe(0);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_sessions WHERE bot_id = 'salon'")).toBe(0);
  });

  it("is reminded, and expires, in chats where nobody has written since", async () => {
    const bots = await startBots({ salon: named() });
    await bots.say("book");
    bots.heard();
    await bots.kill({ barber: named({ was: ["salon"] }) });
    await bots.later(91 * 60_000);
    expect(bots.heard()).toEqual([expect.stringMatching(/^¿|^Which day/)]);
    await bots.later(3 * HOUR);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_dialogues")).toBe(0);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });

  it("is bound where it was bound, with its settings, until something else is said of it", async () => {
    const store = await temporaryStore();
    const { log } = listeningLog();
    const bindingsOf = async (id: string, options: object) => {
      const exported = named({ enable: "bound", ...options });
      const bindings = createBindings(
        store,
        createRegistry([{ id, file: id, exported }], log),
        () => undefined,
      );
      await bindings.load();
      return bindings;
    };
    const before = await bindingsOf("salon", {});
    await before.put(DEVICE, [{ id: "salon", enabled: true, priority: 3, config: { chair: 2 } }]);

    const now = await bindingsOf("barber", { was: "salon" });
    const bound = { id: "barber", enabled: true, priority: 3, config: { chair: 2 } };
    expect(now.list(DEVICE)).toMatchObject([bound]);
    expect(now.tableOf(DEVICE).active).toMatchObject([{ priority: 3, config: { chair: 2 } }]);
    expect(now.tableOf(DEVICE).bot("salon")?.bot.id).toBe("barber");
    await now.change(DEVICE, [{ id: "barber", priority: 4 }]);
    expect(await rawRows(store, "SELECT bot_id FROM bot_bindings", [])).toMatchObject([{ bot_id: "barber" }]);
    expect((await bindingsOf("barber", {})).list(DEVICE)).toMatchObject([{ ...bound, priority: 4 }]);
  });

  it("has no claim on an id that another bot has, nor on one that another bot claims: both are said", async () => {
    const bots = await startBots({
      a: named({ was: ["salon", "old"] }),
      b: named({ was: "old" }),
      salon: named(),
    });
    expect(bots.log.text()).toMatch(/was: .*salon.* is ignored: the bot .*salon/);
    expect(bots.log.text()).toMatch(/was: .*old.* is ignored: the bot .*a/);
  });

  it("keeps what is stored under today's id, when both are there", async () => {
    const bots = await startBots({ salon: named() });
    await bots.say("count");
    await bots.kill({ barber: named() });
    for (let i = 0; i < 4; i++) await bots.say("count");
    bots.heard();
    await bots.kill({ barber: named({ was: "salon" }) });
    await bots.say("count");
    expect(bots.heard()).toEqual(["5"]);
  });
});
