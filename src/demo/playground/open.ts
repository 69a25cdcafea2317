import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Steps } from "../../cli/terminal.ts";
import type { Cleanup } from "../cleanup.ts";
import { openServices } from "../services.ts";
import { buildPageIfStale, PAGE_FOLDER } from "./build-page.ts";
import { readPages } from "./pages.ts";
import { createPlayground } from "./playground.ts";
import { servePlayground } from "./server.ts";

/** Where the playground is, and whose it is. */
export interface OpenPlayground {
  /** With the token that lets a browser in. */
  url: string;
  /** Of the gateway. */
  baseUrl: string;
  apiKey: string;
}

interface OpenOptions {
  /** Repository root. */
  root: string;
  steps: Steps;
  cleanup: Cleanup;
  watch(crashed: Promise<never>): void;
  /** Where stories are written. Default: `bots/` of the repository. */
  stories?: string | undefined;
  onTrouble(text: string): void;
}

/** Starts simulator and gateway, and serves the playground around them. @throws Error of the step that failed */
export async function openPlayground(options: OpenOptions): Promise<OpenPlayground> {
  const { root, steps, cleanup, watch, stories = join(root, "bots"), onTrouble } = options;
  const services = await openServices({ root, steps, cleanup, watch, restarts: true });
  await steps.run("page", async (report) => {
    const seconds = await buildPageIfStale(root, () => report("building the playground"));
    return seconds === null ? "up to date" : `${seconds.toFixed(1)} s`;
  });
  let url = "";
  await steps.run("playground", async () => {
    const playground = await createPlayground({ services, cleanup, stories, onTrouble });
    const pages = readPages(join(root, PAGE_FOLDER));
    const server = await servePlayground(playground, { token: randomBytes(24).toString("base64url"), pages });
    cleanup.add(() => server.close());
    url = server.url;
    return new URL(url).origin;
  });
  return { url, baseUrl: services.gateway.baseUrl, apiKey: services.apiKey };
}
