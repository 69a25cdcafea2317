import { createClient } from "@libsql/client";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../../src/config.ts";
import { StartError } from "../../../src/model/errors/errors.ts";
import { migrationsFolder } from "../../../src/store/migrations.ts";
import { openStore } from "../../../src/store/open.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "./temporary.ts";
import { NODE_SETTINGS } from "./temporary-config.ts";
import { rawRows } from "./rows.ts";

const open = (dataDir: string, env: Environment = {}) => {
  const config = configFor(dataDir, env);
  return openStore(config, silentLog(config));
};

/** The one line that a start ends with. */
async function refusal(dataDir: string, env: Environment = {}): Promise<string> {
  const error = await open(dataDir, env).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StartError);
  const { message } = error as StartError;
  expect(message).not.toContain("\n");
  return message;
}

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe("a first start", () => {
  it("makes folder, database and secrets that nobody else may read, and finds them again", async () => {
    const dataDir = join(temporaryFolder(), "deep", "data");

    const first = await open(dataDir);
    const sealed = first.box.seal("hello", "row");
    await first.close();
    const second = await open(dataDir);
    const opened = second.box.open(sealed, "row").toString();
    const sameToken = second.adminToken === first.adminToken;
    await second.close();

    expect(opened).toBe("hello");
    expect(sameToken).toBe(true);
    expect(first.adminToken).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(mode(dataDir)).toBe("700");
    for (const file of ["master-key", "admin-token", "parley.db"])
      expect(mode(join(dataDir, file))).toBe("600");
  });

  it("takes a folder that others may look into from them, and one that is not its own alone it leaves and names", async () => {
    const mine = temporaryFolder();
    chmodSync(mine, 0o755);
    await (await open(mine)).close();
    expect(statSync(mine).mode & 0o777).toBe(0o700);

    const shared = temporaryFolder();
    writeFileSync(join(shared, "letter.txt"), "of somebody");
    chmodSync(shared, 0o755);
    await (await open(shared)).close();
    expect(statSync(shared).mode & 0o777).toBe(0o755);
  });

  it("writes no secret that the environment gives", async () => {
    const dataDir = temporaryFolder();
    const key = randomBytes(32).toString("base64");
    const env = { PARLEY_MASTER_KEY: key, PARLEY_ADMIN_TOKEN: "operator-token-of-env" };

    const store = await open(dataDir, env);
    await store.close();

    expect(store.adminToken).toBe("operator-token-of-env");
    expect(readdirSync(dataDir)).not.toContain("master-key");
    expect(readdirSync(dataDir)).not.toContain("admin-token");
    for (const file of readdirSync(dataDir)) {
      const bytes = readFileSync(join(dataDir, file));
      expect(bytes.includes(Buffer.from(key, "base64"))).toBe(false);
      expect(bytes.includes(key)).toBe(false);
      expect(bytes.includes("operator-token-of-env")).toBe(false);
    }
  });

  it("goes on after one that was cut off at any point", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "parley.db"), "");
    writeFileSync(join(dataDir, "master-key"), `${randomBytes(32).toString("base64")}\n`, { mode: 0o644 });

    await (await open(dataDir)).close();
    const client = createClient({ url: `file:${join(dataDir, "parley.db")}` });
    await client.execute("DELETE FROM meta");
    client.close();
    await (await open(dataDir)).close();

    expect(mode(join(dataDir, "master-key"))).toBe("600");
  });

  it("stores nothing through the reading side", async () => {
    const store = await temporaryStore();

    await expect(rawRows(store, "INSERT INTO meta VALUES ('a', 'b')", [])).rejects.toThrow(/readonly/);

    expect(await rawRows(store, "SELECT * FROM meta WHERE key = 'a'", [])).toEqual([]);
  });
});

describe("a start on something that does not fit", () => {
  it("refuses a file that is no database and leaves every byte", async () => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, "parley.db");
    const bytes = randomBytes(20_000);
    writeFileSync(file, bytes);

    const message = await refusal(dataDir);

    expect(message).toContain(file);
    expect(message).toContain("damaged or not a database");
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(existsSync(join(dataDir, "master-key"))).toBe(false);
  });

  it.each([
    ["a page in the middle", (bytes: Buffer) => bytes.fill(0xa5, 5 * 4096, 9 * 4096)],
    ["the end", (bytes: Buffer) => bytes.subarray(0, bytes.length - 3 * 4096)],
  ])("refuses a database of its own that is damaged in %s", async (_where, damage) => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, "parley.db");
    await (await open(dataDir)).close();
    const damaged = Buffer.from(damage(readFileSync(file)));
    writeFileSync(file, damaged);

    expect(await refusal(dataDir)).toContain("damaged");
    expect(readFileSync(file).equals(damaged)).toBe(true);
  });

  it("refuses the database of another program and changes nothing in it", async () => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, "parley.db");
    const client = createClient({ url: `file:${file}` });
    await client.execute("CREATE TABLE meta (key TEXT, value TEXT)");
    await client.execute("CREATE TABLE customers (id)");
    client.close();
    const bytes = readFileSync(file);

    expect(await refusal(dataDir)).toContain("is not a Parley database");
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("refuses a database that a newer version has migrated", async () => {
    const dataDir = temporaryFolder();
    await (await open(dataDir)).close();
    const client = createClient({ url: `file:${join(dataDir, "parley.db")}` });
    await client.execute(
      "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('of the future', 9999999999999)",
    );
    client.close();

    expect(await refusal(dataDir)).toContain("newer");
  });

  it("refuses a master key that the data was not written with, and makes no new one when it is missing", async () => {
    const dataDir = temporaryFolder();
    await (await open(dataDir)).close();

    expect(await refusal(dataDir, { PARLEY_MASTER_KEY: randomBytes(32).toString("base64") })).toContain(
      "PARLEY_MASTER_KEY",
    );
    rmSync(join(dataDir, "master-key"));
    expect(await refusal(dataDir)).toContain(join(dataDir, "master-key"));
    expect(existsSync(join(dataDir, "master-key"))).toBe(false);
  });

  it.each(["master-key", "admin-token"])("names a secret file that is broken: %s", async (name) => {
    const dataDir = temporaryFolder();
    await (await open(dataDir)).close();
    writeFileSync(join(dataDir, name), "short");

    expect(await refusal(dataDir)).toContain(join(dataDir, name));
    expect(readFileSync(join(dataDir, name), "utf8")).toBe("short");
  });

  it("names DATA_DIR when it is a file, and DATABASE_URL when the server does not answer", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");

    expect(await refusal(join(folder, "file"))).toContain("DATA_DIR");
    mkdirSync(join(folder, "data"));
    expect(
      await refusal(join(folder, "data"), { ...NODE_SETTINGS, DATABASE_URL: "http://127.0.0.1:1" }),
    ).toContain("DATABASE_URL");
  });

  it("gives the lock back after a refusal", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "parley.db"), "not a database, but long enough to be looked at".repeat(100));
    await refusal(dataDir);
    rmSync(join(dataDir, "parley.db"));

    const store = await open(dataDir);
    await store.close();
    expect(store.adminToken).not.toBe("");
  });
});

describe("migrations", () => {
  it("are found from any folder below the one that holds them, and their absence is named", () => {
    const folder = temporaryFolder();
    const deep = join(folder, "server", "_chunks");
    mkdirSync(deep, { recursive: true });

    expect(() => migrationsFolder(deep)).toThrow("drizzle/migrations");
    mkdirSync(join(folder, "server/drizzle/migrations/meta"), { recursive: true });
    writeFileSync(join(folder, "server/drizzle/migrations/meta/_journal.json"), "{}");
    expect(migrationsFolder(deep)).toBe(join(folder, "server/drizzle/migrations"));
  });
});
