import { defineCommand } from "citty";
import type { GatewayClient } from "../gateway-client.ts";
import { findOperator } from "../operator.ts";
import { paint, plainly, say } from "../plainly.ts";
import { sentencesOf, type Decision } from "../why.ts";

/** `parley why <message>`: who decided about a message, and what each bot said to it. */
export default defineCommand({
  meta: { name: "why", description: "Why a message was answered or not, and by whom" },
  args: {
    message: { type: "positional", description: "WhatsApp's id of the message", required: true },
    account: { type: "string", description: "Id or name of the account; default: the only one" },
    device: { type: "string", description: "Only of this number, digits" },
  },
  run: plainly(async ({ args }) => {
    const operator = await findOperator();
    const account = await operator.account(args.account);
    const found = await operator.withKey(account, ["bots", "devices"], (gateway) =>
      decisionsOf(gateway, args.message, args.device),
    );
    if (found.length === 0)
      throw new Error(
        `No number of this account has decided about a message ${args.message}. GET /devices/{number}/decisions lists them.`,
      );
    for (const { device, decision } of found) {
      const { chat, type, at } = decision;
      say(paint.bold(`${type} from ${chat} to ${device}, decided ${at}`));
      for (const sentence of sentencesOf(decision)) say(`  ${sentence}`);
    }
  }),
});

async function decisionsOf(
  gateway: GatewayClient,
  message: string,
  only: string | undefined,
): Promise<{ device: string; decision: Decision }[]> {
  const devices = (await gateway.all<{ device: string }>("/devices"))
    .map(({ device }) => device)
    .filter((device) => only === undefined || device === only);
  const found = devices.map(async (device) => {
    const path = `/devices/${device}/decisions?message=${encodeURIComponent(message)}`;
    const answer = await gateway.get<{ data: Decision[] }>(path);
    return answer.data.map((decision) => ({ device, decision }));
  });
  return (await Promise.all(found)).flat();
}
