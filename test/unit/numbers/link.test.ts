import { describe, expect, it } from "vitest";
import { adviceFor, afterClose, reasonFor, type LinkState } from "../../../src/numbers/link.ts";
import { createLinkSession } from "../../../src/numbers/link-session.ts";
import { LinkingCodeRefused } from "../../../src/whatsapp/port.ts";
import { isSameNumber } from "../../../src/numbers/same-number.ts";

const linked = { linked: true, attempt: 0, random: 0.5 };
const unlinked = { linked: false, attempt: 0, random: 0.5 };
const close = (code: number, reason = "") => ({ code, reason });

const wait = (attempt: number, random: number) =>
  afterClose(close(428), { linked: true, attempt, random }).retryInMs;

describe("after a close", () => {
  it.each<[number, LinkState, number | null, boolean]>([
    [515, "connecting", 0, false],
    [401, "logged_out", null, true],
    [403, "blocked", null, false],
    [406, "blocked", null, false],
    [419, "blocked", null, false],
    [516, "logged_out", null, true],
    [409, "action_required", 600_000, false],
    [405, "action_required", 600_000, false],
    [408, "connecting", 500, false],
    [411, "action_required", null, false],
    [428, "connecting", 500, false],
    [440, "replaced", null, false],
    [500, "connecting", 500, false],
    [503, "connecting", 500, false],
    [0, "connecting", 500, false],
  ])("with %i a linked number is %s", (code, state, retryInMs, erase) => {
    expect(afterClose(close(code), linked)).toEqual({ state, retryInMs, erase });
  });

  it("comes back when a node that had the number before has replaced it, and rests when somebody else has", () => {
    expect(afterClose(close(440), { ...linked, contested: true })).toEqual({
      state: "connecting",
      retryInMs: 2_000,
      erase: false,
    });
    expect(afterClose(close(440), { ...unlinked, contested: true }).state).toBe("unlinked");
  });

  it("a linking whose QR codes are used up ends; one whose line broke goes on", () => {
    expect(afterClose(close(408, "QR refs attempts ended"), unlinked)).toMatchObject({
      state: "unlinked",
      retryInMs: null,
    });
    expect(afterClose(close(408, "Connection was lost"), unlinked)).toMatchObject({
      state: "linking",
      retryInMs: 500,
    });
    expect(afterClose(close(401), unlinked)).toMatchObject({ state: "unlinked", erase: true });
  });

  it("waits up to 1 s, 2 s, 4 s … 60 s, anywhere below", () => {
    expect([0, 1, 2, 5, 6, 50].map((attempt) => wait(attempt, 1))).toEqual([
      1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
    ]);
    expect(wait(6, 0.25)).toBe(15_000);
    expect(wait(6, 0)).toBe(200);
  });

  it("waits half a minute to a minute when WhatsApp has ended it because of too much, and says so", () => {
    const after = (random: number) => afterClose(close(429), { linked: true, attempt: 0, random });
    expect([0, 1].map((random) => after(random).retryInMs)).toEqual([30_100, 60_000]);
    expect(after(0).state).toBe("connecting");
    expect(reasonFor("connecting", { ...close(429), at: 0 }, null)).toBe("rate_limited");
  });

  it("has advice for every state, and its own for a refused version", () => {
    const states: LinkState[] = [
      "unlinked",
      "linking",
      "connecting",
      "connected",
      "logged_out",
      "blocked",
      "replaced",
      "action_required",
    ];
    for (const state of states) expect(adviceFor(state, null)).toMatch(/\.$/);
    expect(adviceFor("action_required", { ...close(405), at: 0 })).toContain("WHATSAPP_VERSION");
    expect(adviceFor("blocked", { ...close(402), at: 0, until: 1 })).toContain("reconnects on its own");
  });

  it("a ban is waited out where WhatsApp names its end, and not asked about otherwise", () => {
    expect(afterClose({ ...close(402), bannedForMs: 3_600_000 }, linked)).toEqual({
      state: "blocked",
      retryInMs: 3_600_000,
      erase: false,
    });
    expect(afterClose(close(402), linked)).toEqual({ state: "blocked", retryInMs: null, erase: false });
  });

  it.each<[LinkState, number, string | null]>([
    ["blocked", 402, "banned"],
    ["action_required", 405, "version"],
    ["action_required", 411, "phone"],
    ["replaced", 440, "replaced"],
    ["logged_out", 401, "removed"],
    ["logged_out", 516, "removed"],
    ["action_required", 409, "version"],
    ["connected", 428, null],
  ])("%s after %i has a word for it", (state, code, word) => {
    expect(reasonFor(state, { ...close(code), at: 0 }, null)).toBe(word);
  });
});

describe("after a close that WhatsApp gave no code for", () => {
  it.each(["unacknowledged", "malformed"] as const)(
    "a complaint (%s) is the reason, with a cure",
    (complaint) => {
      const lastClose = { ...close(500), at: 0, complaint };
      expect(reasonFor("connecting", lastClose, null)).toBe(complaint);
      expect(adviceFor("connecting", lastClose)).toMatch(/reconnecting.*update Parley/);
      // While what waited comes in, that is what there is to say.
      expect(reasonFor("connecting", lastClose, 3)).toBe("catching_up");
      expect(reasonFor("connected", lastClose, null)).toBeNull();
    },
  );
});

describe("what is shown for linking", () => {
  it("a code that WhatsApp has refused is not asked for again before the next connection", async () => {
    const session = createLinkSession();
    session.showQr("qr1", 60_000, 1_000);
    const refuse = () => Promise.reject(new LinkingCodeRefused(400));
    await expect(session.requestCode(refuse, () => 1_000)).rejects.toThrow("400");
    expect(session).toMatchObject({ code: null, codeRefused: 400 });
    session.hide();
    expect(session.codeRefused).toBeNull();
  });

  it("a code is made once for all who ask, and ends with the QR codes", async () => {
    const session = createLinkSession();
    session.showQr("qr1", 60_000, 1_000);
    session.showQr("qr2", 20_000, 61_000);
    let made = 0;
    const make = async () => `CODE${++made}`;
    await Promise.all([session.requestCode(make, () => 61_000), session.requestCode(make, () => 61_000)]);
    expect(session.code).toEqual({ text: "CODE1", expiresAt: 161_000 });
    expect(session.qr).toEqual({ text: "qr2", expiresAt: 81_000 });
    await session.requestCode(make, () => 162_000);
    expect(session.code?.text).toBe("CODE2");
    session.hide();
    expect(session.qr ?? session.code).toBeNull();
  });

  it("is abandoned when nobody has asked for three minutes", () => {
    const session = createLinkSession();
    session.asked(1_000);
    expect(session.isAbandoned(181_000)).toBe(false);
    expect(session.isAbandoned(181_001)).toBe(true);
  });
});

describe("numbers that WhatsApp spells in its own way", () => {
  it.each([
    ["5511987654321", "551187654321", true],
    ["5215512345678", "525512345678", true],
    ["5491112345678", "541112345678", true],
    ["31600000001", "31600000001", true],
    ["31600000001", "31600000002", false],
    ["5511987654321", "551187654322", false],
  ])("%s and %s: %s", (a, b, same) => {
    expect(isSameNumber(a, b)).toBe(same);
  });
});
