import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { command, runCommand } from "../_setup/command.ts";
import { fasterClock } from "../_setup/fake-clock.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { startS3 } from "../_setup/s3.ts";
import { openWorld, until } from "../_setup/world.ts";

const NUMBER = "31600000001";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "parley-backups-"));
  onTestFinished(() => removeFolder(made));
  return made;
}

const backupsIn = (place: string): string[] => readdirSync(place).filter((name) => name.endsWith(".tar"));

it("a gateway makes backups by itself, keeps so many, tells of one that fails and of the next that does not, and one restores", async () => {
  const hook = await startReceiver();
  const place = join(folder(), "copies");
  const settings = { BACKUP_TO: place, BACKUP_EVERY: "1m", BACKUP_KEEP: "2", ALERT_URL: hook.url };
  const world = await openWorld({ env: { ...settings, ...fasterClock(20) } });
  const { gateway, sim } = world;
  await world.link(NUMBER);
  const env = { ...gateway.operatorEnv, ...settings };
  await until(() => backupsIn(place).length > 0);
  const [first] = backupsIn(place);
  await until(() => !backupsIn(place).includes(first!));
  expect(backupsIn(place).length).toBeLessThanOrEqual(2);
  expect((await runCommand({ env }, "doctor")).text).toMatch(/✓ backup .*\(parley-auto-.*, verified/);

  // Somebody takes the folder away, and puts something else there.
  renameSync(place, `${place}-before`);
  writeFileSync(place, "");
  const told = (): string[] =>
    hook.events.flatMap(({ body }) => (body["alerts"] as { text: string }[]).map(({ text }) => text));
  await until(() => told().length > 0);
  expect(told()[0]).toContain(`The scheduled backup to ${place} failed: `);
  expect((await runCommand({ env }, "doctor")).text).toMatch(/✗ backup .*fails/);
  rmSync(place);
  await until(() => told().length > 1);
  expect(told()[1]).toBe(`A backup to ${place} succeeded again.`);
  expect(hook.events[1]!.body["alerts"]).toMatchObject([{ alert: "backup_failed", status: "over" }]);

  const [newest] = backupsIn(place).toSorted().toReversed();
  await gateway.stop();
  const said = await command({ env }, "restore", "--force", join(place, newest!));
  expect(said).toContain("Numbers that stay linked: 1");
  await gateway.restart();
  await world.online(NUMBER);
  expect(await sim.online(NUMBER)).toBe(true);
});

it("backups go to a bucket, and one is restored from there by its address", async () => {
  const s3 = await startS3();
  const { MEDIA_STORE: _, ...keys } = s3.env as Record<string, string>;
  const settings = { ...keys, BACKUP_TO: s3.address("copies") };
  const world = await openWorld({ env: settings });
  const { gateway } = world;
  await until(() => s3.names("copies").length > 0);
  await until(async () => gateway.output().includes("made and verified a scheduled backup"));
  expect(gateway.output()).not.toContain("S3RVER");
  await gateway.stop();
  const env = { ...gateway.operatorEnv, ...settings };
  const address = `s3://parley/copies/${s3.names("copies")[0]}`;
  expect(await command({ env }, "restore", "--force", address)).toContain("Restored the backup of");
  expect(readdirSync(gateway.dataDir).filter((name) => name.startsWith("fetched-"))).toEqual([]);
  const missing = await runCommand({ env }, "restore", "--force", "s3://parley/copies/parley-none.tar");
  expect(missing.text).toBe("There is no s3://parley/copies/parley-none.tar.\n");
  await gateway.restart();
  expect((await gateway.get("/account", { key: world.key })).status).toBe(200);
});
