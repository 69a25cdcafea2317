import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { benchConsole } from "../bench/console.ts";

/** `npm run bench -- --console` with fewer chats, and the whole of one long conversation. */
it(
  "a list of a thousand chats and a conversation of 100,000 messages are scrolled without a stall, and nothing passes unseen",
  { timeout: 3_600_000 },
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "parley-scroll-"));
    onTestFinished(() => removeFolder(parent));
    const said: string[] = [];
    const isGood = await benchConsole({
      folder: join(parent, "data"),
      entry: inject("serverEntry"),
      messages: 10_000,
      conversation: 100_000,
      say: (line) => void said.push(line),
    });
    expect({ isGood, said }).toMatchObject({ isGood: true });
  },
);
