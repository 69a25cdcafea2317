import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, type TestContext } from "vitest";
import { removeFolder } from "../_setup/folders.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const SCRIPTS = {
  lint: "exit 0",
  "fmt:check": "exit 0",
  typecheck: "exit 0",
  "test:quick": "vitest run --project quick",
  test: "vitest run",
};
const CONFIG = `
import Verdict from "${root}test/_setup/verdict.ts";
export default {
  test: {
    pool: "forks",
    maxWorkers: 1,
    reporters: ["default", new Verdict()],
    projects: [
      { extends: true, test: { name: "quick", include: ["test/quick/*.test.js"] } },
      { extends: true, test: { name: "long", include: ["test/**/*.test.js"], exclude: ["test/quick/*"] } },
    ],
  },
};
`;
const GREEN = toy(`it("is green", () => {});`);

/** A file of tests. */
function toy(tests: string): string {
  return `import { beforeAll, expect, it } from "vitest";\nimport { existsSync, writeFileSync } from "node:fs";\n${tests}\n`;
}
/** Fails at its first run, and passes at its second. */
const failsOnce = (name: string): string =>
  toy(`it("comes late", () => {
  const isSecond = existsSync(".test/${name}");
  writeFileSync(".test/${name}", "");
  expect(isSecond).toBe(true);
});`);

/** A repository with these files and scripts. @returns what its gate printed, and how it ended */
async function gate(
  // Tests that run side by side end each for itself.
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  files: Record<string, string>,
  scripts: Partial<typeof SCRIPTS> = {},
  ...options: string[]
): Promise<{ code: number | null; lines: string[]; printed: string; log: string }> {
  const folder = mkdtempSync(join(tmpdir(), "parley-gate-"));
  onTestFinished(() => removeFolder(folder));
  const all: Record<string, string> = {
    "package.json": JSON.stringify({ type: "module", scripts: { ...SCRIPTS, ...scripts } }),
    "vitest.config.mjs": CONFIG,
    "test/quick/list.test.js": GREEN,
    ".gitignore": "node_modules\n.test\n",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=toy", "-c", "user.email=toy@example.org", ...args], {
      cwd: folder,
      stdio: "ignore",
    });
  git("init", "-q");
  git("add", ".");
  git("commit", "-q", "-m", "toys");
  const tsx = join(root, "node_modules/tsx/dist/loader.mjs");
  // As from a shell: a run within a run must not take itself for one of its workers.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST|NODE_OPTIONS)/.test(name)),
  );
  const child = spawn(process.execPath, ["--import", tsx, join(root, "test/gate/main.ts"), ...options], {
    cwd: folder,
    env: { ...env, CI: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  const begin = printed.lastIndexOf("\n\n", printed.lastIndexOf(" Machine: "));
  return {
    code,
    printed,
    lines: printed
      .slice(begin)
      .split("\n")
      .filter((line) => line.trim() !== ""),
    log: readFileSync(join(folder, ".test/gate.log"), "utf8"),
  };
}

const fails = (lines: string[]): string[] => lines.filter((line) => line.startsWith(" FAIL"));
const count = (lines: string[]): string => lines.at(-1)!;

describe.concurrent("the gate", () => {
  it("is green when all is, says what the machine was like, and counts", async (test) => {
    const { code, lines, printed, log } = await gate(test, { "test/a.test.js": GREEN });

    expect(lines).toEqual([
      expect.stringMatching(
        /^ Machine: load [\d.]+ on \d+ cores, steal [\d.]+ %, memory free .* GB \(least .*\/dev\/shm free .*; the tree did not change$/,
      ),
      "2 passed, 0 failed",
    ]);
    expect(code).toBe(0);
    expect(log).toBe(printed);
  });

  it("says of every kind of red what it was, and where", async (test) => {
    const { code, lines, printed } = await gate(test, {
      "test/a-fails.test.js": toy(`it("adds", () => expect(1 + 1).toBe(3));`),
      "test/b-hook.test.js": toy(
        `beforeAll(() => { throw new Error("no server"); });\nit("asks", () => {});`,
      ),
      "test/c-outside.test.js": toy(
        `it("passes", async () => {\n  Promise.reject(new Error("nobody waits"));\n  await new Promise((resolve) => setTimeout(resolve, 50));\n});`,
      ),
      "test/d-unread.test.js": `import "./nowhere.js";`,
      "test/e-killed.test.js": toy(
        `it("is first", () => {});\nit("kills", () => process.kill(process.pid, "SIGKILL"));\nit("is last", () => {});`,
      ),
    });

    expect(fails(lines), printed).toEqual([
      " FAIL  test/a-fails.test.js [long] > adds",
      " FAIL  test/b-hook.test.js [long]",
      " FAIL  test/d-unread.test.js [long]",
      expect.stringMatching(/^ FAIL {2}Unhandled error outside of any test, at test\/c-outside\.test\.js:4/),
      expect.stringMatching(/^ FAIL {2}Unhandled error outside of any test/),
      " FAIL  test/e-killed.test.js [long] has no verdict",
    ]);
    const text = lines.join("\n");
    expect(text).toContain("AssertionError: expected 2 to be 3");
    expect(text).toContain("Error: no server");
    expect(text).toContain("Error: nobody waits");
    expect(text).toContain("nowhere.js");
    expect(count(lines)).toMatch(/^\d+ passed, 6 failed$/);
    expect(code).toBe(1);
  });

  it("stops at what is quick, and goes on when it is told to", async (test) => {
    const red = { lint: "echo 'src/a.ts:1:2: unused variable'; exit 3", typecheck: "exit 1" };
    const files = {
      "test/quick/list.test.js": toy(
        `it("has a list", () => expect([1], "Add it to list.ts.").toEqual([]));`,
      ),
    };
    const [stopped, went] = [await gate(test, files, red), await gate(test, files, red, "--all")];

    for (const { code, lines } of [stopped, went]) {
      expect(fails(lines)).toEqual([
        " FAIL  npm run lint",
        " FAIL  npm run typecheck",
        " FAIL  test/quick/list.test.js [quick] > has a list",
      ]);
      expect(lines.join("\n")).toContain("src/a.ts:1:2: unused variable");
      expect(lines.join("\n")).toContain("Add it to list.ts.");
      expect(count(lines)).toBe("0 passed, 3 failed");
      expect(code).toBe(1);
    }
    expect(stopped.printed).not.toContain("$ npm test");
    expect(went.printed).toContain("$ npm test");
  });

  it("asks once more, by itself, what failed, and says that it is flaky", async (test) => {
    const { code, lines, printed } = await gate(test, {
      "test/a.test.js": failsOnce("a"),
      "test/b.test.js": GREEN,
    });

    expect(fails(lines), printed).toEqual([]);
    expect(lines.at(-2)).toMatch(
      /^ FLAKY test\/a\.test\.js \[long\] > comes late: AssertionError: expected false to be true/,
    );
    expect(count(lines)).toBe("3 passed, 0 failed");
    expect(code).toBe(0);
  });

  it("never asks twice where a failure is a verdict, nor what a guarantee is proved by, nor when many fail", async (test) => {
    const guarantee = '| **Nothing is lost.** | | `test/named.test.js` "comes late" |';
    const many = Object.fromEntries(
      ["a", "b", "c", "d", "e", "f"].map((name) => [`test/${name}.test.js`, failsOnce(name)]),
    );
    const [crash, named, six] = [
      await gate(test, { "test/crash/a.test.js": failsOnce("a") }),
      await gate(test, { "test/named.test.js": failsOnce("a"), "docs/guarantees.md": guarantee }),
      await gate(test, many),
    ];

    for (const [{ code, lines, printed }, red] of [
      [crash, 1],
      [named, 1],
      [six, 6],
    ] as const) {
      expect(fails(lines)).toHaveLength(red);
      expect(count(lines)).toBe(`1 passed, ${red} failed`);
      expect(printed).not.toContain("npm test -- test/");
      expect(code).toBe(1);
    }
  });

  it("is red when the tests end without a report, and says that the tree changed under it", async (test) => {
    const { code, lines } = await gate(
      test,
      { "test/a.test.js": GREEN },
      { test: "echo changed > vitest.config.mjs; echo Error: no config; exit 0" },
    );

    expect(fails(lines)).toEqual([" FAIL  npm test"]);
    expect(lines.join("\n")).toContain("Error: no config");
    expect(lines.join("\n")).toContain("THE TREE CHANGED");
    expect(count(lines)).toBe("0 passed, 1 failed");
    expect(code).toBe(1);
  });
});
