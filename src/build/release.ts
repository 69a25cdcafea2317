import { createHash } from "node:crypto";
import {
  createReadStream,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import packageJson from "../../package.json" with { type: "json" };

/** Have native parts: npm installs what fits the machine. */
const INSTALLED = ["libsql", "sharp"] as const;
/** What belongs to these, and native parts that nobody misses. */
const LEFT_OUT = [
  ...INSTALLED,
  "@img",
  "@neon-rs",
  "@msgpackr-extract",
  "detect-libc",
  "semver",
  ...[
    "linux-x64-gnu",
    "linux-x64-musl",
    "linux-arm64-gnu",
    "linux-arm64-musl",
    "darwin-arm64",
    "darwin-x64",
  ].map((platform) => `@libsql/${platform}`),
].map((name) => `server/node_modules/${name}`);
/** Compiled for one version of Node: another one could not use it. */
const OF_ONE_NODE = "server/gateway.compiled";

/** A finished release. */
export interface Release {
  /** `parley-0.1.0.tgz` */
  file: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/**
 * Makes the package that a server installs with npm and runs without building: the build, the command `parley`, and the two packages
 * that npm must choose for the machine.
 *
 * @param output folder of a build that has its command
 * @param into   folder that gets the file
 */
export async function makeRelease(root: string, output: string, into: string): Promise<Release> {
  if (!existsSync(join(output, "cli.mjs"))) throw new Error(`${output} has no cli.mjs: build it first.`);
  const work = mkdtempSync(join(tmpdir(), "parley-release-"));
  try {
    const folder = join(work, "package");
    mkdirSync(folder);
    for (const name of ["README.md", "CHANGELOG.md", "LICENSE"]) cpSync(join(root, name), join(folder, name));
    // The unit and the command for a service: whoever has the package needs nothing else.
    cpSync(join(root, "deploy/systemd"), join(folder, "systemd"), { recursive: true });
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
    const isLeftOut = (path: string): boolean =>
      [...LEFT_OUT, OF_ONE_NODE].some((one) => path === join(output, one));
    // npm drops links: what they lead to is copied.
    cpSync(output, join(folder, ".output"), {
      recursive: true,
      dereference: true,
      filter: (path) => !isLeftOut(path),
    });
    mkdirSync(into, { recursive: true });
    const file = join(into, `parley-${packageJson.version}.tgz`);
    await create({ file, cwd: work, gzip: { level: 9 }, portable: true, noMtime: true, strict: true }, [
      "package",
    ]);
    return { file, bytes: statSync(file).size, sha256: await hashOf(file) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Nothing of the sources: no scripts, and no packages but those that npm has to choose. */
const manifest = () => ({
  name: packageJson.name,
  version: packageJson.version,
  description: packageJson.description,
  license: packageJson.license,
  type: packageJson.type,
  bin: { parley: ".output/cli.mjs" },
  engines: packageJson.engines,
  dependencies: Object.fromEntries(INSTALLED.map((name) => [name, packageJson.dependencies[name]])),
});

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
