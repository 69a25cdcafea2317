import { command } from "../command.ts";
import { say } from "../plainly.ts";
import { saveBackup } from "../save-backup.ts";

/** `parley backup`: the running gateway makes the copy; when none runs, this command does. */
export default command({
  meta: { name: "backup", description: "Save a copy of all data while the gateway keeps running" },
  args: {
    file: {
      type: "positional",
      description: "Folder, or file (….tar), for the backup; created when missing; default: this folder",
      required: false,
      valueHint: "file",
    },
    "with-key": {
      type: "boolean",
      description: "Include the master key; then the file alone opens everything",
    },
  },
  async run({ args }) {
    const withKey = args["with-key"] === true;
    const { path, bytes, manifest } = await saveBackup(args.file, withKey);
    const files = manifest.files.length - 1;
    const sizes = `${(bytes / 1024 ** 2).toFixed(1)} MB${files > 0 ? `, with ${files} file${files === 1 ? "" : "s"} to be sent` : ""}`;
    say(`Saved ${path} (${sizes}).`);
    say(
      withKey
        ? "The file contains the master key: anyone who has it can read everything and write as your numbers."
        : "The file does not contain the master key, and without the key you cannot read it: keep a copy of the key elsewhere.",
    );
    return { path, bytes, with_key: withKey, created_at: manifest.created_at, files };
  },
});
