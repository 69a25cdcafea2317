import { botBindings } from "../../../drizzle/schema.ts";
import { openOnceClear } from "../../store/sealed/once-clear.ts";
import { defineQuery } from "../../store/query.ts";
import type { SecretBox, Statement } from "../../store/store.ts";
import type { Binding } from "./binding-input.ts";

const SHAPE = {
  deviceId: botBindings.deviceId,
  botId: botBindings.botId,
  enabled: botBindings.enabled,
  priority: botBindings.priority,
  config: botBindings.config,
};
/** Those of all numbers, a page at a time. */
export const BINDINGS = defineQuery(
  `SELECT device_id, bot_id, enabled, priority, config FROM bot_bindings
WHERE (device_id, bot_id) > (?, ?) ORDER BY device_id, bot_id LIMIT ?`,
  SHAPE,
);
/** As many as there are bots. */
export const OF_NUMBER = defineQuery(
  "SELECT device_id, bot_id, enabled, priority, config FROM bot_bindings WHERE device_id = ? ORDER BY bot_id",
  SHAPE,
);
/** A binding as its row has it. @throws when its settings do not open */
export const fromRow = (
  box: Pick<SecretBox, "open">,
  { deviceId, botId, enabled, priority, config }: ReturnType<typeof OF_NUMBER.decode>[number],
): Binding => ({ id: botId, enabled, priority, config: openConfig(box, deviceId, botId, config) });

const configContext = (deviceId: number, botId: string): string => `bot-config:${deviceId}:${botId}`;

/** Settings of a bot at a number, as they are stored. @throws when they do not open */
export function openConfig(
  box: Pick<SecretBox, "open">,
  deviceId: number,
  botId: string,
  kept: Buffer | string | null,
) {
  if (kept === null) return null;
  const json = openOnceClear(box, kept, configContext(deviceId, botId));
  return JSON.parse(json) as Record<string, unknown>;
}

/** The statement that stores one. */
export function insert(
  box: SecretBox,
  deviceId: number,
  { id, enabled, priority, config }: Binding,
): Statement {
  return {
    sql: "insert into bot_bindings (device_id, bot_id, enabled, priority, config) values (?, ?, ?, ?, ?)",
    args: [
      deviceId,
      id,
      enabled ? 1 : 0,
      priority,
      config && box.sealJson(config, configContext(deviceId, id)),
    ],
  };
}
