import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anonymise } from "../../src/testing/stories/anonymise.ts";
import type { StoryLine } from "../../src/testing/index.ts";
import { writeStory } from "../../src/testing/index.ts";

const user = (text: string): StoryLine => ({
  who: "user",
  as: null,
  says: [{ kind: "text", text, quote: null }],
});
const bot = (text: string): StoryLine => ({ who: "bot", reply: { kind: "text", text, quotes: false } });

function cleaned(lines: StoryLine[], names: string[], replace: Record<string, string> = {}): string[] {
  const story = anonymise({ title: "", bots: [], outside: [], lines }, { names, replace });
  return story.lines.map((line) =>
    line.who === "user" && line.says[0]!.kind === "text"
      ? line.says[0]!.text
      : line.who === "bot" && line.reply.kind === "text"
        ? line.reply.text
        : "",
  );
}

describe("a story without its people", () => {
  it.each([
    [
      "a name, whole, in part and in whatever letters",
      "I am ROSA, Rosa Berger. Call Mrs berger!",
      "I am Ana, Ana Lima. Call Mrs Lima!",
    ],
    ["no word that only holds one", "a rosary for Bergerac", "a rosary for Bergerac"],
    ["a number, as it was written", "+49 (170) 555-1234", "+49 (170) 000-0001"],
    ["an address of e-mail", "write to Rosa.B+x@mail.example.org.", "write to person1@example.com."],
    ["a LID", "12345678901234@lid", "49170000000001@lid"],
    [
      "no date, no price and no short number",
      "2026-01-05, 5.1.2026 10:00, 1200 €, room 4711",
      "2026-01-05, 5.1.2026 10:00, 1200 €, room 4711",
    ],
    ["words that were named", "from Bonn", "from Berlin"],
  ])("replaces %s", (_what, text, wanted) => {
    const [instead] = cleaned([user(text)], ["Rosa Berger"], { Bonn: "Berlin" });
    expect(instead).toBe(wanted);
  });

  it("the same by the same everywhere, so that an answer still fits its question", () => {
    expect(cleaned([user("0170 5551234"), bot("You wrote 01705551234."), user("0170 5559999")], [])).toEqual([
      "4917 0000001",
      "You wrote 49170000001.",
      "4917 0000002",
    ]);
  });

  it("knows a place, a file's name and a contact card", () => {
    const story = anonymise(
      {
        title: "Rosa",
        bots: [],
        outside: [],
        lines: [
          {
            who: "user",
            as: null,
            says: [{ kind: "location", latitude: 50.7, longitude: 7.1, name: "Rosa's", address: "Lane 5" }],
          },
          { who: "user", as: null, says: [{ kind: "card", name: "Rosa Berger", numbers: ["491705551234"] }] },
          {
            who: "user",
            as: null,
            says: [{ kind: "file", file: "document", caption: "", name: "Rosa.pdf" }],
          },
        ],
      },
      { names: ["Rosa Berger"] },
    );
    expect(writeStory(story)).not.toMatch(/rosa|berger|555|50\.7|lane/i);
  });

  it("takes whatever people write, in time that grows with it alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, name) => {
        expect(cleaned([user(text)], [name])).toHaveLength(1);
      }),
    );
    expect(cleaned([user("1 ".repeat(32_000) + "@".repeat(1000))], ["(a+)+$"])).toHaveLength(1);
  });
});
