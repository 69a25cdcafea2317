/** When each number is to be looked at: only those whose time has come cost a look into the table. */
export interface Timetable {
  /** Something of the number may go from this time on, Unix milliseconds; an earlier one that is known stays. */
  expect(deviceId: number, at: number): void;
  /** It is looked at now: its time is unknown until somebody expects something, and the others have their turns first. */
  serve(deviceId: number): void;
  /** Numbers whose time has come, those that have waited longest for a turn first. */
  due(now: number): number[];
  /** The earliest time of the numbers that `counts` accepts; infinite when there is none. */
  next(counts: (deviceId: number) => boolean): number;
}

/** A timetable without any times. */
export function createTimetable(): Timetable {
  /** In the order of their turns. */
  const times = new Map<number, number>();
  return {
    expect(deviceId, at) {
      times.set(deviceId, Math.min(times.get(deviceId) ?? at, at));
    },
    serve(deviceId) {
      times.delete(deviceId);
      times.set(deviceId, Infinity);
    },
    due: (now) => [...times].filter(([, at]) => at <= now).map(([deviceId]) => deviceId),
    next: (counts) =>
      [...times].reduce((next, [deviceId, at]) => (at < next && counts(deviceId) ? at : next), Infinity),
  };
}
