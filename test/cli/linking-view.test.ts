import { describe, expect, it } from "vitest";
import { showLinking } from "../../src/cli/linking-view.ts";
import type { Output } from "../../src/cli/terminal.ts";
import { readTerminalQr } from "./terminal-qr.ts";

function paper(isTTY: boolean): Output & { text: string } {
  return {
    text: "",
    isTTY,
    write(text: string) {
      this.text += text;
    },
  };
}

const qrText = (ref: string): string => `https://wa.me/settings/linked_devices#${ref.repeat(20)},a/b+c=,1`;

describe("what the one who links sees", () => {
  it("is a code that can be scanned from the screen, and how", async () => {
    const output = paper(false);
    await showLinking(output, "31600000001").qr(qrText("2@Ab"), 60);
    expect(readTerminalQr(output.text)).toBe(qrText("2@Ab"));
    expect(output.text).toContain("Scan it with the phone of +31600000001");
  });

  it.each([
    ["without a terminal", paper(false)],
    ["on a terminal that is too small to show it whole", { ...paper(true), rows: 24 }],
  ])("is written once per code where nothing can be redrawn: %s", async (_, output) => {
    const view = showLinking(output, "31600000001");
    await view.qr(qrText("2@Ab"), 60);
    const before = output.text;
    await view.qr(qrText("2@Ab"), 59);
    expect(output.text).toBe(before);
    await view.qr(qrText("2@Cd"), 20);
    expect(output.text.split("Scan it with")).toHaveLength(3);
  });

  it("shows the newer of two codes below the older", async () => {
    const output = paper(false);
    const view = showLinking(output, "31600000001");
    await view.qr(qrText("2@Ab"), 60);
    await view.qr(qrText("2@Cd"), 20);
    expect(readTerminalQr(output.text)).toBe(qrText("2@Cd"));
  });

  it("counts down on a terminal, in place", async () => {
    const output = paper(true);
    const view = showLinking(output, "31600000001");
    await view.qr(qrText("2@Ab"), 60);
    const rows = output.text.split("\n").length - 1;
    output.text = "";
    await view.qr(qrText("2@Ab"), 59);
    expect(output.text.startsWith(`\u001B[${rows}A\r\u001B[J`)).toBe(true);
    expect(output.text).toContain("A new code in 59 s");
  });

  it("shows a code to type in two halves", () => {
    const output = paper(false);
    showLinking(output, "31600000001").code("ABCD1234", 100);
    expect(output.text).toContain("\n  ABCD-1234\n");
  });
});
