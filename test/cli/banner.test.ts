import { describe, expect, it } from "vitest";
import { startBanner, type BannerFacts } from "../../src/process/banner.ts";
import { ADMIN_TOKEN_FILE, MASTER_KEY_FILE } from "../../src/store/secrets.ts";

const facts: BannerFacts = {
  version: "0.1.0",
  url: "http://127.0.0.1:3000",
  publicUrl: "http://127.0.0.1:3000",
  dataDir: "/srv/parley",
  databaseUrl: "file:/srv/parley/parley.db",
  masterKeyGiven: false,
  adminTokenGiven: false,
  linkedNumbers: 0,
  simulatorUrl: null,
};

describe("what npm start prints", () => {
  it("says where it listens, where data and secrets are, and how to link the first number", () => {
    expect(startBanner(facts)).toBe(`
  Parley 0.1.0

  listens    http://127.0.0.1:3000
  whatsapp   the real one
  data       /srv/parley
  database   parley.db
  secrets    /srv/parley/${MASTER_KEY_FILE}, /srv/parley/${ADMIN_TOKEN_FILE} (keep a copy)
  numbers    none linked yet

  next       npm run parley -- link <number>  shows a QR code to scan
             npm run parley -- doctor         is everything in order?

`);
  });

  it("does not name files for secrets that came from the environment", () => {
    const text = startBanner({ ...facts, masterKeyGiven: true, adminTokenGiven: true });
    expect(text).toContain("secrets    from the environment\n");
  });

  it("shows no credentials of a database server", () => {
    const text = startBanner({
      ...facts,
      databaseUrl: "libsql://user:geheim@db.example.com?authToken=geheim",
    });
    expect(text).toContain("database   db.example.com\n");
    expect(text).not.toContain("geheim");
  });

  it("says so when it speaks to a simulator, has another public address, or could not load a bot", () => {
    const text = startBanner({
      ...facts,
      publicUrl: "https://chat.example.com",
      simulatorUrl: "ws://127.0.0.1:5000/ws/chat",
      brokenBots: [{ id: "menu", error: "Unexpected token" }],
      linkedNumbers: 2,
    });
    expect(text).toContain("shown as   https://chat.example.com\n");
    expect(text).toContain("whatsapp   simulator at ws://127.0.0.1:5000/ws/chat\n");
    expect(text).toContain("broken bot menu: Unexpected token\n");
    expect(text).toContain("numbers    2 linked\n");
  });
});
