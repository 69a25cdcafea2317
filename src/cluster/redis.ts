import { Redis, type RedisOptions } from "ioredis";
import type { Logger } from "../log.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import { createRedisWatch, REDIS_OPTIONS } from "../store/redis.ts";
import type { SecretBox } from "../store/store.ts";

/** How long a command may take, and how long a connection may be silent when it has been asked something. */
const ANSWER_MS = 3 * SECOND_MS;
const SILENCE_MS = 5 * SECOND_MS;
/** A connection that has died without a word is found after this and `SILENCE_MS`. */
const HEARTBEAT_MS = 5 * SECOND_MS;

/** The Redis that nodes share. It moves work and carries hints; what has to be kept is in the database. */
export interface SharedRedis {
  readonly url: string;
  /**
   * What every key and channel of this installation begins with, `parley:` and a hash of the master key: others may use the
   * same Redis.
   */
  readonly prefix: string;
  /** For short commands. They fail at once while Redis is away, and after three seconds when it does not answer. */
  readonly commands: Redis;
  /** One more connection, for what blocks or subscribes. It is watched and closed with the others. */
  connect(options?: RedisOptions): Redis;
  /** Some connection was lost, and has not come back yet. */
  readonly isAway: boolean;
  close(): void;
}

interface RedisDeps {
  url: string;
  box: Pick<SecretBox, "hmac">;
  log: Logger;
  time: Pick<Time, "every">;
}

/** Connects in the background, now and after each outage. Throws nothing: a Redis that is away is latency. */
export function createRedis({ url, box, log, time }: RedisDeps): SharedRedis {
  const watched = createRedisWatch(
    log,
    "until it is back, nodes use only the database and are a little slower",
  );
  const connections = new Set<Redis>();

  function connect(options: RedisOptions = {}): Redis {
    const connection = new Redis(url, {
      ...REDIS_OPTIONS,
      commandTimeout: ANSWER_MS,
      socketTimeout: SILENCE_MS,
      ...options,
    });
    watched.watch(connection);
    connections.add(connection);
    connection.once("end", () => connections.delete(connection));
    return connection;
  }

  const commands = connect();
  const cancel = time.every(HEARTBEAT_MS, () => {
    // Its silence closes the connection, and what comes of the ping is of no interest.
    if (commands.status === "ready") commands.ping().catch(() => undefined);
  });

  return {
    url,
    prefix: `parley:${box.hmac("redis", "prefix").toString("hex", 0, 6)}`,
    commands,
    connect,
    get isAway() {
      return watched.isAway || commands.status !== "ready";
    },
    close() {
      cancel();
      for (const connection of connections) connection.disconnect();
    },
  };
}
