import { describe, expect, it } from "vitest";
import type { MissingMessage } from "../../../src/whatsapp/port.ts";
import { createMissing } from "../../../src/whatsapp/signal/missing.ts";

const STANZA = { id: "M1", from: "3155@s.whatsapp.net", t: "soon" };

/** What is noted of one connection. */
function openMissing() {
  const noted: MissingMessage[] = [];
  const missing = createMissing({
    deviceId: 1,
    witness: { missing: async (_deviceId, message) => void noted.push(message) },
    own: () => ({ pn: "3160@s.whatsapp.net", lid: null }),
    numbersOfLids: async () => new Map(),
    onFailed: () => undefined,
  });
  return { noted, missing };
}

describe("a stanza that Baileys refuses without a look at it", () => {
  it("is missing, as far as it says what it is", async () => {
    const { noted, missing } = openMissing();
    await missing.refused(STANZA);
    await missing.refused({ from: STANZA.from });
    await missing.refused({ id: "M2" });
    expect(noted).toMatchObject([
      { id: "M1", chat: STANZA.from, sender: STANZA.from, timestamp: 0, reason: "undecryptable" },
    ]);
  });

  it("fills nothing, however many of them come", async () => {
    const { noted, missing } = openMissing();
    for (let n = 0; n < 500; n++) await missing.refused({ ...STANZA, id: `M${n}` });
    expect(noted).toHaveLength(100);
  });
});
