import { expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createNumberChecks } from "../../../src/directory/number-checks.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/model/time.ts";
import { createPaces } from "../../../src/directory/paces.ts";
import { createAllowances } from "../../../src/store/allowances.ts";
import type { CheckedNumber } from "../../../src/whatsapp/port.ts";
import { silentLog, temporaryStore } from "../store/temporary.ts";

const DEVICE = 1;
const log = silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" }));
const numbers = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => String(31_600_000_000 + first + index));

async function checksWith(answer: (asked: readonly string[]) => CheckedNumber[]) {
  let now = 1_700_000_000_000;
  const asked: string[][] = [];
  const line = {
    async checkNumbers(some: readonly string[]) {
      asked.push([...some]);
      return answer(some);
    },
  };
  const store = await temporaryStore({}, () => now);
  const checks = createNumberChecks({
    store,
    log,
    paces: createPaces(createAllowances(store), store),
    connection: () => line,
  });
  return { check: (some: string[]) => checks.check(DEVICE, some), asked, pass: (ms: number) => (now += ms) };
}

const everybody = (some: readonly string[]): CheckedNumber[] =>
  some.map((number) => ({ number, exists: true, lid: null }));

it("keeps an answer for a day, and asks about the others alone", async () => {
  const { check, asked, pass } = await checksWith(everybody);
  await check(numbers(2));
  pass(23 * HOUR_MS);
  expect((await check(numbers(3))).map(({ exists }) => exists)).toEqual([true, true, true]);
  pass(2 * HOUR_MS);
  await check(numbers(3));
  expect(asked).toEqual([numbers(2), numbers(1, 2), numbers(2)]);
});

it("does not keep what WhatsApp did not say, be it of one or of all", async () => {
  const { check, asked } = await checksWith((some) => everybody(some.slice(1)));
  expect(await check(numbers(2))).toMatchObject([{ exists: null, lid: null }, { exists: true }]);
  expect(await check(numbers(2))).toMatchObject([{ exists: null }, { exists: true }]);
  expect(asked).toEqual([numbers(2), numbers(1)]);

  const silent = await checksWith(() => {
    throw new Error("Timed Out");
  });
  expect(await silent.check(numbers(1))).toMatchObject([{ exists: null }]);
});

it("takes 500 questions in any hour, those without an answer counted, and says when there is room again", async () => {
  const { check, asked, pass } = await checksWith(() => []);
  for (let minute = 0; minute < 10; minute++, pass(MINUTE_MS)) await check(numbers(50));
  pass(20 * MINUTE_MS);
  // Ten more fit when the first fifty are an hour old; sixty when the second fifty are.
  await expect(check(numbers(10))).rejects.toMatchObject({
    code: "RATE_LIMITED",
    details: { retryAfter: 1_800 },
  });
  await expect(check(numbers(50, 50))).rejects.toMatchObject({ details: { retryAfter: 1_800 } });
  expect(asked).toHaveLength(10);
  pass(30 * MINUTE_MS + 1);
  await check(numbers(10));
  await check(numbers(40));
  await expect(check(numbers(1))).rejects.toMatchObject({ details: { retryAfter: 60 } });
  expect(asked).toHaveLength(12);
});

it("gives two requests at once no more than is left", async () => {
  const { check, asked } = await checksWith(() => []);
  for (let some = 0; some < 9; some++) await check(numbers(50));
  const both = await Promise.allSettled([check(numbers(30)), check(numbers(30, 30))]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(asked.flat()).toHaveLength(480);
});
