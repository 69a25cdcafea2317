import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lineOf, stepText } from "../../../src/console/screens/chats/why/steps.ts";
import type { TraceStep } from "../../../src/console/screens/chats/records.ts";
import english from "../../../src/console/locales/en/chats.json" with { type: "json" };
import { SILENCE_REASONS } from "../../../src/conversations/silence.ts";
import { CAME_OUTCOMES } from "../../../src/conversations/trace.ts";
import { stepsOf, TRACE_STEPS } from "../../../src/conversations/trace-steps.ts";
import { MESSAGE_STATES } from "../../../src/model/messages.ts";

/** What the pipeline says of a commit, and the guards that it asks, as their own files list them. */
const way = readFileSync(new URL("../../../src/pipeline/way.ts", import.meta.url), "utf8");
const words = [...way.matchAll(/^ {2}\w+: "(\w+)",$/gm)].map(([, word]) => word!);
const guards = stepsOf(
  { id: "1", timestamp: 1, receivedAt: 1, type: "text", chat: "1" } as unknown as Parameters<
    typeof stepsOf
  >[0],
  { trail: [], guard: null, way: null, at: 1 } as unknown as Parameters<typeof stepsOf>[1],
)
  .filter(({ step }) => step === "guard")
  .map(({ by }) => by!.slice("guard:".length));

const text = (key: string, values: Record<string, unknown> = {}): string => {
  const found = key
    .split(".")
    .slice(1)
    .reduce<any>((texts, part) => texts?.[part], english);
  return typeof found === "string" ? found.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name])) : key;
};
const step = (one: Partial<TraceStep>): TraceStep => ({ step: "asked", at: null, ms: null, ...one });

describe("the way of a message", () => {
  it.each([
    ["silence", SILENCE_REASONS],
    ["steps", TRACE_STEPS],
    ["guards", guards],
    ["held", [...new Set([...words, "ratchet", "ciphertext_hash", "inbox", "votes", "decision"])]],
    ["outcomes", CAME_OUTCOMES],
    ["states", MESSAGE_STATES],
  ] as const)("has words for every %s that the gateway tells of", (area, all) => {
    expect(all.length).toBeGreaterThan(3);
    const known = english[area] as Record<string, string>;
    expect(
      all.filter((one) => known[one] === undefined),
      `Give src/console/locales/*/chats.json ${area} these texts.`,
    ).toEqual([]);
  });

  it("is one line to its end: guards by name, every route, the reply's id, delivered and read", () => {
    const at = "2026-01-01T00:00:00.000Z";
    const line = lineOf(
      [
        step({ step: "stored", at }),
        step({ step: "guard", by: "guard:own", outcome: "passed" }),
        step({ step: "guard", by: "guard:muted", outcome: "passed" }),
        step({ step: "guard", by: "guard:takeover", outcome: "not_asked" }),
        ...Array.from({ length: 15 }, (_, n) => step({ by: `bot:b${n}`, outcome: "passed" })),
        step({ step: "attempt", count: 1 }),
        step({ step: "reply", by: "bot:b", at, id: "3EB0" }),
        step({ step: "delivered", at }),
        step({ step: "read", at }),
      ],
      text,
    );
    expect(line[1]).toEqual({ text: "Let through by: own messages, mute", at: null, id: null });
    expect(line).toHaveLength(1 + 1 + 15 + 3);
    expect(line.at(-3)).toMatchObject({ at, id: "3EB0" });
    expect(line.slice(-2).map((part) => part.text)).toEqual(["Delivered", "Read"]);
  });

  it("names the guard that held it, also one of another version", () => {
    expect(stepText(step({ step: "guard", by: "guard:loop_guard", outcome: "held" }), text)).toBe(
      "Held by loop guard",
    );
    expect(stepText(step({ step: "guard", by: "guard:weather", outcome: "held" }), text)).toBe(
      "Held by weather",
    );
  });
});
