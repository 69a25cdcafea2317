import { GatewayError } from "../../model/errors/errors.ts";
import type { App } from "../services.ts";

/** @throws INVALID_PARAMETERS naming every id that no bot has, or that stands there twice */
export async function requireKnownBots(app: App, bindings: { id: string }[]): Promise<void> {
  const known = new Set(app.bots.list().map(({ id }) => id));
  const fields: Record<string, string[]> = {};
  for (const [index, { id }] of bindings.entries()) {
    if (!known.has(id)) fields[`bots.${index}.id`] = ["There is no bot with this id."];
    else if (bindings.findIndex((other) => other.id === id) < index)
      fields[`bots.${index}.id`] = ["Is listed twice."];
  }
  if (Object.keys(fields).length > 0)
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });
}
