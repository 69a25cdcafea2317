import { rolldown, type Plugin } from "rolldown";

/** A program that runs beside the gateway, in a thread or a process. */
interface Beside {
  /** Its entry in the sources. */
  input: string;
  /** The one file that is made. */
  file: string;
  /** Whether a package is found in `node_modules` when it runs; the others go inside. */
  isInstalled(name: string): boolean;
}

/**
 * Makes a file of its own of what is started on its own. Not a second entry of the gateway's bundle: a chunk that both share
 * could be the gateway's, and the thread would start a gateway.
 */
export async function buildBeside({ input, file, isInstalled }: Beside): Promise<void> {
  const build = await rolldown({
    input,
    platform: "node",
    external: (name) => isInstalled(name),
    plugins: [withoutSpeechEnhancement()],
    logLevel: "warn",
  });
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
}

/** Whether a module is named as packages are, not by its path. */
export const isPackage = (name: string): boolean => /^[^./]/.test(name);

/** An enhancement of speech that no decoder of ours is asked for: 4 MB that every start would read. */
function withoutSpeechEnhancement(): Plugin {
  return {
    name: "without-speech-enhancement",
    load: (id) => (/opus-ml/.test(id) ? { code: "module.exports = {};", moduleType: "js" } : null),
  };
}
