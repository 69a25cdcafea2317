import { readFile } from "node:fs/promises";
import { createInterface, type Interface } from "node:readline/promises";
import type { Readable } from "node:stream";
import { builtFile, sourceFile } from "../model/built-file.ts";
import type { PasskeyRequest } from "../model/passkey.ts";
import { GatewayRefusal, type GatewayClient } from "./gateway-client.ts";
import { paint, tell } from "./plainly.ts";
import { showNumber } from "./terminal.ts";

/** Answer of `POST /devices/{number}/passkey`. */
type PasskeyAnswer = { state: "linking" } | { state: "confirm"; code: string };

/**
 * Walks a person through the passkey step: shows what to run and where, reads what it printed, sends it, and has the code compared when
 * there is one. An answer that cannot be used, or that WhatsApp refuses, is asked for again.
 *
 * @param input where lines are pasted
 * @param interrupted ends it
 * @throws Error when the code on the phone is another one, or the input ends
 */
export async function answerPasskey(
  gateway: GatewayClient,
  number: string,
  request: PasskeyRequest,
  input: Readable,
  interrupted: AbortSignal,
): Promise<void> {
  await explain(number, request);
  const lines = createInterface({ input, terminal: false });
  try {
    for (;;) {
      const assertion = await readAnswer(lines, interrupted);
      const answer = await send(gateway, number, assertion);
      if (answer === null) continue;
      if (answer.state === "confirm") await compare(gateway, number, answer.code, lines, interrupted);
      return;
    }
  } finally {
    lines.close();
  }
}

async function explain(number: string, request: PasskeyRequest): Promise<void> {
  const file =
    sourceFile("../../docs/passkey/ask.js", import.meta.url) ?? builtFile("passkey.js", import.meta.url);
  const script = (await readFile(file, "utf8")).replace("REQUEST", () => JSON.stringify(request));
  tell(`\nWhatsApp asks for the ${paint.bold("passkey")} of ${showNumber(number)}. You have ten minutes.\n`);
  tell(
    `1. Open ${paint.bold("https://web.whatsapp.com")} in the browser that has the passkey; you do not need to log in there.`,
  );
  tell("2. Press F12, choose Console, and paste these lines. Read them first: they send nothing.\n");
  tell(script);
  tell(
    "3. Follow the browser's steps. Then copy the line that the console printed, paste it here, and press Enter:",
  );
}

async function readAnswer(lines: Interface, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    const line = (await nextLine(lines, signal)).trim().replace(/^'|'$/g, "");
    if (line === "") continue;
    try {
      return JSON.parse(line);
    } catch {
      tell(
        "This is not the whole line. The line begins with { and ends with }: copy it again and paste it here.",
      );
    }
  }
}

async function send(
  gateway: GatewayClient,
  number: string,
  assertion: unknown,
): Promise<PasskeyAnswer | null> {
  try {
    return await gateway.post<PasskeyAnswer>(`/devices/${number}/passkey`, { assertion });
  } catch (error) {
    const again = error instanceof GatewayRefusal && error.code !== "NO_PASSKEY_REQUEST";
    if (!again) throw error;
    tell(`${error.message}\nRun the lines once more and paste the new answer:`);
    return null;
  }
}

async function compare(
  gateway: GatewayClient,
  number: string,
  code: string,
  lines: Interface,
  signal: AbortSignal,
): Promise<void> {
  tell(`\n  ${paint.bold(code)}\n\nDoes the phone of ${showNumber(number)} show this code? Type yes or no:`);
  const said = (await nextLine(lines, signal)).trim().toLowerCase();
  if (said !== "yes" && said !== "y")
    throw new Error("Not confirmed: nothing was linked. Run the command again and scan with your own phone.");
  await gateway.post(`/devices/${number}/passkey/confirm`);
}

async function nextLine(lines: Interface, signal: AbortSignal): Promise<string> {
  const line = await new Promise<string | null>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(null));
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
  if (line === null) throw new Error("Nothing was pasted, so the passkey request was not answered.");
  return line;
}
