import { command } from "../command.ts";
import { say } from "../plainly.ts";
import { saveBackup } from "../save-backup.ts";

/** `parley backup`: the running gateway makes the copy; when none runs, this command does. */
export default command({
  meta: { name: "backup", description: "Save a copy of all data; the gateway goes on meanwhile" },
  args: {
    file: {
      type: "positional",
      description: "Folder to save it in, or a file (….tar); made when it is missing; default: this folder",
      required: false,
      valueHint: "file",
    },
    "with-key": {
      type: "boolean",
      description: "Include the master key: the file alone then opens everything",
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
        ? "The master key is in it: whoever has this file can read everything and write as your numbers."
        : "The master key is not in it; without the key nobody can read it, nor can you: keep a copy of the key elsewhere.",
    );
    return { path, bytes, with_key: withKey, created_at: manifest.created_at, files };
  },
});
