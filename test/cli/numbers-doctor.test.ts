import { describe, expect, it } from "vitest";
import { checkMigrations, checkNumbers } from "../../src/cli/doctor/numbers.ts";
import type { Config } from "../../src/config.ts";
import { openStore } from "../../src/store/open.ts";
import type { Statement } from "../../src/store/store.ts";
import { begunFolder, configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const MINUTE = 60_000;

/** A gateway's data with these rows. */
async function dataWith(...statements: Statement[]): Promise<Config> {
  const config = configFor(await begunFolder());
  const store = await openStore(config, silentLog(config));
  try {
    await store.writer.commit(statements, { owning: null });
  } finally {
    await store.close();
  }
  return config;
}

const number = (id: number, state: string, since = NOW - 10 * MINUTE, lastClose: object | null = null) => ({
  sql: `INSERT INTO devices (id, account_id, number, state, since, lid, last_close, created_at)
    VALUES (?, 'a', ?, ?, ?, '1@lid', ?, 1)`,
  args: [id, `3160000000${id}`, state, since, lastClose && JSON.stringify(lastClose)],
});
const webhook = (device: number, enabled: number, reason: string | null): Statement => ({
  sql: `INSERT INTO webhooks (device_id, url, mode, reply_to, events, headers, timeout_ms, reply_max_age, read, typing, enabled, secret,
    disabled_reason, updated_at) VALUES (?, x'00', 'always', 'chat', '[]', x'00', 1, 1, 0, 0, ?, x'00', ?, 1)`,
  args: [device, enabled, reason],
});
const listener = (id: string, device: number, enabled: number, reason: string | null): Statement => ({
  sql: `INSERT INTO listeners (id, device_id, url, events, headers, timeout_ms, enabled, secret, disabled_reason, created_at, updated_at)
    VALUES (?, ?, x'00', '[]', x'00', 1, ?, x'00', ?, 1, 1)`,
  args: [id, device, enabled, reason],
});

describe("the doctor of numbers", () => {
  it("names each that is logged out, blocked or away, and what to do", async () => {
    const config = await dataWith(
      number(1, "connected"),
      number(2, "logged_out"),
      number(3, "blocked", NOW, { code: 402, reason: "banned", at: NOW, until: NOW + MINUTE }),
      number(4, "connecting", NOW - 6 * MINUTE),
      number(5, "connecting", NOW - MINUTE),
      number(6, "replaced"),
    );
    const found = await checkNumbers(config, true, NOW);
    expect(found.map(({ name, state }) => `${name} ${state}`)).toEqual(Array(4).fill("number bad"));
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^\+31600000002 was logged out\. .*POST \/generate-qr/),
      expect.stringMatching(
        /^\+31600000003 is blocked: WhatsApp refuses it\. WhatsApp has banned this number/,
      ),
      expect.stringMatching(/^\+31600000004 has had no connection to WhatsApp for five minutes\./),
      expect.stringMatching(/^\+31600000006 is offline: another program uses its link\./),
    ]);
    // Of a gateway that was stopped, no number is online.
    const stopped = await checkNumbers(config, false, NOW);
    expect(stopped.map(({ text }) => text.slice(0, 12))).toEqual(["+31600000002", "+31600000003"]);
  });

  it("names webhooks and listeners that were switched off, and counts those whose owners did it", async () => {
    const config = await dataWith(
      ...[1, 2, 3].map((id) => number(id, "connected")),
      webhook(1, 0, "gone"),
      webhook(2, 0, null),
      listener("l1", 2, 0, "failing"),
      listener("l2", 3, 0, null),
      listener("l3", 3, 1, null),
    );
    expect(await checkNumbers(config, true, NOW)).toEqual([
      {
        name: "webhook",
        state: "bad",
        text: expect.stringMatching(
          /^The webhook of \+31600000001 was switched off: it answered 410 Gone\. Corr/,
        ),
      },
      {
        name: "webhook",
        state: "bad",
        text: expect.stringMatching(/^A listener of \+31600000002 was switched off: .*PATCH/),
      },
      { name: "webhooks", state: "note", text: expect.stringMatching(/^2 are switched off by their owners/) },
    ]);
  });

  it("says that all are well, names ten at most, and nothing where there are none", async () => {
    expect(await checkNumbers(await dataWith(number(1, "connected")), true, NOW)).toMatchObject([
      { name: "numbers", state: "good" },
    ]);
    const many = await dataWith(...Array.from({ length: 12 }, (_, id) => number(id + 1, "logged_out")));
    const found = await checkNumbers(many, true, NOW);
    expect(found).toHaveLength(11);
    expect(found.at(-1)!.text).toContain("2 more");
    expect(await checkNumbers(await dataWith(), true, NOW)).toEqual([]);
    expect(await checkNumbers(configFor(temporaryFolder()), true, NOW)).toEqual([]);
  });
});

describe("the doctor of migrations", () => {
  it("says how many wait for the next start", async () => {
    expect(await checkMigrations(await dataWith())).toMatchObject([{ name: "schema", state: "good" }]);
    const last =
      "DELETE FROM __drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)";
    const behind = await dataWith({ sql: last, args: [] });
    expect(await checkMigrations(behind)).toEqual([
      {
        name: "schema",
        state: "note",
        text: expect.stringMatching(/^1 migration waits .*make a backup, then restart/),
      },
    ]);
    expect(await checkMigrations(configFor(temporaryFolder()))).toEqual([]);
  });
});
