import { spawnSync } from "node:child_process";

const known = new Map<string, boolean>();

/** Is there such a program, and does it do this? Asked once. */
export function can(program: string, ...args: string[]): boolean {
  const question = [program, ...args].join(" ");
  const answer = known.get(question) ?? spawnSync(program, args, { stdio: "ignore" }).status === 0;
  known.set(question, answer);
  return answer;
}

/** What stands before a command so that the kernel kills it together with this process, as far as the system has it. */
export function setPriv(): string[] {
  const prefix = ["setpriv", "--pdeathsig", "KILL"];
  return can("setpriv", "--pdeathsig", "KILL", "true") ? prefix : [];
}

/** `--map-root-user` makes of everybody the root of the new namespace, where the system allows it. */
export const UNSHARE_NET =
  process.getuid?.() === 0 ? ["unshare", "--net"] : ["unshare", "--map-root-user", "--net"];

/** Whether processes may be given networks of their own here, which can be cut. */
export function hasNamespaces(): boolean {
  const [program, ...args] = UNSHARE_NET;
  return can(program!, ...args, "ip", "link", "set", "lo", "up") && can("nsenter", "--version");
}

/** The library of `faketime` that lets a process believe in another time; null where it is not installed. */
export function fakeTimeLibrary(): string | null {
  const { stdout, status } = spawnSync("faketime", ["-m", "-f", "+0s", "printenv", "LD_PRELOAD"], {
    encoding: "utf8",
  });
  return status === 0 ? (stdout.trim().split(/[:\s]/)[0] ?? null) : null;
}
