import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  checkConverter,
  checkDatabase,
  checkDataFolder,
  checkGateway,
  checkNode,
  checkPublicUrl,
  checkWhatsApp,
} from "../../src/cli/doctor/checks.ts";
import { loadConfig, type Config } from "../../src/config.ts";

let folder: string;

const config = (env: Record<string, string> = {}): Config => loadConfig({ DATA_DIR: folder, ...env });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
});
afterEach(() => removeFolder(folder));

async function listen(answer: (path: string) => string): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => response.end(answer(request.url ?? "")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

describe("the doctor", () => {
  it.each([
    ["20.19.0", "good"],
    ["20.18.3", "bad"],
    ["21.7.0", "bad"],
    ["22.11.0", "bad"],
    ["22.12.0", "good"],
    ["24.1.0", "good"],
  ])("judges Node %s as %s", (version, state) => {
    expect(checkNode(version).state).toBe(state);
  });

  it("finds secrets that others may read, and names the cure", async () => {
    writeFileSync(join(folder, "master-key"), "x", { mode: 0o600 });
    expect((await checkDataFolder(config())).map(({ state }) => state)).toEqual(["good", "good"]);

    chmodSync(join(folder, "master-key"), 0o644);
    const findings = await checkDataFolder(config());
    expect(findings[1]).toMatchObject({ name: "secrets", state: "bad" });
    expect(findings[1]?.text).toContain(`chmod 600 ${join(folder, "master-key")}`);
  });

  it("finds a data folder that others may look into, and names the cure", async () => {
    chmodSync(folder, 0o750);
    expect(await checkDataFolder(config())).toContainEqual(
      expect.objectContaining({ state: "bad", text: expect.stringContaining(`chmod 700 ${folder}`) }),
    );
  });

  it("says that a data folder will be made", async () => {
    const findings = await checkDataFolder(config({ DATA_DIR: join(folder, "later") }));
    expect(findings).toMatchObject([{ name: "data", state: "note" }]);
  });

  it("tells a database from another file", async () => {
    expect((await checkDatabase(config())).state).toBe("note");
    writeFileSync(join(folder, "parley.db"), "SQLite format 3\0 and more");
    expect((await checkDatabase(config())).state).toBe("good");
    writeFileSync(join(folder, "parley.db"), "a letter to my aunt");
    expect(await checkDatabase(config())).toMatchObject({ state: "bad" });
  });

  it("sees a running gateway, a free port, and a port that another program has", async () => {
    const parley = await listen(() => JSON.stringify({ status: true, checks: { database: true } }));
    const other = await listen(() => "<html>");
    try {
      const at = (port: number) => config({ PORT: String(port) });
      expect((await checkGateway(at(parley.port))).text).toBe(`runs at http://127.0.0.1:${parley.port}`);
      expect((await checkGateway(at(other.port))).state).toBe("bad");
    } finally {
      parley.server.close();
      other.server.close();
    }
    expect(await checkGateway(config({ PORT: String(await freePort()) }))).toMatchObject({ state: "note" });
  });

  it("finds the converter that is set, and says when it is not there", async () => {
    const fake = join(folder, "ffmpeg");
    writeFileSync(fake, "#!/bin/sh\necho ffmpeg version 9.9-test\n", { mode: 0o755 });
    expect(await checkConverter(config({ FFMPEG_PATH: fake }))).toMatchObject({
      state: "good",
      text: "9.9-test",
    });
    expect(await checkConverter(config({ FFMPEG_PATH: "no-such-program" }))).toMatchObject({ state: "note" });
  });

  it("says when messages go to a simulator", () => {
    expect(checkWhatsApp(config()).state).toBe("good");
    const simulator = { WHATSAPP_WS_URL: "ws://127.0.0.1:1/ws", WHATSAPP_NOISE_ROOT: "ab".repeat(32) };
    expect(checkWhatsApp(config(simulator)).text).toContain("no real message");
  });

  it("warns of a public address without encryption", () => {
    expect(checkPublicUrl(config({ PUBLIC_URL: "https://chat.example.com" })).state).toBe("good");
    expect(checkPublicUrl(config({ PUBLIC_URL: "http://chat.example.com" })).state).toBe("note");
  });
});
