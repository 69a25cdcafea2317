/**
 * `npm run image [folder]`: builds `deploy/Dockerfile` where no registry of images can be reached, from a base that the Debian
 * mirror gives, and runs the image as compose does: as its own user, with a root that nothing can write to. As root on Debian, with
 * `apt-get install buildah debootstrap`; some minutes and 4 GB.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeFolder } from "../_setup/folders.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const work = process.argv[2] ?? join(tmpdir(), "parley-image");
const base = join(work, "base");
const BASE = "localhost/parley-base";
const IMAGE = "localhost/parley";
const MIRROR = process.env["DEBIAN_MIRROR"] ?? "http://deb.debian.org/debian";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** Id of the user `node` in the image. */
const USER = 1000;
const PORT = "3998";
const READY_MS = 60_000;
/** Everything in it, with the base and ffmpeg; docs/operations/install.md says 0.9 GB. */
const MOST_BYTES = 1.1 * 1024 ** 3;

/** A step; its words are shown. @returns what it wrote to standard output */
function run(program: string, ...args: string[]): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (error)
    throw new Error(`${program} is missing: apt-get install -y buildah debootstrap`, { cause: error });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
  return stdout.trim();
}

/** What `node:20-bookworm-slim` is: Debian, this machine's Node, and a user for it. */
function makeBase(): void {
  if (!existsSync(join(base, "etc/debian_version")))
    run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", base, MIRROR);
  cpSync(realpathSync(process.execPath), join(base, "usr/bin/node"));
  const npm = dirname(dirname(realpathSync(run("sh", "-c", "command -v npm"))));
  removeFolder(join(base, "usr/lib/node_modules/npm"));
  cpSync(npm, join(base, "usr/lib/node_modules/npm"), { recursive: true, verbatimSymlinks: true });
  for (const name of ["npm", "npx"]) {
    rmSync(join(base, "usr/bin", name), { force: true });
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(base, "usr/bin", name));
  }
  run("chroot", base, "sh", "-c", `id node >/dev/null 2>&1 || useradd --uid ${USER} --create-home node`);
  // The registry may stand behind a proxy with a certificate of its own.
  cpSync(CERTIFICATES, join(base, CERTIFICATES), { dereference: true });
  run("chroot", base, "npm", "config", "set", "--location=global", "cafile", CERTIFICATES);
  const container = run("buildah", "from", "scratch");
  run("buildah", "copy", "--quiet", container, base, "/");
  run("buildah", "config", "--env", `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
  run("buildah", "commit", "--quiet", "--rm", container, BASE);
}

/** Read-only but for /data and /tmp, as its user, without anything of this environment. */
const INSIDE = `set -eu
mount --make-rprivate / && mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"
mount -t tmpfs -o size=256m,mode=1777 tmpfs "$1/tmp" && mount --bind "$2" "$1/data" && mount -o remount,bind,ro "$1"
exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/node NODE_ENV=production HOST=127.0.0.1 PORT=${PORT} DATA_DIR=/data \\
  /usr/sbin/chroot --userspec=${USER}:${USER} "$1" sh -c 'cd /app && { touch x 2>/dev/null && exit 9; exec node .output/server/index.mjs; }'`;

/** `unshare` hears of no signal while it waits, and who changes his user is not ended with it: the gateway itself is told. */
async function endInside(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  if (child.exitCode !== null) return;
  const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
  process.kill(Number(inside), "SIGTERM");
  await ended;
}

/** What an operator and Docker call inside it, while it runs. */
function callInside(container: string): void {
  const call = (...command: string[]): string =>
    run("buildah", "run", "--env", `PORT=${PORT}`, container, "--", ...command);
  process.stdout.write(`parley ${call("parley", "--version")}\n`);
  process.stdout.write(`${call("ffmpeg", "-version").split("\n")[0]!}\n`);
  // Ends with an error when the gateway is not well.
  call("node", "deploy/health.mjs");
}

function checkSize(folder: string): void {
  const bytes = Number(run("du", "--summarize", "--bytes", folder).split("\t")[0]);
  if (!(bytes < MOST_BYTES))
    throw new Error(`The image has ${bytes} bytes, more than ${MOST_BYTES}: look what is in it.`);
}

async function runImage(): Promise<void> {
  const data = mkdtempSync(join(work, "data-"));
  chownSync(data, USER, USER);
  const container = run("buildah", "from", IMAGE);
  const mounted = run("buildah", "mount", container);
  checkSize(mounted);
  const child = spawn(
    "unshare",
    ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INSIDE, "sh", mounted, data],
    { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, STORAGE_DRIVER: "vfs" } },
  );
  try {
    const deadline = Date.now() + READY_MS;
    for (let ready = false; !ready;) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error("The image does not run.");
      await new Promise((resolve) => setTimeout(resolve, 500));
      const answer = await fetch(`http://127.0.0.1:${PORT}/health/ready`).catch(() => null);
      ready = answer?.ok === true;
    }
    process.stdout.write("The image runs: not as root, on a root that is read-only, and it is ready.\n");
    const console = await fetch(`http://127.0.0.1:${PORT}/console/`);
    if (console.status !== 200)
      throw new Error(`The image has no console: GET /console/ answers ${console.status}.`);
    callInside(container);
  } finally {
    await endInside(child);
    run("buildah", "rm", container);
    removeFolder(data);
  }
}

mkdirSync(work, { recursive: true });
makeBase();
run(
  "buildah",
  "bud",
  "--quiet",
  "--layers",
  // Only in this format an image says how its health is checked.
  "--format",
  "docker",
  "--build-arg",
  `BASE=${BASE}`,
  "--file",
  "deploy/Dockerfile",
  "--tag",
  IMAGE,
  ".",
);
process.stdout.write(`${run("buildah", "images", "--format", "{{.Size}}", IMAGE)}\n`);
await runImage();
