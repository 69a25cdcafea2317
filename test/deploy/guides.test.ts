import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";

const root = repositoryRoot();
const pages = [
  "README.md",
  "deploy/README.md",
  "docs/scaling.md",
  "docs/libsql-server.md",
  "docs/tutorial.md",
  "docs/upgrade.md",
  "docs/webhooks.md",
  ...readdirSync(join(root, "docs/operations")).map((name) => `docs/operations/${name}`),
];

/** The names by which headings of a page are linked to. */
const headings = (path: string): string[] =>
  [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe("the guides for operators", () => {
  it.each(pages)("%s leads only to what there is", (page) => {
    const links = [
      ...readFileSync(join(root, page), "utf8").matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g),
    ];
    const broken = links.filter(([, path = "", heading]) => {
      const target = path === "" ? join(root, page) : join(root, dirname(page), path);
      return !existsSync(target) || (heading !== undefined && !headings(target).includes(heading));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(pages)("%s names only files that there are", (page) => {
    const named = readFileSync(join(root, page), "utf8").matchAll(
      /(?:^|[ `"'(])((?:deploy|src|docs)\/[\w./-]*\w)/gm,
    );
    const missing = [...named]
      .map(([, path]) => path!)
      .filter((path) => !existsSync(join(root, path)) && !path.endsWith(".env"));
    expect(missing).toEqual([]);
  });
});
