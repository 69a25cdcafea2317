/**
 * `npm run ten-minutes [folder]`: a bare Debian, and on it docs/operations/install.md as it is written, up to the QR code; prints how
 * long each step takes. As root on Debian, with `apt-get install debootstrap`, and ports 80, 443 and 3000 free.
 *
 * What a machine has and a folder has not is stood in for, and named in what is printed: systemd (its unit's command is started as its
 * user), a domain (Caddy signs by itself), WhatsApp (the simulator), and nodejs.org where it cannot be reached (this machine's Node).
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { makeRelease } from "../../src/build/release.ts";
import { buildIfStale } from "../../src/cli/build.ts";
import { repositoryRoot } from "../../src/config.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { removeFolder } from "../_setup/folders.ts";

const root = repositoryRoot();
const work = process.argv[2] ?? join(tmpdir(), "parley-ten-minutes");
const machine = join(work, "machine");
const MIRROR = process.env["DEBIAN_MIRROR"] ?? "http://deb.debian.org/debian";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** A copy of this machine's in the new one, whose own come with a package. */
const TRUSTED = "/etc/this-machine.crt";
const CADDYS_OWN = "/var/lib/caddy/caddy/pki/authorities/local/root.crt";
const MOST_SECONDS = 600;
const READY_WITHIN_MS = 60_000;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The blocks of the section, each under the step that it belongs to. */
function steps(): { name: string; lines: string[] }[] {
  const page = readFileSync(join(root, "docs/operations/install.md"), "utf8");
  const section = page.split("## A service of systemd\n")[1]!.split("\n## ")[0]!;
  return section
    .split(/^\*\*(?=Node\*\*|\d\. )/m)
    .slice(1)
    .map((text) => ({
      name: text.split("**")[0]!,
      lines: [...text.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) => {
        const lines = block!.trim().split("\n");
        // What is found out in one line is used in the next.
        return block!.includes("nodejs.org") ? [lines.join(" && ")] : lines;
      }),
    }));
}

const running: ChildProcess[] = [];
const ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  DEBIAN_FRONTEND: "noninteractive",
};
const inMachine = (script: string): string[] => [machine, "sh", "-c", `cd /root && ${script}`];

/** To its end. @returns what it wrote @throws Error when it fails */
function call(script: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync("chroot", inMachine(script), {
    env: { ...ENV, ...env },
    encoding: "utf8",
    maxBuffer: 1024 ** 3,
  });
  if (status !== 0)
    throw new Error(`${script} ended with ${status}:\n${stdout.slice(-2000)}${stderr.slice(-2000)}`);
  return stdout;
}

/** Goes on in the background. @returns tells what it has written so far */
function start(script: string, env: Record<string, string> = {}): () => string {
  const child = spawn("chroot", inMachine(`exec ${script}`), {
    env: { ...ENV, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.push(child);
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  return () => said;
}

/** @throws Error when it does not come true */
async function until(holds: () => boolean): Promise<void> {
  for (const began = performance.now(); !holds();) {
    if (performance.now() - began > READY_WITHIN_MS)
      throw new Error(`Not within ${READY_WITHIN_MS} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const isAnswered = (line: string, env: Record<string, string> = {}): boolean =>
  spawnSync("chroot", inMachine(`${line.replace(/\s+#.*$/, "")} --fail --silent`), {
    env: { ...ENV, ...env },
  }).status === 0;

/** What systemd does with the unit, as far as a folder can. */
function startService(): void {
  const unit = readFileSync(join(machine, "etc/systemd/system/parley.service"), "utf8");
  const [, command] = /^ExecStart=(.*)$/m.exec(unit)!;
  const [, settings] = /^Environment=(.*)$/m.exec(unit)!;
  call("install -d -o parley -g parley -m 700 /var/lib/parley");
  const set = `set -a; . /etc/parley.env; ${settings!.replaceAll(" ", "; ")}; set +a`;
  start(`sh -c '${set}; exec setpriv --reuid=parley --regid=parley --clear-groups ${command}'`);
}

function startCaddy(): void {
  const file = join(machine, "etc/caddy/Caddyfile");
  writeFileSync(file, readFileSync(file, "utf8").replace("{\n", "{\n\ttls internal\n"));
  start("caddy run --config /etc/caddy/Caddyfile", {
    XDG_DATA_HOME: "/var/lib/caddy",
    XDG_CONFIG_HOME: "/var/lib/caddy",
  });
}

/** One line of the guide. */
async function follow(line: string): Promise<void> {
  if (line.startsWith("systemctl daemon-reload")) return;
  if (line.startsWith("systemctl enable --now parley")) return startService();
  if (line.startsWith("systemctl reload caddy")) return startCaddy();
  if (line.includes("http://127.0.0.1")) return until(() => isAnswered(line));
  if (line.includes("https://chat.example.com/"))
    return until(() => isAnswered(line, { CURL_CA_BUNDLE: CADDYS_OWN }));
  if (line.startsWith("parley doctor")) return void spawnSync("chroot", inMachine(line), { env: ENV });
  if (line.startsWith("parley link")) {
    const said = start(line.replace(/\s+#.*$/, ""));
    return until(() => /[▀▄█]{10}/.test(said()));
  }
  call(line.replace("parley-<version>.tgz", tarball), { npm_config_cafile: TRUSTED });
}

function makeMachine(): void {
  removeFolder(machine);
  mkdirSync(machine, { recursive: true });
  execFileSync("debootstrap", ["--variant=minbase", "bookworm", machine, MIRROR], { stdio: "ignore" });
  execFileSync("mount", ["--rbind", "/dev", join(machine, "dev")]);
  // What is taken away there must not be taken away here.
  execFileSync("mount", ["--make-rslave", join(machine, "dev")]);
  execFileSync("mount", ["-t", "proc", "proc", join(machine, "proc")]);
  // Its way to the network is this machine's.
  for (const [file, copy] of [
    ["/etc/resolv.conf", "/etc/resolv.conf"],
    [CERTIFICATES, TRUSTED],
  ] as const)
    if (existsSync(file)) cpSync(realpathSync(file), join(machine, copy));
  appendFileSync(join(machine, "etc/hosts"), "127.0.0.1 localhost chat.example.com\n");
}

/** nodejs.org may be out of reach: then Node and npm are this machine's. */
function copyNode(): void {
  cpSync(realpathSync(process.execPath), join(machine, "usr/local/bin/node"));
  const npm = dirname(
    dirname(realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim())),
  );
  cpSync(npm, join(machine, "usr/local/lib/node_modules/npm"), { recursive: true, verbatimSymlinks: true });
  call("ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && node --version && npm --version");
}

await buildIfStale(root, say);
mkdirSync(work, { recursive: true });
const release = await makeRelease(root, join(root, ".output"), work);
const tarball = basename(release.file);
const sim = await startSimulator();
try {
  makeMachine();
  cpSync(release.file, join(machine, "root", tarball));
  cpSync(sim.caFile, join(machine, "etc/simulator.pem"));
  await sim.addNumber("31600000001");
  let seconds = 0;
  for (const { name, lines } of steps()) {
    const began = performance.now();
    let remark = "";
    for (const line of lines) {
      if (line.startsWith("systemctl daemon-reload"))
        appendFileSync(
          join(machine, "etc/parley.env"),
          `WHATSAPP_WS_URL=${sim.wsUrl}\nWHATSAPP_NOISE_ROOT=${sim.noiseRoot}\nWHATSAPP_CA_FILE=/etc/simulator.pem\n`,
        );
      if (line.includes("nodejs.org") && spawnSync("chroot", inMachine(line), { env: ENV }).status !== 0) {
        copyNode();
        remark = " (nodejs.org is out of reach: this machine's Node was copied)";
        break;
      }
      await follow(line);
    }
    const took = (performance.now() - began) / 1000;
    seconds += took;
    say(`  ${name.padEnd(24)} ${took.toFixed(0).padStart(4)} s${remark}`);
  }
  say(`  ${"all, up to the QR code".padEnd(24)} ${seconds.toFixed(0).padStart(4)} s`);
  if (seconds > MOST_SECONDS) throw new Error("It took more than ten minutes.");
} finally {
  for (const { pid, exitCode } of running) if (exitCode === null) process.kill(-pid!, "SIGKILL");
  await sim.stop();
  spawnSync("umount", ["--recursive", join(machine, "dev")]);
  spawnSync("umount", [join(machine, "proc")]);
}
