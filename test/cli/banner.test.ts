import { describe, expect, it } from "vitest";
import { startBanner, type BannerFacts } from "../../src/serve/banner.ts";
import { ADMIN_TOKEN_FILE, MASTER_KEY_FILE } from "../../src/store/sealed/secrets.ts";

const facts: BannerFacts = {
  version: "0.1.0",
  url: "http://127.0.0.1:3000",
  consoleUrl: "http://127.0.0.1:3000/console",
  signInUrl: null,
  dataDir: "/srv/parley",
  databaseUrl: "file:/srv/parley/parley.db",
  masterKeyGiven: false,
  adminTokenGiven: false,
  linkedNumbers: 0,
  waitingNumbers: 0,
  hasConverter: true,
  simulatorUrl: null,
  brokenBots: [],
};

describe("what npm start prints", () => {
  it("says what to open, how the numbers are, and where data and secrets lie", () => {
    expect(startBanner({ ...facts, signInUrl: "http://127.0.0.1:3000/console/sign-in#abc" })).toBe(`
  Parley 0.1.0

  Open       http://127.0.0.1:3000/console
  Sign in    http://127.0.0.1:3000/console/sign-in#abc
             works once, within ten minutes

  numbers    none linked yet
  listens    http://127.0.0.1:3000
  whatsapp   the real one
  data       /srv/parley
  database   parley.db
  secrets    /srv/parley/${MASTER_KEY_FILE}, /srv/parley/${ADMIN_TOKEN_FILE} (keep a copy)

  or type    npm run parley -- link <number>  shows a QR code to scan
             npm run parley -- doctor         checks that everything works

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

  it("says so when it speaks to a simulator, when a number or ffmpeg is missing, or a bot could not be loaded", () => {
    const text = startBanner({
      ...facts,
      simulatorUrl: "ws://127.0.0.1:5000/ws/chat",
      brokenBots: [{ id: "menu", error: "Unexpected token" }],
      linkedNumbers: 2,
      waitingNumbers: 1,
      hasConverter: false,
    });
    expect(text).toContain("missing    ffmpeg, which makes voice notes: install it, or set FFMPEG_PATH\n");
    expect(text).toContain("whatsapp   simulator at ws://127.0.0.1:5000/ws/chat\n");
    expect(text).toContain("broken bot menu: Unexpected token\n");
    expect(text).toContain("numbers    2 linked, 1 needs you: see the console\n");
  });
});
