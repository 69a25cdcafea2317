import { command } from "../command.ts";
import { restoreBackup, type Restored } from "../../backup/restore.ts";
import { loadConfig } from "../../config.ts";
import { forgetRatchets } from "../../whatsapp/signal/rollback.ts";
import { say } from "../plainly.ts";

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** `parley restore <file>`: what is in the data folder is put aside only with `--force`. */
export default command({
  meta: { name: "restore", description: "Put the data of a backup back; the gateway must be stopped" },
  args: {
    file: {
      type: "positional",
      description: "What parley backup has saved",
      required: true,
      valueHint: "file",
    },
    force: { type: "boolean", description: "Put the data that is there aside; it is not deleted" },
    resend: { type: "boolean", description: "Send everything that waited then, however old it is" },
  },
  async run({ args }) {
    const restored = await restoreBackup({
      config: loadConfig(process.env),
      archive: args.file,
      force: args.force === true,
      resend: args.resend === true,
      now: Date.now,
      forgetRatchets,
    });
    report(restored);
    const { manifest, linked, waiting, expired, aside } = restored;
    return { created_at: manifest.created_at, linked, waiting, expired, aside };
  },
});

function report({ manifest, linked, waiting, expired, aside }: Restored): void {
  say(`Restored the backup of ${manifest.created_at}.`);
  if (aside !== null) say(`What was there before is in ${aside}.`);
  say(`Numbers that stay linked: ${linked}. People's phones make new sessions by themselves.`);
  if (waiting > 0)
    say(`${plural(waiting, "message")} waited then and will be sent again; phones drop repetitions.`);
  if (expired > 0)
    say(
      `${plural(expired, "message")} waited for more than an hour and expired; --resend would have kept them.`,
    );
  say("Start the gateway with: npm start");
}
