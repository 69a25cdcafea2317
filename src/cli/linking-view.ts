import qrcode from "qrcode";
import { createPaint, showNumber, wantsColour, type Output } from "./terminal.ts";

/** What the one who links sees. Every method replaces what was shown before (on a terminal). */
export interface LinkingView {
  /** Shows a QR text as an image made of blocks; the same text again only changes the seconds. */
  qr(text: string, expiresInSeconds: number): Promise<void>;
  code(code: string, expiresInSeconds: number): void;
  waiting(state: "preparing" | "connecting"): void;
  clear(): void;
}

const HOW = "WhatsApp on the phone → Linked devices → Link a device";

/** Shows a linking on `output`. Without a terminal each new code is written once, below the last. */
export function showLinking(output: Output, number: string): LinkingView {
  const paint = createPaint(wantsColour(output));
  const owner = paint.bold(showNumber(number));
  let shown = "";
  let rowsShown = 0;
  let said = "";

  const clear = () => {
    if (output.isTTY && rowsShown > 0) output.write(`\u001B[${rowsShown}A\r\u001B[J`);
    rowsShown = 0;
  };
  /** `live` is what changes all the time, and is left out where rows cannot be replaced. */
  const show = (text: string, live: string) => {
    const height = text.split("\n").length + 2;
    // What has scrolled out of a small terminal cannot be replaced either.
    if (!output.isTTY || height > (output.rows ?? Infinity)) {
      if (text !== said) output.write(`${text}\n`);
      said = text;
      return;
    }
    const block = `${text}\n${paint.dim(live)}\n`;
    if (block === shown && rowsShown > 0) return;
    clear();
    output.write(block);
    shown = block;
    rowsShown = block.split("\n").length - 1;
  };

  return {
    async qr(text, expiresInSeconds) {
      const blocks = await drawQr(text, output.isTTY === true);
      show(`${blocks}\n\nScan it with the phone of ${owner}: ${HOW}`, `A new code in ${expiresInSeconds} s`);
    },
    code(code, expiresInSeconds) {
      const parts = `${code.slice(0, 4)}-${code.slice(4)}`;
      const how = `${HOW} → Link with phone number instead`;
      show(
        `\n  ${paint.bold(parts)}\n\nType it on the phone of ${owner}: ${how}`,
        `${expiresInSeconds} s left`,
      );
    },
    waiting(state) {
      show(state === "preparing" ? "Asking WhatsApp for a code …" : `${owner} is linked; connecting …`, "");
    },
    clear,
  };
}

/** Two modules per character cell. On a terminal dark on white by colour, because phones want a light background. */
async function drawQr(text: string, terminal: boolean): Promise<string> {
  const drawn = terminal
    ? await qrcode.toString(text, { type: "terminal", small: true })
    : await qrcode.toString(text, { type: "utf8" });
  return drawn.trimEnd();
}
