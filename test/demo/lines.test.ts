import { expect, it } from "vitest";
import { createLines } from "../../src/demo/playground/lines.ts";
import type { AcceptedMessage, TranscriptEntry } from "../../src/simulator/types.ts";

const ANA = "31600000002";
const SHOP = "31600000001";

/** As the simulator tells it. */
const entry = (id: string, direction: TranscriptEntry["direction"], from: string): TranscriptEntry =>
  ({
    id,
    direction,
    from,
    to: from === ANA ? SHOP : ANA,
    chat: from === ANA ? ANA : SHOP,
    at: 1,
    device: direction === "to_companion" ? 1 : 0,
    decrypted: true,
    kind: "text",
    text: id,
  }) as TranscriptEntry;

it("what was written stands above its answer, with what came of it, also when both are known before it is shown", () => {
  const lines = createLines();
  const note = { kind: "warning" as const, text: "no price", places: [] };
  // The gateway itself tells it, and may be faster than the transcript.
  lines.note("QUESTION", note);
  lines.came(entry("QUESTION", "to_companion", ANA));
  lines.came(entry("ANSWER", "to_contact", SHOP));
  const why = { outcome: "answered", silence: null, by: "bot:echo" };
  lines.explain("QUESTION", why);
  lines.wrote(ANA, { id: "QUESTION", at: 1, chat: SHOP, kind: "text", text: "?" } as AcceptedMessage, true);

  const shown = lines.ofChat(ANA, SHOP).toSorted((one, other) => one.place - other.place);
  expect(shown.map(({ id, taken, why: said, notes }) => ({ id, taken, why: said, notes }))).toEqual([
    { id: "QUESTION", taken: true, why, notes: [note] },
    { id: "ANSWER", taken: null, why: null, notes: [] },
  ]);
  // Once, however often it is told.
  lines.note("QUESTION", note);
  lines.note("ANSWER", note);
  expect(lines.all().map(({ id, notes }) => [id, notes])).toEqual([
    ["ANSWER", [note]],
    ["QUESTION", [note]],
  ]);
});
