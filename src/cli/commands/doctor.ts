import { command } from "../command.ts";
import { loadConfig, repositoryRoot } from "../../config.ts";
import {
  checkBuild,
  checkConverter,
  checkDatabase,
  checkDataFolder,
  checkGateway,
  checkNode,
  checkPublicUrl,
  checkVersion,
  checkWhatsApp,
} from "../doctor/checks.ts";
import { checkAlerts } from "../doctor/alerts.ts";
import { examineDatabase } from "../doctor/database.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkBackup } from "../doctor/backup.ts";
import { checkClock, checkConsole, checkMemory, checkOwners, checkTls } from "../doctor/machine.ts";
import { checkMigrations, checkNumbers } from "../doctor/numbers.ts";
import { checkRedis, checkServer } from "../doctor/services.ts";
import { paint, say } from "../plainly.ts";

const MARKS = { good: paint.green("✓"), note: paint.yellow("·"), bad: paint.red("✗") };

function show({ name, state, text }: Finding): void {
  say(`  ${MARKS[state]} ${name.padEnd(10)}${text}`);
}

/** Loaded when it is asked for: the client library takes its time. */
const bundledVersion = async () => (await import("../../whatsapp/bundled-version.ts")).bundledVersion;

/** `parley doctor`: exit code 1 when something will not work until it is cured. */
export default command({
  meta: { name: "doctor", description: "Looks for problems that would keep the gateway from working" },
  args: {
    repair: {
      type: "boolean",
      description:
        "Repair the database where that loses nothing, after making a copy; the gateway must be stopped",
      default: false,
    },
  },
  async run({ args }) {
    const before = [
      checkNode(process.versions.node),
      await checkBuild(repositoryRoot()),
      checkConsole(repositoryRoot()),
    ];
    for (const finding of before) show(finding);
    // A wrong setting throws here: it is named, and nothing below would be true.
    const config = loadConfig(process.env);
    const gateway = await checkGateway(config);
    const findings = [
      checkMemory(),
      await checkClock(),
      ...(await checkDataFolder(config)),
      ...(await checkOwners(config.dataDir)),
      await checkDatabase(config),
      ...(await examineDatabase(config, { repair: args.repair })),
      ...(await checkServer(config)),
      ...(await checkRedis(config)),
      ...(await checkBackup(config)),
      await checkAlerts(config),
      gateway,
      ...(await checkMigrations(config)),
      ...(await checkNumbers(config, gateway.state === "good")),
      checkWhatsApp(config),
      await checkVersion(config, await bundledVersion()),
      checkPublicUrl(config),
      ...(await checkTls(config)),
      await checkConverter(config),
    ];
    for (const finding of findings) show(finding);
    if (findings.some((finding) => finding.state === "bad")) process.exitCode = 1;
    return [...before, ...findings];
  },
});
