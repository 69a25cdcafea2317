import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { DEPLOY_FOLDER } from "../_setup/deploy.ts";
import { openWorld } from "../_setup/world.ts";

/** What the image is asked with, as its Dockerfile says it. */
const [program, ...args] = JSON.parse(
  /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync(`${DEPLOY_FOLDER}Dockerfile`, "utf8"))![1]!,
) as string[];

/** @returns its exit code */
async function isHealthy(port: number): Promise<number | null> {
  const env = { PATH: process.env["PATH"], PORT: String(port) };
  const child = spawn(program!, args, { cwd: repositoryRoot(), env, stdio: "inherit" });
  return ((await once(child, "close")) as [number | null])[0];
}

it("the image's health is that of its gateway: well while it is ready, ill when it is not or is gone", async () => {
  const { gateway } = await openWorld();
  expect(await isHealthy(gateway.port)).toBe(0);
  await gateway.stop();
  expect(await isHealthy(gateway.port)).toBe(1);

  // As a gateway answers that ends.
  const ending = createServer((_, response) => response.writeHead(503).end("{}")).listen(0, "127.0.0.1");
  onTestFinished(() => void ending.close());
  await once(ending, "listening");
  expect(await isHealthy((ending.address() as AddressInfo).port)).toBe(1);
});
