import { describe, expect, it } from "vitest";
import { createPaint } from "../../src/cli/terminal.ts";
import type { Line } from "../../src/demo/conversation.ts";
import { showLine } from "../../src/demo/show-line.ts";

const at = new Date(2026, 0, 2, 9, 5, 7).getTime();
const plain = createPaint(false);
const line = (text: string): Line => ({ at, speaker: { kind: "bot", name: "bot menu" }, text });

describe("a line of the conversation", () => {
  it("shows time, speaker and text in columns", () => {
    expect(showLine(line("Hello!"), plain, 10)).toBe("  09:05:07  bot menu    Hello!");
  });

  it("puts further rows below the first", () => {
    expect(showLine(line("one\ntwo"), plain, 8)).toBe("  09:05:07  bot menu  one\n                      two");
  });

  it("breaks long rows between words, within the terminal", () => {
    const rows = showLine(line("We read your question and will write back today."), plain, 8, 50).split("\n");
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(row.length).toBeLessThan(50);
    expect(rows.map((row) => row.slice(22)).join(" ")).toBe(
      "We read your question and will write back today.",
    );
  });

  it("colours who speaks", () => {
    const text = showLine(
      { at, speaker: { kind: "contact", name: "Ana" }, text: "hi" },
      createPaint(true),
      3,
    );
    expect(text).toContain("\u001B[36mAna\u001B[39m");
  });
});
