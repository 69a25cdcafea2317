import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findSqld } from "../_setup/sqld.ts";
import { hasNamespaces, setPriv, UNSHARE_NET } from "./tools.ts";

const INSIDE = "PARLEY_DRILL_NETWORK";

/** This process has a network of its own. */
export const isInside = (): boolean => process.env[INSIDE] === "own";

/**
 * Starts this program again in a network of its own, in which services may listen anywhere and cables can be cut, without
 * touching the machine's.
 *
 * @returns its exit code; null when the system does not allow it
 */
export async function runInside(program: string, args: string[]): Promise<number | null> {
  if (!hasNamespaces()) return null;
  const command = [...setPriv(), ...UNSHARE_NET, process.execPath, "--import", "tsx"];
  const [first, ...rest] = [...command, fileURLToPath(program), ...args];
  const sqld = findSqld();
  const child = spawn(first!, rest, {
    stdio: "inherit",
    // Nothing can be fetched in there.
    env: { ...process.env, [INSIDE]: "own", ...(sqld !== null && { SQLD: sqld }) },
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}
