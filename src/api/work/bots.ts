import { GatewayError } from "../../model/errors/errors.ts";
import type { App } from "../services.ts";

/** @throws INVALID_PARAMETERS naming every id that no bot has, or that stands there twice */
export function requireKnownBots(
  app: Pick<App, "bots">,
  ids: string[],
  fieldOf: (index: number) => string,
): void {
  const known = new Set(app.bots.list().map(({ id }) => id));
  const fields: Record<string, string[]> = {};
  for (const [index, id] of ids.entries()) {
    if (!known.has(id)) fields[fieldOf(index)] = ["There is no bot with this id."];
    else if (ids.indexOf(id) < index) fields[fieldOf(index)] = ["Is listed twice."];
  }
  if (Object.keys(fields).length > 0)
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });
}

/** The same of bots that are bound to a number. */
export const requireKnownBindings = (app: App, bindings: { id: string }[]): void =>
  requireKnownBots(
    app,
    bindings.map(({ id }) => id),
    (index) => `bots.${index}.id`,
  );
