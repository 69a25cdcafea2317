import { randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";

/**
 * As long as answers are kept for those who ask again: within a session an id of a request never means a second one, and
 * nothing is done again because it was forgotten.
 */
export const MCP_SESSION_MS = DAY_MS;
const RANDOM_BYTES = 16;

/** Sessions of clients of the Model Context Protocol. */
export interface McpSessions {
  /** The id of a new session of a key. */
  open(keyId: string): string;
  /** Whether this is the id of a session of this key that has not ended. */
  isOpen(id: string, keyId: string): boolean;
}

/**
 * Nothing is kept of a session: its id says until when it lasts, and is signed. So any number of them cost nothing, every node
 * knows those of the others, and a restart ends none.
 */
export function createMcpSessions({ box, now }: Pick<Store, "box" | "now">): McpSessions {
  const sign = (payload: string, keyId: string): string =>
    box.hmac("mcp-session", `${keyId}:${payload}`).toString("base64url");
  return {
    open(keyId) {
      const payload = `${(now() + MCP_SESSION_MS).toString(36)}-${randomBytes(RANDOM_BYTES).toString("hex")}`;
      return `${payload}.${sign(payload, keyId)}`;
    },
    isOpen(id, keyId) {
      const [, payload = "", ends = "", given = ""] =
        /^(([0-9a-z]{1,12})-[0-9a-f]{32})\.([\w-]{43})$/.exec(id) ?? [];
      // Compared as text: the last of 43 characters has two bits that mean nothing.
      const right = sign(payload, keyId);
      if (given.length !== right.length || !timingSafeEqual(Buffer.from(given), Buffer.from(right)))
        return false;
      return now() < Number.parseInt(ends, 36);
    },
  };
}
