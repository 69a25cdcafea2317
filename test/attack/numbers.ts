import { link } from "../bench/gateway-client.ts";
import type { Arena } from "./attack.ts";

/**
 * Links numbers of the attacker's for the length of one attack.
 *
 * @param prefix of their digits, to which two are added
 * @param together all in the same moment. Default: one after the other
 */
export async function withNumbers<T>(
  { gateway, sim, attacker: { key } }: Arena,
  { count, prefix, together = false }: { count: number; prefix: string; together?: boolean },
  work: (numbers: string[]) => Promise<T>,
): Promise<T> {
  const numbers = Array.from({ length: count }, (_, index) => prefix + String(index).padStart(2, "0"));
  try {
    const all = numbers.map((number) => () => link(gateway, sim, key, number));
    if (together) await Promise.all(all.map((one) => one()));
    else for (const one of all) await one();
    return await work(numbers);
  } finally {
    for (const number of numbers) await gateway.delete(`/devices/${number}`, { key });
  }
}

/** Looks again and again. @throws `otherwise` when it does not come to hold in time */
export async function until(
  holds: () => boolean | Promise<boolean>,
  otherwise: string,
  patienceMs = 10_000,
): Promise<void> {
  for (const begun = performance.now(); !(await holds());) {
    if (performance.now() - begun > patienceMs) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
