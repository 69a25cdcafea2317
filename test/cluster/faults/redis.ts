import type { Fault } from "../drill.ts";
import { pause, slowDown } from "./pause.ts";

const AWAY_MS = 10_000;

const redisKilled: Fault = {
  name: "redis-killed",
  what: "SIGKILL of Redis; back after 10 s",
  async run(strike) {
    const { redis } = strike.cluster;
    await redis.part.kill();
    await strike.struck();
    await Promise.all([strike.answered(), pause(AWAY_MS)]);
    await redis.start();
  },
};

export const redisEmptied: Fault = {
  name: "redis-emptied",
  what: "FLUSHALL, five times",
  async run(strike) {
    await strike.cluster.redis.command("FLUSHALL");
    await strike.struck();
    for (let i = 0; i < 4; i++) {
      await pause(1_500);
      await strike.cluster.redis.command("FLUSHALL");
    }
    await strike.answered();
  },
};

const redisSlow: Fault = {
  name: "redis-slow",
  what: "Redis stands still for 300 ms of every 400, for 15 s",
  async run(strike) {
    const slow = slowDown(strike.cluster.redis.part, 15_000);
    await strike.struck();
    await Promise.all([slow, strike.answered()]);
  },
};

const redisFull: Fault = {
  name: "redis-full",
  what: "Redis takes no more data (maxmemory) for 15 s",
  async run(strike) {
    const { redis } = strike.cluster;
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    await strike.struck();
    await Promise.all([strike.answered(), pause(1.5 * AWAY_MS)]);
    await redis.command("CONFIG", "SET", "maxmemory", "0");
  },
};

export const REDIS = [redisKilled, redisEmptied, redisSlow, redisFull];
