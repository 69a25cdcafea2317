import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startSimulator } from "../../src/simulator/index.ts";
import type { Simulator } from "../../src/simulator/types.ts";
import { DEPLOY_FOLDER, interpolate, readCompose } from "../_setup/deploy.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { startFileHost } from "../_setup/files.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { findSqld } from "../_setup/sqld.ts";
import { until } from "../_setup/world.ts";
import { pdf, png } from "../unit/media/samples.ts";
import { scanning } from "../_setup/scanning.ts";

const SECRETS = {
  PARLEY_MASTER_KEY: Buffer.alloc(32, 9).toString("base64"),
  PARLEY_ADMIN_TOKEN: "operators-token-of-these-tests",
};
const { services } = readCompose();
const sqld = findSqld();

function run(command: string[], env: Record<string, string> = {}): ChildProcess {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "inherit"],
    cwd: dirname(DEPLOY_FOLDER),
    env: { PATH: process.env["PATH"], ...env },
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

/** Names of services and of folders are those of this machine. */
const replaced = (words: string[], here: Record<string, string>): string[] =>
  words.map((word) => Object.entries(here).reduce((text, [from, to]) => text.replace(from, to), word));

it.skipIf(sqld === null)(
  "what deploy/compose.yaml starts becomes a healthy cluster, with files on every node",
  async () => {
    const data = mkdtempSync(join(tmpdir(), "parley-deploy-"));
    onTestFinished(() => removeFolder(data));
    const [http, admin, redis] = [await freePort(), await freePort(), await freePort()];
    const adminUrl = `http://127.0.0.1:${admin}`;
    run(
      replaced(services["sqld"]!.command, {
        "/bin/sqld": sqld!,
        "0.0.0.0:8080": `127.0.0.1:${http}`,
        "0.0.0.0:9090": `127.0.0.1:${admin}`,
        "/var/lib/sqld": join(data, "sqld"),
      }),
    );
    run([
      ...services["redis"]!.command,
      "--port",
      String(redis),
      "--bind",
      "127.0.0.1",
      "--dir",
      data,
      "--loglevel",
      "warning",
    ]);
    run(services["durability"]!.command, { SQLD_ADMIN_URL: adminUrl });
    const told = async (): Promise<number | null> => {
      const [code] = (await once(
        run([...services["durability"]!.command, "once"], { SQLD_ADMIN_URL: adminUrl }),
        "exit",
      )) as [number];
      return code;
    };
    await expect.poll(told).toBe(0);

    const { certificates, caFile } = certificatesOfTests();
    const sim = await startSimulator({ certificates });
    onTestFinished(() => sim.stop());
    const nodes = await Promise.all(
      ["one", "two", "three"].map(async (name) => {
        const port = await freePort();
        const written = Object.entries(services[name]!.environment!).map(([key, value]) => [
          key,
          interpolate(value, SECRETS),
        ]);
        const gateway = await startGateway({
          env: {
            ...(Object.fromEntries(written) as Record<string, string>),
            HOST: "127.0.0.1",
            PORT: String(port),
            DATA_DIR: join(data, name),
            DATABASE_URL: `http://localhost:${http}`,
            REDIS_URL: `redis://127.0.0.1:${redis}`,
            NODE_URL: `http://127.0.0.1:${port}`,
            WHATSAPP_WS_URL: sim.wsUrl,
            WHATSAPP_NOISE_ROOT: sim.noiseRoot,
            WHATSAPP_CA_FILE: caFile,
            ALLOW_PRIVATE_NETWORK: "1",
          },
        });
        onTestFinished(() => gateway.dispose());
        return gateway;
      }),
    );

    const ready = await Promise.all(
      nodes.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status),
    );
    expect(ready).toEqual([200, 200, 200]);
    await filesGoEverywhere(sim, nodes);
  },
);

/** Whichever node is asked, and whichever has the number. */
async function filesGoEverywhere(sim: Simulator, nodes: Gateway[]): Promise<void> {
  const SHOP = "31600000001";
  const ANA = "4915100000001";
  const { key } = await nodes[0]!.createAccount();
  const owner = await sim.addNumber(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  const isLinked = scanning(owner);
  await until(async () => isLinked((await nodes[1]!.post("/generate-qr", { device: SHOP }, { key })).body));

  const picture = png(40, 30);
  const host = await startFileHost({ "/look.png": picture });
  for (const { post } of nodes) {
    const look = { sender: SHOP, number: ANA, media_type: "image", url: host.url("/look.png") };
    const { body } = await post("/send-media", look, { key });
    expect(body).toMatchObject({ status: true });
    await sim.waitForMessage(ANA, { id: body.id });
    expect(Buffer.from((await sim.mediaOf(ANA, body.id)).bytes).equals(picture)).toBe(true);
  }

  await sim.send(ANA, SHOP, {
    kind: "document",
    bytes: pdf(),
    fileName: "a.pdf",
    mimetype: "application/pdf",
  });
  let path = "";
  await until(async () => {
    const { body } = await nodes[2]!.get("/messages?direction=in", { key });
    path = new URL(body.data[0].media.url).pathname;
    return true;
  });
  for (const { url } of nodes) {
    let answer!: Response;
    // A node that could not reach the other in time says 503: a client asks again.
    await until(async () => {
      answer = await fetch(url + path);
      return answer.status !== 503;
    });
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(pdf())).toBe(true);
  }
}
