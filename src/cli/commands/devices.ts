import { defineCommand } from "citty";
import { command } from "../command.ts";
import { findOperator, type Operator } from "../operator.ts";
import type { GatewayClient } from "../gateway-client.ts";
import { paint, say } from "../plainly.ts";
import { showNumber, showTable } from "../terminal.ts";

const account = { type: "string", description: "Id or name of the account" } as const;
const number = { type: "positional", description: "The number, digits", required: true } as const;

interface Device {
  device: string;
  state: string;
  since: string;
  name: string | null;
  last_in: string | null;
  last_out: string | null;
}

interface ShownWhy {
  state: string;
  since: string;
  last_close: { code: number; reason: string; at: string } | null;
  next_retry_at: string | null;
  advice: string | null;
}

async function asAccount<T>(
  operator: Operator,
  named: string | undefined,
  work: (gateway: GatewayClient) => Promise<T>,
): Promise<T> {
  return operator.withKey(await operator.account(named), ["devices"], work);
}

const list = command({
  meta: { name: "list", description: "Numbers of an account and their states" },
  args: { account },
  async run({ args }) {
    const operator = await findOperator();
    const { id } = await operator.account(args.account);
    const devices = await operator.gateway.all<Device>(`/admin/accounts/${id}/devices`);
    const rows = devices.map((device) => [
      device.device,
      device.state,
      device.since,
      device.name ?? "",
      device.last_in ?? "never",
      device.last_out ?? "never",
    ]);
    const heading = ["NUMBER", "STATE", "SINCE", "NAME", "LAST IN", "LAST OUT"];
    say(showTable(paint, heading, rows) || "No numbers yet. Link one: npm run parley -- link <number>");
    return devices;
  },
});

const why = command({
  meta: { name: "why", description: "Why a number is in its state" },
  args: { number, account },
  async run({ args }) {
    const path = `/devices/${encodeURIComponent(args.number)}/why`;
    const { data } = await asAccount(await findOperator(), args.account, (gateway) =>
      gateway.get<{ data: ShownWhy }>(path),
    );
    say(`${showNumber(args.number)} is ${paint.bold(data.state)} since ${data.since}.`);
    if (data.last_close) {
      const { code, reason, at } = data.last_close;
      say(`The last connection closed at ${at}: ${reason} (${code}).`);
    }
    if (data.next_retry_at) say(`The next attempt is at ${data.next_retry_at}.`);
    if (data.advice) say(data.advice);
    return data;
  },
});

const logout = command({
  meta: { name: "logout", description: "Log out a number; its record and webhook stay" },
  args: { number, account },
  async run({ args }) {
    const path = `/devices/${encodeURIComponent(args.number)}/logout`;
    await asAccount(await findOperator(), args.account, (gateway) => gateway.post(path));
    say(`${showNumber(args.number)} is unlinked.`);
    return { device: args.number, state: "unlinked" };
  },
});

export default defineCommand({
  meta: { name: "devices", description: "Linked numbers" },
  subCommands: { list, why, logout },
});
