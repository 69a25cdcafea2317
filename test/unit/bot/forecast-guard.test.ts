import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createForecastGuard } from "../../../src/bot/forecast/guard.ts";
import { openBots } from "../../../src/bot/files/reload.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { systemTime } from "../../../src/model/time.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { until } from "../outbox/harness.ts";
import { startBots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

const salon = (b: Routes): void => {
  const form = b.form("booking", { name: b.fields.text("Name?"), born: b.fields.text("?") }, () => undefined);
  b.keyword("book", (ctx) => ctx.start(form));
};
const textOf = (options: string, was = ""): string =>
  `export default { ${was} routes(b) {
    b.form("booking", { name: b.fields.text("?", ${options}), born: b.fields.text("?") }, () => undefined); } };`;

/** Somebody has said that she is Ana; then bots are loaded from a folder. */
async function started() {
  const bots = await startBots({ salon });
  await bots.say("book");
  await bots.say("Ana");
  const { log, text } = listeningLog();
  const botsDir = mkdtempSync(join(tmpdir(), "parley-guard-"));
  onTestFinished(() => removeFolder(botsDir));
  const write = (file: string, code: string): void => writeFileSync(join(botsDir, file), code);
  write("salon.mjs", textOf("{}"));
  const guard = createForecastGuard({ ...bots.run.store, time: systemTime }, log);
  onTestFinished(guard.stop);
  return { guard, botsDir, write, log, text };
}

it("the log says what becomes of what is stored, as a warning when something does not fit", async () => {
  const { guard, botsDir, write, log, text } = await started();
  guard.look(await openBots({ buildTime: {}, botsDir, log }));
  await until(() => expect(text()).toContain("salon: 1 open, 1 goes on"));
  write("salon.mjs", textOf("{ min: 9 }"));
  const bots = await openBots({ buildTime: {}, botsDir, log });
  await bots.reload(async () => undefined);
  guard.look(bots);
  await until(() => expect(text()).toMatch(/"lost":0,"misfits":1,.*1 is asked \\"name\\" again/));
});

it("a reload under --strict keeps bots whose new version does not fit, says so of them, and takes what fits later", async () => {
  const { guard, botsDir, write, log } = await started();
  const bots = await openBots({ buildTime: {}, botsDir, log, refuse: guard.refuse });
  let used = 0;
  const reload = () => bots.reload(async () => void used++);
  const before = bots.registry.bots[0];

  write("salon.mjs", textOf("{ min: 9 }"));
  const why = 'The new version does not fit the stored data: salon: 1 open, 1 is asked "name" again';
  expect(await reload()).toMatchObject([{ id: "salon", kept: true, error: why }]);
  expect(await reload()).toMatchObject([{ id: "salon", kept: true, error: why }]);
  expect([used, bots.registry.bots[0]]).toEqual([0, before]);

  rmSync(join(botsDir, "salon.mjs"));
  write("barber.mjs", textOf("{ min: 9 }", 'was: "salon",'));
  expect(await reload()).toMatchObject([{ id: "salon", error: expect.stringContaining("barber: 1 open") }]);

  write("barber.mjs", textOf("{}", 'was: "salon",'));
  expect(await reload()).toEqual([expect.not.objectContaining({ error: expect.anything() })]);
  expect([used, bots.registry.bots[0]!.id]).toEqual([1, "barber"]);
});
