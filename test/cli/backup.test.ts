import Database from "libsql";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { list } from "tar";
import { describe, expect, it } from "vitest";
import { restoreBackup, type Restored } from "../../src/backup/restore.ts";
import { saveBackup } from "../../src/cli/save-backup.ts";
import { openStore } from "../../src/store/open.ts";
import type { Statement, Store } from "../../src/store/store.ts";
import { forgetRatchets } from "../../src/whatsapp/signal/rollback.ts";
import { runCommand } from "../_setup/command.ts";
import { freePort } from "../_setup/free-port.ts";
import { configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";
import { rawRows } from "../unit/store/rows.ts";

const HOUR_MS = 3_600_000;
const MEDIA_ID = `mf_${"0".repeat(23)}1`;
const CREDS = {
  me: { id: "31600000001:7@s.whatsapp.net", lid: "90000000000001:7@lid" },
  nextPreKeyId: 813,
  firstUnuploadedPreKeyId: 813,
  noiseKey: { private: "kept as it is" },
};
const KEYS = [
  ["session", "90000000000009_1.0"],
  ["sender-key-memory", "1203@g.us"],
  ["device-list", "90000000000009"],
  ["sender-key", "1203@g.us::90000000000001_1::7"],
  ["sender-key", "1203@g.us::31600000001::7"],
  ["sender-key", "1203@g.us::90000000000001_1::0"],
  ["sender-key", "1203@g.us::90000000000009_1::0"],
  ["pre-key", "812"],
  ["identity-key", "90000000000009_1.0"],
  ["app-state-sync-key", "AAAA"],
  ["tctoken", "90000000000009@lid"],
] as const;
/** What is left of {@link KEYS} after a restore. */
const KEPT = [
  "app-state-sync-key AAAA",
  "identity-key 90000000000009_1.0",
  "pre-key 812",
  "sender-key 1203@g.us::90000000000001_1::0",
  "sender-key 1203@g.us::90000000000009_1::0",
  "tctoken 90000000000009@lid",
];

function rowsOf({ box }: Store, now: number): Statement[] {
  const send = (waId: string, createdAt: number): Statement => ({
    sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
      VALUES (1, ?, 'c', 'j', '4915', 'text', 'api', 0, ?, ?)`,
    args: [waId, box.sealJson({ kind: "text", text: waId }, `outbox:1:${waId}`), createdAt],
  });
  return [
    { sql: "INSERT INTO accounts (id, name, plan, created_at) VALUES ('a', 'Shop', 'pro', 1)", args: [] },
    {
      sql: "INSERT INTO devices (account_id, number, since, created_at) VALUES ('a', '31600000001', 1, 1)",
      args: [],
    },
    {
      sql: "INSERT INTO wa_creds (device_id, value, updated_at) VALUES (1, ?, 1)",
      args: [box.sealJson(CREDS, "wa_creds:1")],
    },
    ...KEYS.map(([type, id]) => ({
      sql: "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, ?, ?, ?, 1)",
      args: [type, id, box.seal("key", `wa_keys:1:${type}:${id}`)],
    })),
    {
      sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (1, '9', '4915', 1)",
      args: [],
    },
    {
      sql: "INSERT INTO media_files (id, device_id, path, meta, created_at) VALUES (?, 1, ?, ?, 1)",
      args: [MEDIA_ID, `media/${MEDIA_ID}`, box.sealJson({}, `media:${MEDIA_ID}:meta`)],
    },
    send("OLD", now - 2 * HOUR_MS),
    send("YOUNG", now - HOUR_MS / 2),
  ];
}

/** A data folder that was in use. */
async function usedFolder(env: Record<string, string> = {}): Promise<string> {
  const dataDir = temporaryFolder();
  const config = configFor(dataDir, env);
  const store = await openStore(config, silentLog(config));
  await store.writer.commit(rowsOf(store, Date.now()));
  await store.close();
  mkdirSync(join(dataDir, "media/in"), { recursive: true });
  writeFileSync(join(dataDir, "media", MEDIA_ID), "ciphertext of a picture");
  writeFileSync(join(dataDir, "media", `mf_${"0".repeat(23)}2`), "of a message that was forgotten");
  writeFileSync(join(dataDir, "media/in/1-1"), "can be loaded from WhatsApp again");
  return dataDir;
}

/** Of a gateway that does not run. */
async function backedUp(dataDir: string, withKey = false, env: Record<string, string> = {}): Promise<string> {
  const port = String(await freePort());
  const file = join(temporaryFolder(), "parley.tar");
  const { path } = await saveBackup(file, withKey, { DATA_DIR: dataDir, PORT: port, ...env });
  return path;
}

function restore(
  archive: string,
  dataDir: string,
  options: { force?: boolean; resend?: boolean; env?: Record<string, string> } = {},
): Promise<Restored> {
  const { force = false, resend = false, env = {} } = options;
  const config = configFor(dataDir, env);
  return restoreBackup({ config, archive, force, resend, now: Date.now, forgetRatchets });
}

const copyKey = (from: string, to: string): void => cpSync(join(from, "master-key"), join(to, "master-key"));

async function read<T>(dataDir: string, look: (store: Store) => Promise<T>): Promise<T> {
  const config = configFor(dataDir);
  const store = await openStore(config, silentLog(config));
  return look(store).finally(() => store.close());
}

const accountNames = (store: Store) => rawRows(store, "SELECT name FROM accounts", []);

async function entries(archive: string): Promise<string[]> {
  const found: string[] = [];
  await list({ file: archive, onReadEntry: (entry) => void found.push(entry.path) });
  return found;
}

describe("a backup", () => {
  it("holds the database and the files that are to be sent, no key, and is for this user alone", async () => {
    const dataDir = await usedFolder();

    const archive = await backedUp(dataDir);

    expect(await entries(archive)).toEqual(["manifest.json", "parley.db", `media/${MEDIA_ID}`]);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    const key = readFileSync(join(dataDir, "master-key"), "utf8").trim();
    expect(readFileSync(archive).includes(key)).toBe(false);
    expect(readFileSync(archive).includes(Buffer.from(key, "base64"))).toBe(false);
    expect(readdirSync(join(dataDir, "backup"))).toEqual([]);
  });

  it("has the key on demand, and is then enough by itself", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir, true);
    const elsewhere = temporaryFolder();

    await restore(archive, elsewhere);

    expect(readFileSync(join(elsewhere, "master-key"))).toEqual(readFileSync(join(dataDir, "master-key")));
    expect(statSync(join(elsewhere, "master-key")).mode & 0o777).toBe(0o600);
    expect(await read(elsewhere, (store) => rawRows(store, "SELECT * FROM devices", []))).toHaveLength(1);
  });

  it.each([
    ["", ""],
    ["with a trailing slash", "/"],
  ])("makes the folder that it is saved in, and the next one lies beside it %s", async (_how, end) => {
    const env = { DATA_DIR: await usedFolder(), PORT: String(await freePort()) };
    const folder = join(temporaryFolder(), "backups", "of.the.shop");

    const first = await saveBackup(folder + end, false, env);
    const second = await saveBackup(folder + end, false, env);

    const saved = [first, second].map(({ path }) => path);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual(saved.toSorted());
    for (const name of readdirSync(folder)) expect(name).toMatch(/^parley-.*\.tar$/);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("makes the folder of a file that is named", async () => {
    const env = { DATA_DIR: await usedFolder(), PORT: String(await freePort()) };
    const file = join(temporaryFolder(), "backups", "shop.tar");

    const { path } = await saveBackup(file, false, env);

    expect(path).toBe(file);
    expect(statSync(file).isFile()).toBe(true);
  });

  it("is not written over a file, and says where no gateway and no data is", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    const env = { DATA_DIR: dataDir, PORT: String(await freePort()) };
    await expect(saveBackup(archive, false, env)).rejects.toThrow(`${archive} already exists`);

    const nothing = join(temporaryFolder(), "nothing");
    const folder = temporaryFolder();
    await expect(saveBackup(folder, false, { ...env, DATA_DIR: nothing })).rejects.toThrow(
      "No Parley gateway answers",
    );
    expect(existsSync(nothing)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a restore", () => {
  it("gives other ids when one backup is restored a second time", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    const nextIds = async (): Promise<number[]> => {
      const elsewhere = temporaryFolder();
      copyKey(dataDir, elsewhere);
      await restore(archive, elsewhere);
      return read(elsewhere, async (store) => {
        const [creds] = await rawRows(store, "SELECT value FROM wa_creds", []);
        const value = new Uint8Array(creds!.value as ArrayBuffer);
        const rows = await rawRows(store, "SELECT seq FROM sqlite_sequence ORDER BY name", []);
        const { nextPreKeyId } = store.box.openJson<typeof CREDS>(value, "wa_creds:1");
        return [nextPreKeyId, ...rows.map(({ seq }) => Number(seq))];
      });
    };
    const first = await nextIds();
    const second = await nextIds();
    expect(first.length).toBeGreaterThan(3);
    for (const [index, id] of second.entries()) expect(Math.abs(id - first[index]!)).toBeGreaterThan(1_000);
  });

  it("forgets the ratchets that moved on, keeps the link, and never gives out an id twice", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    const elsewhere = temporaryFolder();
    copyKey(dataDir, elsewhere);

    const restored = await restore(archive, elsewhere);

    expect(restored).toMatchObject({ linked: 1, aside: null });
    await read(elsewhere, async (store) => {
      const keys = await rawRows(store, "SELECT type, id FROM wa_keys ORDER BY type, id", []);
      expect(keys.map(({ type, id }) => `${String(type)} ${String(id)}`)).toEqual(KEPT);
      const [creds] = await rawRows(store, "SELECT value FROM wa_creds", []);
      const opened = store.box.openJson<typeof CREDS>(
        new Uint8Array(creds!.value as ArrayBuffer),
        "wa_creds:1",
      );
      expect(opened).toEqual({
        ...CREDS,
        nextPreKeyId: opened.nextPreKeyId,
        firstUnuploadedPreKeyId: opened.nextPreKeyId,
      });
      expect(opened.nextPreKeyId).toBeGreaterThan(CREDS.nextPreKeyId + 10_000);
      expect(await rawRows(store, "SELECT * FROM lid_map", [])).toHaveLength(1);
      const [inbox] = await store.writer.commit([
        {
          sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body)
            VALUES (1, 'c', 's', 'w', 0, 'text', 1, 1, x'00') RETURNING id`,
          args: [],
        },
      ]);
      expect(Number(inbox!.rows[0]!.id)).toBeGreaterThan(1_000_000);
    });
    expect(readFileSync(join(elsewhere, "media", MEDIA_ID), "utf8")).toBe("ciphertext of a picture");
    expect(readdirSync(elsewhere)).not.toContain("restore");
  });

  it("sends what waited for less than an hour once more; what is older expires, unless it is asked for", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    const states = (folder: string) =>
      read(folder, async (store) => {
        const rows = await rawRows(store, "SELECT wa_id, state FROM outbox ORDER BY id", []);
        return Object.fromEntries(rows.map((row) => [row.wa_id, row.state]));
      });

    const careful = await restore(archive, dataDir, { force: true });
    expect(careful).toMatchObject({ waiting: 1, expired: 1 });
    expect(await states(dataDir)).toEqual({ OLD: "expired", YOUNG: "queued" });
    const ended = "SELECT wa_id FROM outbox WHERE ended_at IS NOT NULL";
    expect(await read(dataDir, (store) => rawRows(store, ended, []))).toMatchObject([{ wa_id: "OLD" }]);

    expect(await restore(archive, dataDir, { force: true, resend: true })).toMatchObject({
      waiting: 2,
      expired: 0,
    });
    expect(await states(dataDir)).toEqual({ OLD: "queued", YOUNG: "queued" });
  });

  it("leaves data alone without --force, and moves it aside with it", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    await read(dataDir, (store) =>
      store.writer.commit([{ sql: "UPDATE accounts SET name = 'Later'", args: [] }]),
    );

    await expect(restore(archive, dataDir)).rejects.toThrow("already has data");
    expect(await read(dataDir, accountNames)).toMatchObject([{ name: "Later" }]);
    const { aside } = await restore(archive, dataDir, { force: true });

    expect(await read(dataDir, accountNames)).toMatchObject([{ name: "Shop" }]);
    copyKey(dataDir, aside!);
    expect(await read(aside!, accountNames)).toMatchObject([{ name: "Later" }]);
    expect(readFileSync(join(aside!, "media/in/1-1"), "utf8")).toBe("can be loaded from WhatsApp again");
  });

  it("refuses while a gateway runs on the data", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    await read(dataDir, async () => {
      await expect(restore(archive, dataDir, { force: true })).rejects.toThrow("is in use by another Parley");
    });
  });

  it("refuses a backup that no key fits, whoever gives the wrong one", async () => {
    const archive = await backedUp(await usedFolder());
    const elsewhere = temporaryFolder();
    await expect(restore(archive, elsewhere)).rejects.toThrow("No master key fits the backup");
    const env = { PARLEY_MASTER_KEY: Buffer.alloc(32, 1).toString("base64") };
    await expect(restore(archive, elsewhere, { env })).rejects.toThrow("No master key fits the backup");
    expect(existsSync(join(elsewhere, "parley.db"))).toBe(false);
  });

  it("finds the key of before when the master key was changed since", async () => {
    const dataDir = await usedFolder();
    const old = readFileSync(join(dataDir, "master-key"), "utf8");
    const archive = await backedUp(dataDir);
    const { code } = await runCommand({ env: { DATA_DIR: dataDir } }, "rotate-key");
    expect(code).toBe(0);
    const changed = readFileSync(join(dataDir, "master-key"), "utf8");
    expect(changed).not.toBe(old);

    await restore(archive, dataDir, { force: true });

    expect(readFileSync(join(dataDir, "master-key"), "utf8")).toBe(old);
    expect(await read(dataDir, (store) => rawRows(store, "SELECT * FROM devices", []))).toHaveLength(1);
    const kept = readdirSync(dataDir).filter((name) => name.startsWith("master-key.until-"));
    expect(kept.map((name) => readFileSync(join(dataDir, name), "utf8"))).toContain(changed);
  });

  it("refuses a backup of a newer version", async () => {
    const dataDir = await usedFolder();
    const database = new Database(join(dataDir, "parley.db"));
    database.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('of tomorrow', 1)");
    database.close();
    const archive = await backedUp(dataDir);
    const elsewhere = temporaryFolder();
    copyKey(dataDir, elsewhere);
    await expect(restore(archive, elsewhere)).rejects.toThrow("newer or different version of Parley");
  });

  it("refuses what is damaged, cut off, foreign or missing, and changes nothing", async () => {
    const dataDir = await usedFolder();
    const archive = await backedUp(dataDir);
    const whole = readFileSync(archive);
    const before = readFileSync(join(dataDir, "parley.db"));
    const changed = (name: string, bytes: Buffer): string => {
      const path = join(temporaryFolder(), name);
      writeFileSync(path, bytes);
      return path;
    };
    const flipped = Buffer.from(whole);
    flipped[whole.indexOf("SQLite format 3") + 5_000]! ^= 1;
    const cut = changed("cut.tar", whole);
    truncateSync(cut, whole.length / 2);
    const wrong: [string, RegExp][] = [
      [changed("flipped.tar", flipped), /damaged: parley\.db differs from what was saved/],
      [cut, /damaged|incomplete/],
      [changed("foreign.tar", Buffer.from("no archive at all ".repeat(100))), /is not a backup of Parley/],
      [changed("empty.tar", Buffer.alloc(0)), /is not a backup of Parley|no usable manifest/],
      [
        changed(
          "later.tar",
          Buffer.from(whole.toString("latin1").replace('"format": 1', '"format": 2'), "latin1"),
        ),
        /newer Parley/,
      ],
      [join(temporaryFolder(), "missing.tar"), /There is no file/],
    ];

    for (const [file, reason] of wrong)
      await expect(restore(file, dataDir, { force: true })).rejects.toThrow(reason);

    expect(readFileSync(join(dataDir, "parley.db")).equals(before)).toBe(true);
    expect(readdirSync(dataDir).filter((name) => /restore/.test(name))).toEqual([]);
  });

  it.each(["before-restored-files", "after-files-aside", "after-restored-database"])(
    "killed %s, keeps the gateway from starting until it was done again",
    async (crashAt) => {
      const dataDir = await usedFolder();
      const archive = await backedUp(dataDir);
      const env = { DATA_DIR: dataDir };

      const { signal } = await runCommand({ env, crashAt }, "restore", archive, "--force");

      expect(signal).toBe("SIGKILL");
      await expect(read(dataDir, async () => null)).rejects.toThrow("was interrupted; run it again");
      await restore(archive, dataDir, { force: true });
      expect(await read(dataDir, (store) => rawRows(store, "SELECT * FROM devices", []))).toHaveLength(1);
      expect(existsSync(join(dataDir, "media", MEDIA_ID))).toBe(true);
    },
  );
});
