import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGateway, startGateway } from "../_setup/gateway.ts";
import { startOnTerminal } from "../_setup/terminal.ts";
import { until } from "../_setup/world.ts";

async function signIn(url: string, link: string): Promise<Response> {
  return fetch(`${url}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ link }),
  });
}

describe("a gateway that is started on a terminal", () => {
  it("says what to open, with a link that signs its operator in once", async () => {
    const { url, dataDir, said } = await startOnTerminal();
    await until(() => said().includes("npm run parley"));
    expect(said()).toContain(`${url}/console`);
    expect(said()).toContain("none linked yet");
    expect(said()).not.toContain('{"level"');
    const link = /\/console\/sign-in#([\w-]+)/.exec(said())![1]!;

    const answer = await signIn(url, link);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      data: { kind: "operator" },
      permissions: ["*"],
      account: null,
    });
    expect((await signIn(url, link)).status).toBe(401);
    for (const file of readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile()))
      expect(readFileSync(join(dataDir, file.name)).includes(link)).toBe(false);
  });

  it("writes JSON where LOG_FORMAT says so", async () => {
    const { said } = await startOnTerminal({ LOG_FORMAT: "json" });
    await until(() => said().includes('"msg":"listening"'));
    expect(said()).not.toContain("sign-in");
  });
});

describe("a gateway whose output is kept", () => {
  it("writes JSON, and no link that opens the console", async () => {
    const gateway = await startGateway();
    const line = gateway
      .output()
      .split("\n")
      .find((text) => text.includes('"listening"'))!;
    expect(JSON.parse(line)).toMatchObject({ consoleUrl: `${gateway.url}/console`, linkedNumbers: 0 });
    expect(gateway.output()).not.toContain("sign-in");
    await gateway.stop();
  });

  it("writes for people where LOG_FORMAT says so, still without the link", async () => {
    const gateway = await startGateway({ env: { LOG_FORMAT: "pretty" } });
    expect(gateway.output()).toContain("none linked yet");
    expect(gateway.output()).not.toContain("sign-in");
    await gateway.stop();
  });

  it("does not start with a word that is no format", async () => {
    const { code, stderr } = await runGateway({ env: { LOG_FORMAT: "xml" } });
    expect(code).toBe(1);
    expect(stderr).toBe("parley: LOG_FORMAT must be one of pretty, json.\n");
  });
});
