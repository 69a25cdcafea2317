import type { Fault } from "../drill.ts";
import { pause, slowDown } from "./pause.ts";

const AWAY_MS = 5_000;
const READ_ONLY_MS = 10_000;

const databaseKilled: Fault = {
  name: "database-killed",
  what: "SIGKILL of the libSQL server; back after 5 s, weak at first, then durable again",
  database: true,
  async run(strike) {
    const { database } = strike.cluster;
    await database.part.kill();
    await strike.struck();
    await pause(AWAY_MS);
    await database.part.start();
    await pause(1_000);
    await database.start();
    await strike.answered();
  },
};

const databaseSlow: Fault = {
  name: "database-slow",
  what: "the libSQL server stands still for 300 ms of every 400, for 15 s",
  async run(strike) {
    const slow = slowDown(strike.cluster.database.part, 15_000);
    await strike.struck();
    await slow;
    await strike.answered();
  },
};

const databaseReadOnly: Fault = {
  name: "database-read-only",
  what: "the libSQL server refuses every write for 10 s",
  database: true,
  async run(strike) {
    const { database } = strike.cluster;
    await database.blockWrites(true);
    await strike.struck();
    await pause(READ_ONLY_MS);
    await database.blockWrites(false);
    await strike.answered();
  },
};

export const DATABASE = [databaseKilled, databaseSlow, databaseReadOnly];
