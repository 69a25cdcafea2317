import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Steps } from "../../cli/terminal.ts";
import type { Cleanup } from "../cleanup.ts";
import { freePort } from "../../process/free-port.ts";
import { openServices } from "../services.ts";
import { buildPageIfStale, CONSOLE, PLAYGROUND } from "./build-page.ts";
import { readPages } from "./pages.ts";
import { createPlayground, type Playground } from "./playground.ts";
import { playgroundUrl, servePlayground } from "./server.ts";

/** Where the playground is, and whose it is. */
export interface OpenPlayground {
  /** With the token that lets a browser in. */
  url: string;
  /** Leads to the gateway's console, signed in. It has the token too. */
  consoleUrl: string;
  /** Of the gateway. */
  baseUrl: string;
  apiKey: string;
}

/** A folder of bots that somebody works on. */
interface AuthorOptions {
  /** Absolute. */
  folder: string;
  /** How it is shown. */
  name: string;
}

/** What is opened, and for whom. */
export interface OpenOptions {
  /** Repository root. */
  root: string;
  steps: Steps;
  cleanup: Cleanup;
  watch(crashed: Promise<never>): void;
  /** Where stories are written. Default: beside the bots. */
  stories?: string | undefined;
  /** Bots whose files are read again when they change, instead of those of the build. */
  author?: AuthorOptions | undefined;
  onTrouble(text: string): void;
}

/** Starts simulator and gateway, and serves the playground around them. @throws Error of the step that failed */
export async function openPlayground(options: OpenOptions): Promise<OpenPlayground> {
  const { root, steps, cleanup, watch, author, onTrouble } = options;
  const stories = options.stories ?? author?.folder ?? join(root, "bots");
  let playground: Playground | null = null;
  const build = (name: string, page: typeof PLAYGROUND) =>
    steps.run(name, async (report) => {
      const seconds = await buildPageIfStale(root, page, () => report(`building the ${name}`));
      return seconds === null ? "up to date" : `${seconds.toFixed(1)} s`;
    });
  if (author !== undefined) await build("console", CONSOLE);
  const dev = author && {
    folder: author.folder,
    consoleDir: join(root, CONSOLE.folder),
    onLine: (line: string): void => playground?.hear(line),
  };
  // Before the gateway, whose console leads there.
  const [port, token] = [await freePort(), randomBytes(24).toString("base64url")];
  const url = playgroundUrl(port, token);
  const services = await openServices({ root, steps, cleanup, watch, dev, playground: url, restarts: true });
  await build("page", PLAYGROUND);
  await steps.run("playground", async () => {
    playground = await createPlayground({ services, cleanup, stories, author, onTrouble });
    const pages = readPages(join(root, PLAYGROUND.folder));
    const server = await servePlayground(playground, { port, token, pages });
    cleanup.add(() => server.close());
    return new URL(url).origin;
  });
  return {
    url,
    consoleUrl: `${url}&open=console`,
    baseUrl: services.gateway.baseUrl,
    apiKey: services.apiKey,
  };
}
