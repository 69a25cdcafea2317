import { readdirSync } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { systemTime } from "../../../src/model/time.ts";
import { watchCondition } from "../../../src/store/condition.ts";
import { createBallast } from "../../../src/store/file/ballast.ts";
import { eraseRecord } from "../../../src/store/erase.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";

function watched() {
  const condition = watchCondition({
    folder: temporaryFolder(),
    name: "the database",
    log: silentLog(configFor("/nowhere")),
    time: systemTime,
    checkpoint: () => Promise.reject(new Error("there is no room for it either")),
    unused: () => Promise.resolve(0),
  });
  onTestFinished(() => condition.close());
  return condition;
}

it("a full disk refuses what is new, and lets a number be erased", () => {
  const condition = watched();
  const insert = { sql: "INSERT INTO meta VALUES ('a', 'b')", args: [] };
  expect(condition.refusal([insert])).toBeNull();

  condition.failed("SQLITE_FULL");

  expect(condition.state).toBe("full");
  expect(condition.refusal([insert])).toBe("the disk is full");
  expect(condition.refusal(eraseRecord(1, 0))).toBeNull();
  expect(condition.refusal([...eraseRecord(1, 0), insert])).toBe("the disk is full");
});

it("a damaged file takes nothing any more", () => {
  const condition = watched();

  condition.failed("SQLITE_CORRUPT_VTAB");

  expect(condition.state).toBe("damaged");
  expect(condition.refusal(eraseRecord(1, 0))).toContain("doctor");
});

it("writes nothing to the folder any more when it is closed", async () => {
  const folder = temporaryFolder();
  const ballast = createBallast(folder);
  const made = ballast.make();
  await vi.waitFor(() => expect(readdirSync(folder)).toEqual(["ballast.new"]), { interval: 0 });
  await ballast.stop();
  expect(readdirSync(folder)).toEqual([]);
  expect(await made).toBe(true);
  expect(await ballast.make()).toBe(true);
  expect(readdirSync(folder)).toEqual(["ballast"]);
});
