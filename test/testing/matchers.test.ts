import { describe, expect, it } from "vitest";
import { defineBot } from "parley";
import { createTestChat } from "parley/testing";
// oxlint-disable-next-line import/no-unassigned-import -- adds the matchers
import "parley/testing/matchers";

const ping = defineBot((b) => b.keyword("ping", (ctx) => ctx.reply("pong")));

describe("matchers", () => {
  it("tell what was said", async () => {
    await using chat = await createTestChat([ping]);
    await chat.user("ping");

    expect(chat).toHaveReplied("pong");
    expect(chat).toHaveReplied(/^po/);
    expect(chat).not.toHaveReplied("ping");
    expect(() => expect(chat).toHaveReplied("ping")).toThrow(
      'The bot was to say "ping".\n\nuser: ping\nbot: pong',
    );
  });

  it("tell whether there is something that nobody has looked at", async () => {
    await using chat = await createTestChat([ping]);
    await chat.user("ping");

    expect(chat).not.toBeSilent();
    expect(() => expect(chat).toBeSilent()).toThrow("The bot was to say nothing more.");
    await chat.expect("pong");
    expect(chat).toBeSilent();
  });

  it("tell how the last message was decided", async () => {
    await using chat = await createTestChat({ greeter: ping });
    await chat.user("ping");

    await expect(chat).toHaveDecided({ by: "bot:greeter", route: "keyword:ping" });
    await expect(expect(chat).toHaveDecided({ by: null })).rejects.toThrow(
      "Decided: bot:greeter by keyword:ping: bot:greeter answered",
    );
    await chat.user("what?");
    await expect(chat).toHaveDecided({ by: null });
  });
});
