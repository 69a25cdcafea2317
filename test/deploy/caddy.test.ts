import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { DEPLOY_FOLDER } from "../_setup/deploy.ts";
import { freePort } from "../_setup/free-port.ts";
import { openWorld, until } from "../_setup/world.ts";
import { temporaryFolder } from "../unit/store/temporary.ts";

const isThere = spawnSync("caddy", ["version"]).error === undefined;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** One request. */
interface Asked {
  headers?: Record<string, string>;
  /** JSON that is posted. */
  json?: object;
  /** True: enough was read. */
  onData?: (text: string) => boolean;
}

/** Of a proxy whose certificate is of its own authority. */
function ask(
  port: number,
  ca: string,
  path: string,
  { headers = {}, json, onData }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = json === undefined ? "GET" : "POST";
    const all = { ...headers, ...(json && { "content-type": "application/json" }) };
    const asked = request({ host: "localhost", port, path, method, headers: all, ca }, (response) => {
      let text = "";
      const done = (): void => resolve({ status: response.statusCode!, headers: response.headers, text });
      response.setEncoding("utf8").on("data", (some: string) => {
        text += some;
        if (onData?.(text) !== true) return;
        done();
        asked.destroy();
      });
      response.on("end", done);
    });
    asked.on("error", reject).end(json === undefined ? undefined : JSON.stringify(json));
  });
}

const page = (name: string): string => readFileSync(join(repositoryRoot(), "docs/operations", name), "utf8");

/** The Caddyfile of compose, and those that pages tell a reader to write: with its address, and where it finds the gateway. */
const CADDYFILES: Record<string, () => string> = {
  "deploy/single/Caddyfile": () =>
    readFileSync(join(DEPLOY_FOLDER, "single/Caddyfile"), "utf8")
      .replace("{$PARLEY_DOMAIN}", "chat.example.com")
      .replace("parley:3000", "127.0.0.1:3000"),
  "docs/operations/install.md": () => {
    const [, command] = /^(printf '[^']*') > \/etc\/caddy\/Caddyfile$/m.exec(page("install.md"))!;
    return execFileSync("sh", ["-c", command!], { encoding: "utf8" });
  },
  "docs/operations/tls.md": () => /^```\n# Caddyfile\n([^]*?)^```/m.exec(page("tls.md"))![1]!,
};

it.runIf(isThere).each(Object.keys(CADDYFILES))(
  "the Caddyfile of %s puts HTTPS in front of the gateway: requests, sessions, events as they come, and a restart",
  async (where) => {
    const folder = temporaryFolder();
    const port = await freePort();
    const world = await openWorld({ env: { PUBLIC_URL: `https://localhost:${port}`, TRUST_PROXY: "1" } });
    const { gateway } = world;
    // As it is, but for what only a public machine has: a certificate from outside, its name, and its ports.
    const written = CADDYFILES[where]!();
    expect(written).toContain("127.0.0.1:3000");
    const config = written
      .replace("chat.example.com {", `localhost:${port} {\n\ttls internal`)
      .replace("127.0.0.1:3000", `127.0.0.1:${gateway.port}`);
    const file = join(folder, "Caddyfile");
    writeFileSync(file, `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n${config}`);
    const caddy = spawn("caddy", ["run", "--config", file, "--adapter", "caddyfile"], {
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void caddy.kill("SIGKILL"));
    let said = "";
    caddy.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const authority = join(folder, "caddy/pki/authorities/local/root.crt");
    let ca = "";
    await until(async () => {
      if (caddy.exitCode !== null) throw new Error(said);
      ca = readFileSync(authority, "utf8");
      return (await ask(port, ca, "/health/ready")).status === 200;
    });

    const key = { authorization: `Bearer ${world.key}` };
    expect(JSON.parse((await ask(port, ca, "/account", { headers: key })).text)).toMatchObject({
      status: true,
    });
    expect((await ask(port, ca, "/account")).status).toBe(401);
    const signedIn = await ask(port, ca, "/console/session", { json: { key: world.key } });
    const [cookie] = signedIn.headers["set-cookie"]!;
    // A cookie that browsers take over HTTPS alone.
    expect(cookie).toMatch(/^__Host-parley=.*; Secure/);
    const headers = { cookie: cookie!.split(";")[0]! };
    expect((await ask(port, ca, "/console/session", { headers })).status).toBe(200);
    // What a listener is greeted with comes at once, though the answer goes on.
    const events = await ask(port, ca, "/events", {
      headers: key,
      onData: (text) => text.includes("connected"),
    });
    expect(events.headers["content-type"]).toContain("text/event-stream");

    await gateway.stop();
    const meanwhile = ask(port, ca, "/account", { headers: key });
    await gateway.restart();
    expect((await meanwhile).status).toBe(200);
  },
);
