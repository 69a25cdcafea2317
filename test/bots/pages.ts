import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryRoot } from "../../src/config.ts";
import { createTestChat, type AnyBot } from "../../src/testing/index.ts";

/** A block of code of a page that says which file it is. */
export interface PageFile {
  /** As its first line gives it: `bots/hello.ts`. */
  path: string;
  code: string;
  /** The conversation below it; null when there is none. */
  talk: string | null;
}

const BLOCK = /^```(\w+)\n([^]*?)^```$/gm;

export function filesOf(page: string): PageFile[] {
  const text = readFileSync(join(repositoryRoot(), "docs", page), "utf8");
  const blocks = [...text.matchAll(BLOCK)].map(([, language, code = ""]) => ({ language, code }));
  return blocks.flatMap(({ code }, index) => {
    const path = /^\/\/ (\S+\.(?:ts|mts|js|mjs))\n/.exec(code)?.[1];
    const below = blocks[index + 1];
    const talk = below?.language === "text" && /^user: /m.test(below.code) ? below.code : null;
    return path === undefined ? [] : [{ path, code, talk }];
  });
}

/** Writes the files of a page into a folder. */
export function writeFiles(folder: string, files: readonly PageFile[]): void {
  for (const { path, code } of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

/**
 * Has the conversation of a page with a bot. Lines in parentheses are what happens around it.
 *
 * @returns what was said, as the page should have it
 */
export async function have(bot: AnyBot, talk: string): Promise<string> {
  const config = /^\(config: (.*)\)$/m.exec(talk)?.[1];
  const webhook = /^\(webhook: (.*)\)$/m.exec(talk)?.[1];
  const chat = await createTestChat([bot], {
    ...(config !== undefined && { config: JSON.parse(config) as Record<string, unknown> }),
    ...(webhook !== undefined && { webhook: () => webhook }),
  });
  try {
    for (const line of talk.split("\n")) {
      const [, kind, said = ""] = /^(user|owner): (.*)$/.exec(line) ?? [];
      const [, label] = /^\[vote\] (.*)$/.exec(said) ?? [];
      const [, caption] = /^\[image\] (.*)$/.exec(said) ?? [];
      const [, later] = /^\((\d+m) later\)$/.exec(line) ?? [];
      const [, url, answer] = /^\((https:\S+) answers (.*)\)$/.exec(line) ?? [];
      if (label !== undefined) await chat.vote(label);
      else if (caption !== undefined) await chat.media("image", { caption });
      else if (kind === "user") await chat.user(said);
      else if (kind === "owner") await chat.ownerTypes(said);
      else if (later !== undefined) await chat.advance(later as `${number}m`);
      else if (line === "(kill -9)") await chat.kill();
      else if (url !== undefined) chat.stub(url, JSON.parse(answer!) as object);
    }
    return plain(chat.transcript().join("\n"));
  } finally {
    await chat.close();
  }
}

/** A conversation without what happens around it. */
export function plain(talk: string): string {
  const lines = talk.split("\n").map((line) => line.trimEnd());
  return lines
    .filter((line) => !/^\(.*\)$/.test(line))
    .join("\n")
    .trim();
}
