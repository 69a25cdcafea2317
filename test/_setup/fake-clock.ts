import { existsSync } from "node:fs";

const LIBRARIES = ["x86_64", "aarch64"].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`);

/** Settings under which a process loads libfaketime. @throws when it is not installed */
export function withFakeClock(settings: Record<string, string>): Record<string, string> {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (library === undefined)
    throw new Error("libfaketime is needed to set the clock: apt-get install faketime");
  return { LD_PRELOAD: library, ...settings };
}

const LEASE_SECONDS = 15;

/**
 * Settings under which a gateway's clocks and timers run so many times faster, from now on: for what would only wait. Its
 * time limits are as much shorter for everybody it talks to. As a node it has to renew its leases as seldom as any other.
 */
export const fasterClock = (times: number): Record<string, string> =>
  withFakeClock({ FAKETIME: `+0 x${times}`, LEASE_SECONDS: String(LEASE_SECONDS * times) });
