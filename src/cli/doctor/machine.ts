import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { promisify } from "node:util";
import type { Config } from "../../config.ts";
import { DAY_MS } from "../../model/time.ts";
import { ownBuild } from "../place.ts";
import { bad, good, note, type Finding } from "./finding.ts";
import { createGatewayClient } from "../gateway-client.ts";

const MB = 1024 * 1024;
/** Measured, see docs/operations/sizing.md: the gateway itself, what each number takes, and room for everything else. */
const GATEWAY_MB = 126;
const NUMBER_MB = 5;
const SYSTEM_MB = 256;
const ENDING_CERTIFICATE_DAYS = 14;
const ASKING_MS = 5_000;

/** Is there memory for the gateway? @param bytes of the machine, or what the container may have */
export function checkMemory(
  bytes = Math.min(totalmem(), process.constrainedMemory?.() || Infinity),
): Finding {
  const mb = Math.round(bytes / MB);
  const numbers = Math.floor((mb - SYSTEM_MB - GATEWAY_MB) / NUMBER_MB / 10) * 10;
  return numbers < 10
    ? bad("memory", `${mb} MB: the gateway needs 512 MB or more; give the machine or container more memory.`)
    : good("memory", `${mb} MB, enough for about ${numbers} numbers`);
}

/** Is the clock kept right? @param program that says so: systemd's `timedatectl` */
export async function checkClock(program = "timedatectl"): Promise<Finding> {
  const args = ["show", "--property=NTPSynchronized", "--value"];
  const said = await promisify(execFile)(program, args, { timeout: ASKING_MS }).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
  if (said === "yes") return good("time", `${new Date().toISOString()}, synchronized`);
  const now = `${new Date().toISOString()} by this machine's clock`;
  return said === "no"
    ? bad(
        "time",
        `${now}, which is not synchronized: timedatectl set-ntp true. Webhook signatures depend on the time.`,
      )
    : note(
        "time",
        `${now}; could not find out whether it is synchronized: make sure that NTP runs, here or on the host`,
      );
}

/** Does everything in the data folder belong to whoever the folder belongs to? */
export async function checkOwners(dataDir: string): Promise<Finding[]> {
  const folder = await stat(dataDir).catch(() => null);
  if (folder === null) return [];
  const names = await readdir(dataDir).catch(() => []);
  const others: string[] = [];
  for (const name of names)
    if ((await stat(join(dataDir, name)).catch(() => folder)).uid !== folder.uid) others.push(name);
  if (others.length === 0) return [];
  const owner = `${folder.uid}:${folder.gid}`;
  return [
    bad(
      "owner",
      `${others.join(", ")} in ${dataDir} belong to a different user than the folder, and the gateway may not write to them: chown -R ${owner} ${dataDir}`,
    ),
  ];
}

/** Is the console there, which `npm run build` makes? @param root of the repository */
export function checkConsole(root: string): Finding {
  return existsSync(join(ownBuild ?? join(root, ".output"), "console/index.html"))
    ? good("console", "built; served at /console")
    : note("console", "not built, so GET / redirects to /docs. Build it with: npm run build");
}

/** Does the address that people are given lead to a gateway, with a certificate that holds? Nothing is asked of a local one. */
export async function checkTls(config: Config, now = Date.now()): Promise<Finding[]> {
  const url = new URL(config.publicUrl);
  if (url.protocol !== "https:") return [];
  const findings: Finding[] = [];
  if (!config.trustProxy)
    findings.push(
      note(
        "proxy",
        "TRUST_PROXY is off: behind a proxy, all requests seem to come from the proxy. Set TRUST_PROXY=1.",
      ),
    );
  const certificate = await certificateOf(url).catch((error: unknown) => error as Error);
  if (certificate instanceof Error)
    return [
      ...findings,
      bad(
        "tls",
        `${url.host}: ${certificate.message}. Make sure that its name points here and that port ${url.port || 443} is open, and look at the proxy's log.`,
      ),
    ];
  const days = Math.floor((Date.parse(certificate.valid_to) - now) / DAY_MS);
  const until = `the certificate of ${url.host} is valid until ${new Date(certificate.valid_to).toISOString()}`;
  findings.push(
    days < ENDING_CERTIFICATE_DAYS
      ? bad("tls", `${until}: ${days} days; the proxy has not renewed it. See the proxy's log.`)
      : good("tls", until),
  );
  const live = await createGatewayClient(config.publicUrl, undefined, ASKING_MS)
    .get<{ status?: boolean }>("/health/live")
    .catch(() => null);
  findings.push(
    live?.status === true
      ? good("proxy", `${config.publicUrl} leads to a gateway`)
      : bad(
          "proxy",
          `${config.publicUrl} does not reach a gateway: start it, or check where the proxy sends requests.`,
        ),
  );
  return findings;
}

/** @throws Error when there is no connection, or its certificate is not believed */
function certificateOf({ hostname, port }: URL): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: hostname, port: Number(port) || 443, servername: hostname, timeout: ASKING_MS },
      () => {
        resolve(socket.getPeerCertificate());
        socket.end();
      },
    );
    socket.on("timeout", () => socket.destroy(new Error("nobody answers")));
    socket.on("error", reject);
  });
}
