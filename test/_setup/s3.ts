import S3rver from "@20minutes/s3rver";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Environment } from "../../src/config.ts";
import { removeFolder } from "./folders.ts";

const BUCKET = "parley";

/** A real server that speaks S3, of one test's own. */
export interface S3Server {
  /** What a gateway is told to use it. */
  env: Environment;
  /** Address of a folder of its bucket, as MEDIA_STORE and BACKUP_TO take it. */
  address(folder: string): string;
  /** Nobody reaches it any more. */
  stop(): Promise<void>;
  /** On the same port, with what it had. */
  start(): Promise<void>;
  /** Names of what it has, in their order. */
  names(folder?: string): string[];
}

/** Ends with the test. */
export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "parley-s3-"));
  let port = 0;
  let server: S3rver | null = null;

  async function start(): Promise<void> {
    server = new S3rver({
      port,
      address: "127.0.0.1",
      silent: true,
      directory,
      configureBuckets: [{ name: BUCKET }],
    });
    ({ port } = await server.run());
  }
  async function stop(): Promise<void> {
    const running = server;
    server = null;
    await running?.close();
  }

  onTestFinished(async () => {
    await stop();
    removeFolder(directory);
  });
  await start();
  const address = (folder: string): string =>
    `s3://${BUCKET}/${folder}?region=eu-central-1&endpoint=http://127.0.0.1:${port}`;
  return {
    address,
    env: {
      MEDIA_STORE: address("files"),
      AWS_ACCESS_KEY_ID: "S3RVER",
      AWS_SECRET_ACCESS_KEY: "S3RVER",
    },
    start,
    stop,
    names(within = "files") {
      const folder = join(directory, BUCKET, within);
      if (!existsSync(folder)) return [];
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .flatMap((name) => /^(.+)\._S3rver_object$/.exec(name)?.[1] ?? [])
        .toSorted();
    },
  };
}
