import type { Fault } from "../drill.ts";
import { pause } from "./pause.ts";

const KILLS = 20;
const LONGEST_AWAY_MS = 3_000;
const LONGEST_LIFE_MS = 3_000;

/** Everything but the simulator, which is the witness. */
export const anythingKilled: Fault = {
  name: "random-kills",
  what: `${KILLS} kills of anything: nodes, Redis, the libSQL server`,
  database: true,
  async run(strike) {
    const { cluster, random } = strike;
    await strike.struck();
    for (let i = 0; i < KILLS; i++) {
      const startable = [cluster.database, cluster.redis, ...cluster.nodes.map(({ part }) => part)];
      const one = startable[random.integer(startable.length)]!;
      await ("part" in one ? one.part : one).kill();
      await pause(random.integer(LONGEST_AWAY_MS));
      // A node that finds no database at its start ends again, as it should: somebody starts it until it stays.
      await one.start();
      await pause(random.integer(LONGEST_LIFE_MS));
    }
    await strike.answered();
  },
};
