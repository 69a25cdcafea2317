import { command } from "../command.ts";
import type { GatewayClient } from "../gateway-client.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";
import { sentencesOf, webhookFailed, type ShownDecision, type ShownTrouble } from "../why.ts";

/** A decision, and the number that it was made at. */
interface Found {
  device: string;
  decision: ShownDecision;
}

/** `parley why [message]`: who decided about a message, or about the last ones, and what each bot said to it. */
export default command({
  meta: { name: "why", description: "Why a message was answered or not, and by whom" },
  args: {
    message: {
      type: "positional",
      description: "WhatsApp's id of the message; default: the latest messages",
      required: false,
    },
    chat: { type: "string", description: "Only this chat: digits of a number, or an id as Parley shows it" },
    last: { type: "string", description: "Number of latest messages, 1 to 100; default 10" },
    account: { type: "string", description: "Id or name of the account; default: the only one" },
    device: { type: "string", description: "Only this number, digits" },
  },
  async run({ args }) {
    const { message, chat, device: only } = args;
    const last = readLast(args.last);
    const asked = {
      ...(chat !== undefined && { chat }),
      ...(message ? { message } : { limit: String(last) }),
    };
    const operator = await findOperator();
    const account = await operator.account(args.account);
    const { found, troubles } = await operator.withKey(account, ["bots", "devices"], async (gateway) => {
      const decisions = await decisionsOf(gateway, new URLSearchParams(asked), only);
      return { found: decisions, troubles: await troublesOf(gateway, decisions) };
    });
    if (found.length === 0) throw new Error(nothing(message, chat));
    const sentences = ({ device, decision }: Found): string[] =>
      sentencesOf(decision, troubles.get(device) ?? null);
    const newest = found.toSorted((a, b) => (a.decision.at < b.decision.at ? -1 : 1)).slice(-last);
    for (const one of newest) {
      const { device, decision } = one;
      const { chat: from, type, at, message_id: id } = decision;
      say(`${paint.bold(`${type} from ${from} to ${device}, decided ${at}`)} ${paint.dim(id)}`);
      for (const sentence of sentences(one)) say(`  ${sentence}`);
    }
    return newest.map((one) => ({ device: one.device, ...one.decision, sentences: sentences(one) }));
  },
});

function readLast(text: string | undefined): number {
  if (text === undefined) return 10;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100) return Number(text);
  throw new Error("--last must be a whole number from 1 to 100.");
}

function nothing(message: string | undefined, chat: string | undefined): string {
  const where = chat === undefined ? "" : ` in the chat ${chat}`;
  return message
    ? `No number of this account has decided about a message ${message}${where}. For the latest messages: npm run parley -- why`
    : `No decisions${where} yet. A message is decided after it has arrived and bots were asked.`;
}

/** Of the numbers whose webhook has failed somebody here. */
async function troublesOf(
  gateway: GatewayClient,
  found: readonly Found[],
): Promise<Map<string, ShownTrouble>> {
  const failed = found.filter(({ decision }) => webhookFailed(decision));
  const troubles = new Map<string, ShownTrouble>();
  for (const device of new Set(failed.map((one) => one.device))) {
    const { data } = await gateway.get<{ data: { webhook: ShownTrouble | null } }>(`/devices/${device}/why`);
    if (data.webhook !== null) troubles.set(device, data.webhook);
  }
  return troubles;
}

async function decisionsOf(
  gateway: GatewayClient,
  asked: URLSearchParams,
  only: string | undefined,
): Promise<Found[]> {
  const devices = (await gateway.all<{ device: string }>("/devices"))
    .map(({ device }) => device)
    .filter((device) => only === undefined || device === only);
  const found = devices.map(async (device) => {
    const answer = await gateway.get<{ data: ShownDecision[] }>(`/devices/${device}/decisions?${asked}`);
    return answer.data.map((decision) => ({ device, decision }));
  });
  return (await Promise.all(found)).flat();
}
