import { defineCommand } from "citty";
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
} from "../doctor.ts";
import { examineDatabase } from "../database-doctor.ts";
import type { Finding } from "../finding.ts";
import { paint, plainly, say } from "../plainly.ts";

const MARKS = { good: paint.green("✓"), note: paint.yellow("·"), bad: paint.red("✗") };

function show({ name, state, text }: Finding): void {
  say(`  ${MARKS[state]} ${name.padEnd(10)}${text}`);
}

/** Loaded when it is asked for: the client library takes its time. */
const bundledVersion = async () => (await import("../../whatsapp/bundled-version.ts")).bundledVersion;

/** `parley doctor`: exit code 1 when something will not work until it is cured. */
export default defineCommand({
  meta: { name: "doctor", description: "Looks for what would keep the gateway from working" },
  args: {
    repair: {
      type: "boolean",
      description:
        "Repairs the database where that loses nothing; makes a copy first, the gateway must be stopped",
      default: false,
    },
  },
  run: plainly(async ({ args }: { args: { repair: boolean } }) => {
    show(checkNode(process.versions.node));
    show(await checkBuild(repositoryRoot()));
    // A wrong setting throws here: it is named, and nothing below would be true.
    const config = loadConfig(process.env);
    const findings = [
      ...(await checkDataFolder(config)),
      await checkDatabase(config),
      ...(await examineDatabase(config, { repair: args.repair })),
      await checkGateway(config),
      checkWhatsApp(config),
      await checkVersion(config, await bundledVersion()),
      checkPublicUrl(config),
      await checkConverter(config),
    ];
    for (const finding of findings) show(finding);
    if (findings.some((finding) => finding.state === "bad")) process.exitCode = 1;
  }),
});
