import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import { testConsole } from "../_setup/console.ts";
import { removeFolder } from "../_setup/folders.ts";
import { benchConsole } from "../bench/console.ts";

/** `npm run bench -- --console` with fewer chats, and the whole of one long conversation; how smoothly, only the bench can say. */
it(
  "a list of a thousand chats and a conversation of 100,000 messages are scrolled, and nothing passes unseen",
  { timeout: 3_600_000 },
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "parley-scroll-"));
    onTestFinished(() => removeFolder(parent));
    const said: string[] = [];
    const results = await benchConsole({
      folder: join(parent, "data"),
      entry: inject("serverEntry"),
      consoleDir: await testConsole(),
      messages: 10_000,
      conversation: 100_000,
      // So high that it takes minutes, not half an hour.
      height: 4_000,
      say: (line) => void said.push(line),
    });
    expect(results.length).toBeGreaterThan(2);
    for (const { what, seen, due } of results)
      expect(seen, `${what}\n${said.join("\n")}`).toBeGreaterThanOrEqual(due);
  },
);
