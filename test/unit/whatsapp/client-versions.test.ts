import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { HOUR_MS } from "../../../src/model/time.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import { openStore } from "../../../src/store/open.ts";
import {
  isOlder,
  readVersion,
  versionInPage,
  versionText,
  type ClientVersion,
} from "../../../src/whatsapp/client-version.ts";
import { createClientVersions, fetchVersion } from "../../../src/whatsapp/client-versions.ts";
import { manualClock, rest, until } from "../outbox/harness.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

const BUNDLED: ClientVersion = [2, 3000, 1_000];
const NEWER = "2.3000.2000";

describe("a page that names a version", () => {
  it.each<[string, string | null]>([
    ["2.3000.2000", NEWER],
    [" 2.3000.2000\n", NEWER],
    ['"2.3000.2000"', NEWER],
    ["[2,3000,2000]", NEWER],
    ['{"version":[2,3000,2000]}', NEWER],
    ['{"version":"2.3000.2000","at":1}', NEWER],
    ['/*1*/ self.x=JSON.parse("{\\"client_revision\\":2000,\\"y\\":1}")', NEWER],
    ['{"a":{"client_revision":2000,"b":1}}', NEWER],
    ["", null],
    ["null", null],
    ["<html>2.3000.2000</html>", null],
    ["2.3000", null],
    ["2.3000.2000.1", null],
    ["1.3000.2000", null],
    ["3.3000.2000", null],
    ["2.2999.2000", null],
    ["2.3000.0", null],
    ["2.3000.4294967296", null],
    ["[2,3000]", null],
    ["[2,3000,2000,1]", null],
    ['[2,3000,"2000"]', null],
    ["[2,3000,20.5]", null],
    ["[2,3000,-1]", null],
    ['{"version":{"version":"2.3000.2000"}}', null],
    ['{"client_revision":"2000"}', null],
    ['{"client_revision":99999999999}', null],
  ])("%j", (page, expected) => {
    const found = versionInPage(page);
    expect(found && versionText(found)).toBe(expected);
  });

  it("is looked through in time that grows with its length alone", () => {
    for (const page of ['"client_revision":'.repeat(30_000), "[".repeat(500_000), "1".repeat(500_000)])
      expect(versionInPage(page)).toBeNull();
  });

  it("older is what differs first", () => {
    const order = ["1.9.9", "2.0.0", "2.2999.9", "2.3000.1", "2.3000.10"].map((text) => readVersion(text)!);
    for (const [index, version] of order.entries())
      for (const [other, than] of order.entries()) expect(isOlder(version, than)).toBe(index < other);
  });
});

/** A page on loopback, whose answer may change. */
async function page(answer: string | ((response: ServerResponse) => void)) {
  const served = { url: "", asked: 0, answer };
  const server = createServer((_request, response) => {
    served.asked++;
    if (typeof served.answer === "string") response.end(served.answer);
    else served.answer(response);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/version`;
  return served;
}

async function started(options: { url?: string; setting?: string; folder?: string } = {}) {
  const clock = manualClock();
  const config = configFor(options.folder ?? temporaryFolder(), {});
  const store = await openStore(config, silentLog(config), clock.time);
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const lines: string[] = [];
  const versions = createClientVersions({
    store,
    config: {
      whatsappVersion: options.setting === undefined ? null : readVersion(options.setting),
      whatsappVersionUrl: options.url ?? null,
    },
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    http,
    bundled: BUNDLED,
  });
  const end = async () => {
    versions.stop();
    await http.close();
    await store.close();
  };
  let ended = false;
  const endOnce = async () => void (ended || ((ended = true), await end()));
  onTestFinished(endOnce);
  const now = () => versionText(versions.current());
  await versions.ready();
  return { clock, versions, lines, now, end: endOnce };
}

describe("the version that connections name", () => {
  it("is the setting, else the newest of what the library brings and what the page says", async () => {
    const newer = await page(NEWER);
    const older = await page("2.3000.5");
    expect((await started()).now()).toBe("2.3000.1000");
    expect((await started({ url: newer.url })).now()).toBe(NEWER);
    expect((await started({ url: older.url })).now()).toBe("2.3000.1000");
    const set = await started({ url: newer.url, setting: "2.3000.7" });
    expect(set.now()).toBe("2.3000.7");
    expect(set.lines.join("")).toContain("WHATSAPP_VERSION is older");
  });

  it("is looked up every 12 hours, after a failure every hour, and a failure changes nothing", async () => {
    const source = await page(NEWER);
    const { clock, now, lines } = await started({ url: source.url });
    source.answer = "2.3000.3000";
    await clock.advance(11 * HOUR_MS);
    expect(source.asked).toBe(1);
    await clock.advance(HOUR_MS);
    await until(() => expect(now()).toBe("2.3000.3000"));
    expect(source.asked).toBe(2);

    source.answer = (response) => {
      response.statusCode = 503;
      response.end(NEWER);
    };
    for (const hours of [12, 1, 1]) {
      const before = source.asked;
      await clock.advance(hours * HOUR_MS);
      await until(() => expect(source.asked).toBe(before + 1));
      await rest();
    }
    expect(now()).toBe("2.3000.3000");
    expect(lines.filter((line) => line.includes("could not look up")).length).toBeGreaterThanOrEqual(2);
  });

  it("is known to the next run without asking again", async () => {
    const folder = temporaryFolder();
    const source = await page(NEWER);
    await (await started({ url: source.url, folder })).end();
    const next = await started({ url: source.url, folder });
    expect(next.now()).toBe(NEWER);
    expect(source.asked).toBe(1);
  });

  it("is another one once it was refused, as long as there is one; whoever reads the log is told what to do", async () => {
    const source = await page(NEWER);
    const { versions, now, lines } = await started({ url: source.url });
    versions.refused(versions.current());
    expect([now(), versions.state()]).toEqual(["2.3000.1000", { version: "2.3000.1000", refused: false }]);
    versions.refused(versions.current());
    expect(versions.state()).toEqual({ version: NEWER, refused: true });
    versions.refused(versions.current());
    const told = lines.filter((line) => line.includes("doctor"));
    expect(told).toHaveLength(2);
  });

  it("is looked up when one is refused, not more often than every ten minutes", async () => {
    const source = await page(NEWER);
    const { clock, versions, now } = await started({ url: source.url });
    versions.refused(versions.current());
    await rest();
    expect(source.asked).toBe(1);
    source.answer = "2.3000.9000";
    await clock.advance(HOUR_MS / 6);
    versions.refused(versions.current());
    await until(() => expect(now()).toBe("2.3000.9000"));
    expect(source.asked).toBe(2);
  });

  it.each<[string, string | ((response: ServerResponse) => void), RegExp]>([
    ["names none", "<html>", /names no version/],
    ["is not there", (response) => void response.writeHead(404).end(NEWER), /HTTP 404/],
    ["is longer than it may be", "x".repeat(600_000), /./],
    ["breaks off", (response) => void response.destroy(), /./],
    ["leads into a circle", (response) => void response.writeHead(302, { location: "/version" }).end(), /./],
  ])("a page that %s is a reason and no version", async (_what, answer, reason) => {
    const http = createSafeFetch({ allowPrivateNetwork: true });
    onTestFinished(() => http.close());
    await expect(fetchVersion(http, (await page(answer)).url)).rejects.toThrow(reason);
  });

  it("a page in a private network is not asked", async () => {
    const http = createSafeFetch({ allowPrivateNetwork: false });
    onTestFinished(() => http.close());
    const source = await page(NEWER);
    await expect(fetchVersion(http, source.url)).rejects.toThrow(/private|not allowed|public/i);
    expect(source.asked).toBe(0);
  });
});
