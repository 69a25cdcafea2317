import { createInterface, moveCursor, clearScreenDown, cursorTo } from "node:readline";
import type { Output, Paint } from "../cli/terminal.ts";

/** Where the visitor types; lines that arrive meanwhile are written above what is being typed. */
export interface Prompt {
  /** Writes a row above the prompt. */
  write(row: string): void;
  close(): void;
}

interface PromptOptions {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  paint: Paint;
  /** The name before the cursor. */
  name: string;
  onLine(text: string): void;
  /** Ctrl-C or Ctrl-D on a terminal. A closed pipe is not an end: nobody was going to type there. */
  onEnd(): void;
}

/** Starts to read lines. Without a terminal they are read all the same, and no prompt is drawn. */
export function openPrompt(options: PromptOptions): Prompt {
  const { input, output } = options;
  const terminal = input.isTTY === true && output.isTTY === true;
  const label = `${options.name} › `;
  const reader = createInterface({ input, output: terminal ? output : undefined, terminal });
  reader.setPrompt(`  ${options.paint.cyan(label)}`);
  reader.on("line", (text) => {
    // The typed row comes again as a line of the conversation: the echo is taken away.
    if (terminal) wipe(output, Math.floor((2 + label.length + text.length) / (output.columns || 80)) + 1);
    if (text.trim()) options.onLine(text.trim());
    if (terminal) reader.prompt();
  });
  reader.on("SIGINT", options.onEnd);
  reader.on("close", () => {
    if (terminal) options.onEnd();
  });
  if (terminal) reader.prompt();
  return {
    write(row) {
      if (terminal) wipe(output, reader.getCursorPos().rows);
      output.write(`${row}\n`);
      if (terminal) reader.prompt(true);
    },
    close() {
      reader.removeAllListeners("close");
      reader.close();
      if (terminal) wipe(output, 0);
    },
  };
}

/** Clears the current row and as many above it. */
function wipe(output: Output & NodeJS.WriteStream, rowsAbove: number): void {
  cursorTo(output, 0);
  if (rowsAbove > 0) moveCursor(output, 0, -rowsAbove);
  clearScreenDown(output);
}
