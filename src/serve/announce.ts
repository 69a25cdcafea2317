import packageJson from "../../package.json" with { type: "json" };
import type { App } from "../api/services.ts";
import { isPretty } from "../log.ts";
import { startBanner, type BannerFacts } from "./banner.ts";

/** States in which a number stays away until somebody does something. */
const NEED_SOMEBODY = new Set(["logged_out", "blocked", "replaced", "action_required"]);

/**
 * Says where the gateway listens and what to do next: to people, or as one log line. The operator's link appears on a
 * terminal alone: where output is kept, it would open the console to whoever reads it in time.
 */
export function announce(app: App): void {
  if (!isPretty(app.config)) {
    const { databaseUrl: _, signInUrl: __, brokenBots, ...shown } = findFacts(app);
    app.log.info({ ...shown, brokenBots: brokenBots.map(({ id }) => id) }, "listening");
    return;
  }
  const { isTTY } = process.stdout;
  const facts = findFacts(app);
  if (isTTY) facts.signInUrl = `${facts.consoleUrl}/sign-in#${app.operatorLink.make()}`;
  process.stdout.write(startBanner(facts, isTTY && !process.env["NO_COLOR"]));
}

function findFacts({ config, ...app }: App): BannerFacts {
  const numbers = app.numbers.all();
  return {
    version: packageJson.version,
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${config.port}`,
    consoleUrl: `${config.publicUrl}/console`,
    signInUrl: null,
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    masterKeyGiven: config.masterKey !== null,
    adminTokenGiven: config.adminToken !== null,
    linkedNumbers: numbers.filter(({ id }) => app.numbers.isLinked(id)).length,
    waitingNumbers: numbers.filter(({ state }) => NEED_SOMEBODY.has(state)).length,
    hasConverter: app.files.hasConverter(),
    simulatorUrl: config.whatsappWsUrl,
    brokenBots: app.bots.list().flatMap(({ id, error }) => (error === undefined ? [] : [{ id, error }])),
  };
}
