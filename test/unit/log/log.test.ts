import { randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makeKey } from "../../../src/accounts/key-format.ts";
import { loadConfig, type Environment } from "../../../src/config.ts";
import { createLogger, hideSecret } from "../../../src/log.ts";

function capture(env: Environment = {}) {
  const lines: string[] = [];
  const log = createLogger(loadConfig(env), { write: (line) => lines.push(line) });
  return { log, lines, text: () => lines.join("") };
}

describe("the log", () => {
  it("is one JSON object a line, with time, level, fields and message", () => {
    const { log, lines } = capture();

    log.child({ device: 7 }).warn({ bytes: 12 }, "message received");

    const line = JSON.parse(lines[0]!);
    expect(line).toMatchObject({ level: 40, device: 7, bytes: 12, msg: "message received" });
    expect(new Date(line.time).toISOString()).toBe(line.time);
  });

  it("says nothing below LOG_LEVEL", () => {
    const { log, lines } = capture({ LOG_LEVEL: "warn" });

    log.info("quiet");
    log.warn("loud");

    expect(lines).toHaveLength(1);
  });

  it("shows no API key, webhook secret or token wherever in the line it stands", () => {
    const { log, text } = capture();
    const key = makeKey();
    const secret = `whsec_${randomBytes(32).toString("base64")}`;
    const error = new Error(`GET /send-message?api_key=${key}&number=1 failed`);

    log.info(
      { url: `/send-message?api_key=${key}`, nested: { headers: { authorization: `Bearer ${key}` } } },
      key,
    );
    log.error({ err: error }, `signed with ${secret}`);
    log.info({ secret, token: "tok-12345678" }, "Authorization: Bearer some-other-token_value");
    log.child({ key }).info(`{"api_key":"${key}"}`);
    log.warn("could not reach redis://user:hunter2secret@cache.example.com:6379");
    log.warn("https://example.com/hook?token=hunter2secret&x=1");

    const written = text();
    expect(written).not.toContain(key.slice("parley_".length));
    expect(written).not.toContain(secret.slice("whsec_".length, 30));
    expect(written).not.toContain("some-other-token_value");
    expect(written).not.toContain("tok-12345678");
    expect(written).not.toContain("hunter2secret");
    expect(written).toContain("cache.example.com:6379");
    for (const line of written.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
  });

  it("shows neither the master key nor the operator's token, however they are spelt", () => {
    const key = randomBytes(32);
    const token = 'operator"token/with+signs';
    const { log, text } = capture({ PARLEY_MASTER_KEY: key.toString("base64"), PARLEY_ADMIN_TOKEN: token });

    log.info({ a: key.toString("base64"), b: key.toString("hex"), c: key.toString("base64url") }, token);
    log.info({ url: `/x?t=${encodeURIComponent(token)}` }, encodeURIComponent(key.toString("base64")));

    for (const form of [
      key.toString("base64").slice(0, -1),
      key.toString("hex"),
      key.toString("base64url"),
      "with+signs",
      "with%2Bsigns",
    ])
      expect(text()).not.toContain(form);
  });

  it("hides a secret that is made later, in the logger and in children that exist already", () => {
    const { log, text } = capture();
    const child = log.child({ part: "api" });

    hideSecret(child, "generated-token-1234");
    log.info("generated-token-1234");
    child.info({ deep: ["generated-token-1234"] }, "x");

    expect(text()).not.toContain("generated-token-1234");
  });

  it("writes JSON to stdout at once when it is no terminal, so that a crash loses no line", () => {
    const script = `
      import { createLogger } from "./src/log.ts";
      import { loadConfig } from "./src/config.ts";
      createLogger(loadConfig({})).info("last words");
      process.kill(process.pid, "SIGKILL");`;
    const root = fileURLToPath(new URL("../../../", import.meta.url));

    const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      cwd: root,
    });

    expect(JSON.parse(stdout.toString())).toMatchObject({ level: 30, msg: "last words" });
  });
});
