import { setTimeout as pause } from "node:timers/promises";
import { command } from "../command.ts";
import type { PasskeyRequest } from "../../model/passkey.ts";
import { answerPasskey } from "../answer-passkey.ts";
import { GatewayRefusal, type GatewayClient } from "../gateway-client.ts";
import { showLinking, type LinkingView } from "../linking-view.ts";
import { findOperator, type Account, type Operator } from "../operator.ts";
import { forPeople, paint, say } from "../plainly.ts";
import { showNumber } from "../terminal.ts";

/** Answer of `POST /generate-qr`. */
interface LinkAnswer {
  status: boolean;
  state: "processing" | "qr" | "code" | "passkey" | "action_required" | "connected" | "connecting";
  message: string;
  qr?: string;
  code?: string;
  passkey?: PasskeyRequest;
  expires_in?: number;
}

const GIVE_UP_MS = 10 * 60_000;
const ASK_EVERY_MS = 1_000;

/** `parley link <number>`: registers the number if need be, and waits until a phone has linked it. */
export default command({
  meta: { name: "link", description: "Link a WhatsApp number with a QR code in the terminal" },
  args: {
    number: { type: "positional", description: "The number with country code, digits", required: true },
    account: { type: "string", description: "Id or name of the account; default: the only one" },
    code: { type: "boolean", description: "Link with an eight-character code instead of a QR code" },
  },
  async run({ args }) {
    const operator = await findOperator();
    const { account, apiKey } = await accountFor(operator, args.account);
    const number = args.number.replace(/[\s+\-().]/g, "").replace(/^00/, "");
    await operator.withKey(account, ["qr", "devices"], (gateway) =>
      link(gateway, number, args.code === true ? "code" : "qr"),
    );
    return { device: number, state: "connected", account: account.id, api_key: apiKey };
  },
});

/** The named account; at the very first use, an account called `default` and its key. It is the operator's own: several numbers fit. */
async function accountFor(
  operator: Operator,
  named?: string,
): Promise<{ account: Account; apiKey: string | null }> {
  if (named !== undefined || (await operator.accounts()).length > 0)
    return { account: await operator.account(named), apiKey: null };
  const made = await operator.createAccount("default", "pro");
  say(`This gateway had no account: ${paint.bold("default")} was created. Its API key, shown only now:`);
  say(`\n  ${made.api_key}\n`);
  return { account: made.account, apiKey: made.api_key };
}

/**
 * Asks until the number is connected, and shows what there is to scan or type.
 *
 * @throws Error when another number scanned, or nobody did within ten minutes
 */
async function link(gateway: GatewayClient, number: string, method: "qr" | "code"): Promise<void> {
  const view = showLinking(forPeople, number);
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once("SIGINT", stop);
  try {
    await followLinking(gateway, number, method, view, interrupted.signal);
  } finally {
    process.off("SIGINT", stop);
    view.clear();
  }
  if (interrupted.signal.aborted) throw new Error(`${showNumber(number)} was not linked.`);
  say(`${paint.green("✓")} ${showNumber(number)} is linked.`);
}

async function followLinking(
  gateway: GatewayClient,
  number: string,
  method: "qr" | "code",
  view: LinkingView,
  interrupted: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + GIVE_UP_MS;
  while (!interrupted.aborted) {
    const answer = await askForQr(gateway, number, method);
    if (answer.status && answer.state === "connected") return;
    if (Date.now() > deadline)
      throw new Error(`${showNumber(number)} was not linked within ${GIVE_UP_MS / 60_000} minutes.`);
    if (answer.passkey) {
      view.clear();
      await answerPasskey(gateway, number, answer.passkey, process.stdin, interrupted);
      continue;
    }
    if (answer.state === "action_required") throw new Error(await whyNot(gateway, number));
    if (answer.qr) await view.qr(answer.qr, answer.expires_in ?? 0);
    else if (answer.code) view.code(answer.code, answer.expires_in ?? 0);
    else view.waiting(answer.state === "connecting" ? "connecting" : "preparing");
    await pause(ASK_EVERY_MS, undefined, { signal: interrupted }).catch(() => {});
  }
}

/** What WhatsApp wants, in the gateway's words. */
async function whyNot(gateway: GatewayClient, number: string): Promise<string> {
  const { data } = await gateway.get<{ data: { advice: string } }>(`/devices/${number}/why`);
  return data.advice;
}

async function askForQr(gateway: GatewayClient, number: string, method: "qr" | "code"): Promise<LinkAnswer> {
  try {
    return await gateway.post<LinkAnswer>("/generate-qr", { device: number, method });
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error;
    if (error.code !== "WRONG_NUMBER") throw error;
    const { scanned } = error.answer["errors"] as { scanned?: string };
    const who = scanned ? `the phone of ${showNumber(scanned)}` : "another phone";
    throw new Error(
      `The code was scanned with ${who}, not the phone of ${showNumber(number)}. That link was removed again. Run the command once more.`,
      { cause: error },
    );
  }
}
