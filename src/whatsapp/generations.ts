/**
 * Names under which memory keeps what it knows of numbers. A number that is given up and comes back has another name: what
 * was still being read or written for it then ends up where nobody looks.
 */
export interface Generations {
  current(deviceId: number): string;
  /** @returns the names that these numbers had until now */
  end(deviceIds: readonly number[]): Set<string>;
}

/** Each number is in its first one. */
export function createGenerations(): Generations {
  const ended = new Map<number, number>();
  const current = (deviceId: number): string => `${deviceId}.${ended.get(deviceId) ?? 0}`;
  return {
    current,
    end(deviceIds) {
      const names = new Set(deviceIds.map(current));
      for (const id of deviceIds) ended.set(id, (ended.get(id) ?? 0) + 1);
      return names;
    },
  };
}
