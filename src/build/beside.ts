import { rolldown, type Plugin } from "rolldown";

/** A program that runs beside the gateway, in a thread or a process. */
interface Beside {
  /** Its entry in the sources. */
  input: string;
  /** The one file that is made. */
  file: string;
  /** What it may name besides files and packages, as the gateway's bundle does. */
  virtual?: Record<string, () => string>;
  alias?: Record<string, string>;
  /** Whether a package is found in `node_modules` when it runs; the others go inside. */
  isInstalled(name: string): boolean;
}

/**
 * Makes a file of its own of what is started on its own. Not a second entry of the gateway's bundle: a chunk that both share
 * could be the gateway's, and the thread would start a gateway.
 */
export async function buildBeside({
  input,
  file,
  isInstalled,
  virtual = {},
  alias = {},
}: Beside): Promise<void> {
  const build = await rolldown({
    input,
    platform: "node",
    external: (name) => !Object.hasOwn(virtual, name) && !Object.hasOwn(alias, name) && isInstalled(name),
    resolve: { alias },
    // A crash test kills the gateway, never what runs beside it.
    transform: { define: { __FAILPOINTS__: "false" } },
    plugins: [virtualModules(virtual), withoutSpeechEnhancement()],
    logLevel: "warn",
  });
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
}

/** Whether a module is named as packages are, not by its path. */
export const isPackage = (name: string): boolean => /^[^./]/.test(name);

/** An enhancement of speech that no decoder of ours is asked for: 4 MB that every start would read. */
export function withoutSpeechEnhancement(): Plugin {
  return {
    name: "without-speech-enhancement",
    load: (id) => (/opus-ml/.test(id) ? { code: "module.exports = {};", moduleType: "js" } : null),
  };
}

/** Modules that are no files. */
function virtualModules(modules: Record<string, () => string>): Plugin {
  return {
    name: "virtual-modules",
    resolveId: (name) => (Object.hasOwn(modules, name) ? { id: `\0${name}` } : null),
    load: (id) => {
      const module = id.startsWith("\0") ? modules[id.slice(1)] : undefined;
      return module === undefined ? null : { code: module(), moduleType: "js" };
    },
  };
}
