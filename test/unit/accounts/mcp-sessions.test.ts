import { describe, expect, it } from "vitest";
import { createMcpSessions, MCP_SESSION_MS } from "../../../src/accounts/mcp-sessions.ts";
import { temporaryStore } from "../store/temporary.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

async function setUp() {
  const clock = { now: NOW };
  const store = await temporaryStore({}, () => clock.now);
  return { clock, sessions: createMcpSessions(store), node: createMcpSessions(store) };
}

describe("a session of an MCP client", () => {
  it("is known to every node, until it has lasted as long as answers are remembered", async () => {
    const { clock, sessions, node } = await setUp();
    const id = sessions.open("key-1");
    expect([sessions.isOpen(id, "key-1"), node.isOpen(id, "key-1")]).toEqual([true, true]);
    expect(sessions.open("key-1")).not.toBe(id);
    clock.now = NOW + MCP_SESSION_MS - 1;
    expect(sessions.isOpen(id, "key-1")).toBe(true);
    clock.now = NOW + MCP_SESSION_MS;
    expect(sessions.isOpen(id, "key-1")).toBe(false);
  });

  it("is its key's alone, and cannot be made up or made longer", async () => {
    const { sessions } = await setUp();
    const id = sessions.open("key-1");
    const [payload, signature] = id.split(".");
    const [ends, random] = payload!.split("-");
    const later = (Number.parseInt(ends!, 36) + 1).toString(36);
    for (const made of [
      "",
      "1",
      payload!,
      `${payload}.`,
      `${later}-${random}.${signature}`,
      `${payload}.${signature!.slice(0, -1)}`,
      `${payload}.${signature!.slice(0, -1)}${signature!.endsWith("A") ? "B" : "A"}`,
      `${id}\n`,
    ])
      expect([made, sessions.isOpen(made, "key-1")]).toEqual([made, false]);
    expect(sessions.isOpen(id, "key-2")).toBe(false);
    // Printable, as headers have to be.
    expect(id).toMatch(/^[\x21-\x7e]{1,128}$/);
  });
});
