import { describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import {
  breakerPause,
  nextPause,
  readRetryAfter,
  resultOf,
} from "../../../src/webhooks/attempts/schedule.ts";
import { createSecret, signedHeaders } from "../../../src/webhooks/events/sign.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

describe("when the next attempt is made", () => {
  it("follows the table, ten attempts in all", () => {
    expect(PAUSES.map((_, index) => nextPause(index + 1, null, () => 0.5))).toEqual(PAUSES);
    expect(nextPause(10, null)).toBeNull();
    expect(nextPause(11, 5000)).toBeNull();
  });

  it("varies by a fifth to both sides", () => {
    expect(nextPause(2, null, () => 0)).toBe(4 * MINUTE);
    expect(nextPause(2, null, () => 1)).toBe(6 * MINUTE);
  });

  it("a longer Retry-After replaces it, up to a day; a shorter one does not", () => {
    expect(nextPause(1, 90 * SECOND, () => 0)).toBe(90 * SECOND);
    expect(nextPause(2, 90 * SECOND, () => 0.5)).toBe(5 * MINUTE);
    expect(nextPause(1, 1000 * HOUR, () => 0.5)).toBe(24 * HOUR);
  });

  it.each([
    ["120", 120 * SECOND],
    [" 0 ", 0],
    ["Thu, 01 Jan 2026 00:02:00 GMT", 120 * SECOND],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", null],
    ["-5", null],
    ["1.5", null],
    [null, null],
  ])("Retry-After: %s", (header, expected) => {
    expect(readRetryAfter(header, Date.UTC(2026, 0, 1))).toBe(expected);
  });
});

describe("how long a breaker is open", () => {
  it("a tenth of the outage, from 10 s to 5 min, and a fifth more or less", () => {
    const outages = [0, 100 * SECOND, 10 * MINUTE, 50 * MINUTE, 1000 * HOUR];
    const pauses = outages.map((outage) => breakerPause(outage, null, () => 0.5));
    expect(pauses).toEqual([10 * SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 5 * MINUTE]);
    expect(breakerPause(0, null, () => 0)).toBe(8 * SECOND);
    expect(breakerPause(0, null, () => 1)).toBe(12 * SECOND);
  });

  it("as long as Retry-After says when that is longer, up to an hour", () => {
    expect(breakerPause(0, 90 * SECOND, () => 0.5)).toBe(90 * SECOND);
    expect(breakerPause(HOUR, 90 * SECOND, () => 0.5)).toBe(5 * MINUTE);
    expect(breakerPause(0, 24 * HOUR, () => 0.5)).toBe(HOUR);
  });
});

describe("what a status means", () => {
  it.each([
    [[200, 201, 204, 299], "accepted"],
    [[301, 302, 307, 408, 425, 429, 500, 502, 503, 504, 599], "retry"],
    [[400, 401, 403, 404, 405, 409, 422, 451], "refused"],
    [[410], "gone"],
  ] as const)("%j: %s", (statuses, verdict) => {
    for (const status of statuses) expect(resultOf(status)).toBe(verdict);
  });
});

describe("signatures", () => {
  const body = '{"message":"Grüße 👋"}';
  const id = "msg_0123456789abcdef";

  it("are those of Standard Webhooks, for each secret that signs", () => {
    const [newer, older] = [createSecret(), createSecret()];
    const headers = signedHeaders([newer, older], id, Date.now(), body);
    for (const secret of [newer, older]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(createSecret()).verify(body, headers)).toThrow("No matching signature found");
    expect(() => new Webhook(newer).verify(`${body} `, headers)).toThrow("No matching signature found");
  });

  it("carry the time of the attempt: an old one does not verify any more", () => {
    const secret = createSecret();
    const headers = signedHeaders([secret], id, Date.now() - 10 * MINUTE, body);
    expect(() => new Webhook(secret).verify(body, headers)).toThrow(/too old/);
  });

  it("secrets are random and long", () => {
    const secret = createSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(createSecret()).not.toBe(secret);
  });
});
