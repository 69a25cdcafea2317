import packageJson from "../../package.json" with { type: "json" };
import type { App } from "../api/services.ts";
import { startBanner, type BannerFacts } from "./banner.ts";

/** Tells the one who started it where it listens and what to do next: readable on a terminal, else as one log line. */
export async function announce(app: App): Promise<void> {
  const facts = await findFacts(app);
  if (process.stdout.isTTY) process.stdout.write(startBanner(facts, !process.env["NO_COLOR"]));
  else {
    const { databaseUrl: _, brokenBots, ...shown } = facts;
    app.log.info({ ...shown, brokenBots: brokenBots?.map(({ id }) => id) }, "listening");
  }
}

async function findFacts({ config, ...app }: App): Promise<BannerFacts> {
  const bots = await app.bots.list();
  return {
    version: packageJson.version,
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${config.port}`,
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    masterKeyGiven: config.masterKey !== null,
    adminTokenGiven: config.adminToken !== null,
    linkedNumbers: app.numbers.ids().filter((id) => app.numbers.isLinked(id)).length,
    simulatorUrl: config.whatsappWsUrl,
    brokenBots: bots.flatMap(({ id, error }) => (error === undefined ? [] : [{ id, error }])),
  };
}
