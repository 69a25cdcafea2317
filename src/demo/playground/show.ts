import type { Paint } from "../../cli/terminal.ts";
import { openInBrowser } from "../browser.ts";
import { stayUp } from "../cleanup.ts";
import { openPlayground, type OpenOptions } from "./open.ts";

interface ShowOptions extends Omit<OpenOptions, "onTrouble"> {
  write(row: string): void;
  paint: Paint;
  /** A browser is opened. */
  opens: boolean;
  /** Said below the addresses. */
  hints?: readonly string[];
}

/** Opens the playground, says where it is, and stays until somebody ends it. */
export async function showPlayground(options: ShowOptions): Promise<never> {
  const { write, paint, opens, cleanup, hints = [] } = options;
  const { url, consoleUrl, baseUrl, apiKey } = await openPlayground({
    ...options,
    onTrouble: (text) => write(`  ${paint.yellow("!")} ${text}`),
  });
  const ends = opens ? "It opens in your browser. Ctrl-C ends." : "Open it in a browser. Ctrl-C ends.";
  write("");
  write(`  ${paint.dim("Playground")}  ${paint.bold(url)}`);
  write(`  ${paint.dim("Console")}     ${consoleUrl}`);
  write(`  ${paint.dim("Base URL")}    ${baseUrl}`);
  write(`  ${paint.dim("API key")}     ${apiKey}`);
  write("");
  for (const hint of [...hints, ends]) write(`  ${paint.dim(hint)}`);
  if (opens) openInBrowser(url);
  return stayUp(cleanup);
}
