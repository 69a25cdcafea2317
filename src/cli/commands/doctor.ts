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
  checkWhatsApp,
  type Finding,
} from "../doctor.ts";
import { paint, plainly, say } from "../plainly.ts";

const MARKS = { good: paint.green("✓"), note: paint.yellow("·"), bad: paint.red("✗") };

function show({ name, state, text }: Finding): void {
  say(`  ${MARKS[state]} ${name.padEnd(10)}${text}`);
}

export default defineCommand({
  meta: { name: "doctor", description: "Looks for what would keep the gateway from working" },
  run: plainly(async () => {
    show(checkNode(process.versions.node));
    show(await checkBuild(repositoryRoot()));
    // A wrong setting throws here: it is named, and nothing below would be true.
    const config = loadConfig(process.env);
    const findings = [
      ...(await checkDataFolder(config)),
      await checkDatabase(config),
      await checkGateway(config),
      checkWhatsApp(config),
      checkPublicUrl(config),
      await checkConverter(config),
    ];
    for (const finding of findings) show(finding);
    if (findings.some((finding) => finding.state === "bad")) process.exitCode = 1;
  }),
});
