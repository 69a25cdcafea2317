import { writeFile } from "node:fs/promises";

export { storyText } from "../../testing/stories/told.ts";

/** @throws Error when the name is not that of a story, or the file is there already; it is not written over */
export async function writeStoryFile(file: string, text: string): Promise<void> {
  if (!/\.story\.ya?ml$/.test(file)) throw new Error(`${file} must end in .story.yaml.`);
  await writeFile(file, text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "EEXIST"
        ? `${file} already exists; nothing was changed. Choose another name.`
        : `${file} cannot be written: ${error.message}`,
    );
  });
}
