import { describe, expect, it } from "vitest";
import { createPaint, createSteps, showTable, wantsColour, type Output } from "../../src/cli/terminal.ts";

function paper(isTTY: boolean): Output & { text: string } {
  return {
    text: "",
    isTTY,
    write(text: string) {
      this.text += text;
    },
  };
}

describe("colours", () => {
  it("are used on a terminal", () => {
    expect(wantsColour(paper(true), {})).toBe(true);
    expect(createPaint(true).red("no")).toBe("\u001B[31mno\u001B[39m");
  });

  it.each([
    ["without a terminal", paper(false), {}],
    ["with NO_COLOR", paper(true), { NO_COLOR: "1" }],
    ["on a dumb terminal", paper(true), { TERM: "dumb" }],
  ])("are not used %s", (_, output, env) => {
    expect(wantsColour(output, env)).toBe(false);
    expect(createPaint(false).red("no")).toBe("no");
  });
});

describe("steps", () => {
  it("leave one line each, whatever they reported meanwhile", async () => {
    const output = paper(false);
    await createSteps(output, createPaint(false)).run("gateway", async (report) => {
      report("starting");
      return "http://127.0.0.1:4000";
    });
    expect(output.text).toBe("  ✓ gateway     http://127.0.0.1:4000\n");
  });

  it("mark what failed and hand the error on", async () => {
    const output = paper(false);
    const run = createSteps(output, createPaint(false)).run("number", async () => {
      throw new Error("no phone");
    });
    await expect(run).rejects.toThrow("no phone");
    expect(output.text).toBe("  ✗ number      failed\n");
  });

  it("take the turning wheel away on a terminal", async () => {
    const output = paper(true);
    await createSteps(output, createPaint(false)).run("build", async (report) => {
      report("building");
      return "done";
    });
    expect(output.text).toContain("building");
    expect(output.text.split("\r\u001B[2K").at(-1)).toBe("  ✓ build       done\n");
  });
});

describe("tables", () => {
  it("align their columns", () => {
    const table = showTable(
      createPaint(false),
      ["ID", "NAME"],
      [
        ["acc_1", "a"],
        ["2", "bb"],
      ],
    );
    expect(table).toBe("ID     NAME\nacc_1  a\n2      bb");
  });

  it("are empty without rows", () => {
    expect(showTable(createPaint(false), ["ID"], [])).toBe("");
  });
});
