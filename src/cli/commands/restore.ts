import { command } from "../command.ts";
import { restoreBackup, type Restored } from "../../backup/restore.ts";
import { loadConfig } from "../../config.ts";
import { forgetRatchets } from "../../whatsapp/signal/rollback.ts";
import { withArchive } from "../fetch-archive.ts";
import { say } from "../plainly.ts";

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** `parley restore <file>`: what is in the data folder is put aside only with `--force`. */
export default command({
  meta: { name: "restore", description: "Restore the data of a backup; the gateway must be stopped" },
  args: {
    file: {
      type: "positional",
      description: "File that parley backup or BACKUP_TO saved, or its address: s3://bucket/…/parley-….tar",
      required: true,
      valueHint: "file",
    },
    force: { type: "boolean", description: "Move present data aside; it is not deleted" },
    resend: { type: "boolean", description: "Send every message that was waiting, however old" },
  },
  async run({ args }) {
    const config = loadConfig(process.env);
    const restored = await withArchive(config, args.file, (archive) =>
      restoreBackup({
        config,
        archive,
        force: args.force === true,
        resend: args.resend === true,
        now: Date.now,
        forgetRatchets,
      }),
    );
    report(restored);
    const { manifest, linked, waiting, expired, aside } = restored;
    return { created_at: manifest.created_at, linked, waiting, expired, aside };
  },
});

function report({ manifest, linked, waiting, expired, aside }: Restored): void {
  say(`Restored the backup of ${manifest.created_at}.`);
  if (aside !== null) say(`The previous data is in ${aside}.`);
  say(`Numbers that stay linked: ${linked}. Contacts' phones open new sessions on their own.`);
  if (waiting > 0)
    say(`${plural(waiting, "message")} from the backup will be sent again; phones drop duplicates.`);
  if (expired > 0)
    say(
      `${plural(expired, "message")} had waited for more than an hour and expired; --resend sends such messages too.`,
    );
  say("Start the gateway with: npm start");
}
