import type { Connection } from "../world/accounts.ts";
import { anyHook } from "./hooks.ts";
import type { Hooks } from "./hooks.ts";
import type { Movement, Reports, StanzaHandler } from "./ports.ts";

interface Needs extends Reports, Movement {
  hooks: Pick<Hooks, "received" | "handled">;
  /** Which handler takes which stanza, by its tag. */
  handlers: Record<string, StanzaHandler>;
}

/** Stanzas that a client may send before it is linked. */
const BEFORE_LOGIN = new Set(["iq", "ack", "ib", "presence"]);

/** Hands each stanza of a client to its handler. */
export function createRouter({ hooks, handlers, violations, changed }: Needs): StanzaHandler {
  return (connection, node) => {
    if (anyHook(hooks.received, connection, node)) return;
    const handler = handlers[node.tag];
    const who = nameOf(connection);
    if (!handler || (!connection.device && !BEFORE_LOGIN.has(node.tag))) {
      violations.report("unknown_stanza", who, `<${node.tag}> is not understood here`);
      return;
    }
    try {
      handler(connection, node);
    } catch (error) {
      // A fault of the simulator must show up in the test, and must not end the process for everybody else.
      violations.report("simulator_error", who, textOf(error));
    }
    for (const hook of hooks.handled.slice()) hook(connection, node);
    changed();
  };
}

/** Whose connection this is, as violations name it. */
export const nameOf = ({ device }: Connection): string => device?.label ?? "unlinked";

/** An error with its stack. */
export const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? "") : String(error);
