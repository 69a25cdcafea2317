import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../src/api/openapi/document.ts";
import { clientDocument, clientSchema } from "../../src/cli/client/schema.ts";
import { removeFolder } from "../_setup/folders.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const document = await openApiDocument();
/** Types of the whole document, and of the part of it that our own client knows. */
let types: [all: string, ours: string];
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-openapi-"));
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
  const both = JSON.stringify([document, clientDocument(document)]);
  const { code, output } = await run("test/openapi/generate-types.mjs", [], both);
  if (code !== 0) throw new Error(output);
  types = JSON.parse(output);
});
afterAll(() => removeFolder(folder));

function run(program: string, args: string[], stdin = ""): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, program), ...args], { cwd: folder });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (some: string) => (output += some));
    child.stderr.setEncoding("utf8").on("data", (some: string) => (output += some));
    child.on("close", (code) => resolve({ code, output }));
    child.stdin.end(stdin);
  });
}

/** What somebody writes who knows the document alone. A line that does not compile fails the test. */
const PROGRAM = `
import type { components, operations, webhooks } from "./parley.js";

type Json<R> = R extends { content: { "application/json": infer B } } ? B : never;
type Body<O extends keyof operations> = operations[O] extends { requestBody?: { content: { "application/json": infer B } } } ? B : never;
type Answer<O extends keyof operations, S extends keyof operations[O]["responses"]> = Json<operations[O]["responses"][S]>;
type Named = components["schemas"];

export const send: Body<"sendMessage"> = { sender: "31600000001", number: "4915112345678", message: "hello" };
export const hook: Body<"putWebhook"> = { url: "https://example.com", enabled: "yes", timeout_ms: "2000" };
export const link: Body<"generateQr"> = { device: "31600000001", force: 1 };
export const page: operations["listMessages"]["parameters"]["query"] = { chat: "4915112345678", direction: "in", limit: 20 };

export function failed(error: Answer<"listDevices", 403>, refused: Answer<"sendMessage", 404>): string {
  const codes: "PERMISSION_DENIED" | "ACCOUNT_DISABLED" = error.errors.code;
  const first: string | undefined = refused.errors.fields?.["sender"]?.[0];
  const ids = (refused.results ?? []).map(({ number, error }) => [number, error?.code]);
  const no: false = error.status;
  return [error.msg.toUpperCase(), error.message, codes, first, ids, no].join();
}

export function read(
  devices: Answer<"listDevices", 200>,
  messages: Answer<"listMessages", 200>,
  sent: Answer<"sendMessage", 202>,
): void {
  const device: Named["Device"] | undefined = devices.data[0];
  const state: "connected" | undefined = device?.state === "connected" ? device.state : undefined;
  const message: Named["Message"] | undefined = messages.data[0];
  const next: string | null = messages.next;
  const total: number | null = messages.total;
  const url: string | null | undefined = message?.media?.url;
  const ids: (string | null)[] = sent.results.map(({ id }) => id);
  console.log(state, next, total, url, ids);
}

type Received = webhooks["event"]["post"]["requestBody"]["content"]["application/json"];
export function answer(event: Received): Named["Reply"] {
  const same: Named["Event"] = event;
  if (same.type === "poll_vote") return same.poll?.selected?.join() ?? "";
  return { replies: [{ message: event.text.trim(), quoted: true }], hold: 60 };
}

export function told(event: Named["StreamEvent"]): string {
  switch (event.event) {
    case "device":
      return event.data.state;
    case "message.in":
      return event.data.from;
    case "message.out":
      return event.data.id;
    case "read":
      return event.data.chat;
    case "decision":
      return event.data.by ?? "";
    case "delivery":
      return event.data.url;
    case "webhook":
      return event.data.health.state;
    case "group":
      return event.data.action;
    case "presence":
      return event.data.state;
    case "contact":
      return event.data.changed.join();
  }
}

export type Others = [Named["Key"], Named["Webhook"], Named["Delivery"], Named["Chat"], Named["Account"]];
`;

describe("the OpenAPI document, as others use it", () => {
  it("has no error and hardly a warning by the linter's own recommendations", async () => {
    const { code, output } = await run("node_modules/@redocly/cli/bin/cli.js", [
      "lint",
      "openapi.json",
      "--format=json",
    ]);
    const totals = /"totals":\s*(\{[^}]*\})/.exec(output)?.[1] ?? "{}";

    expect(JSON.parse(totals), output).toMatchObject({ errors: 0 });
    expect(JSON.parse(totals).warnings).toBeLessThanOrEqual(10);
    expect(code).toBe(0);
  });

  it("gives types that a program of a stranger compiles with", async () => {
    writeFileSync(join(folder, "parley.d.ts"), types[0]);
    writeFileSync(join(folder, "program.ts"), PROGRAM);

    const compiled = await run("node_modules/typescript/bin/tsc", [
      "--noEmit",
      "--strict",
      "--noUncheckedIndexedAccess",
      "--exactOptionalPropertyTypes",
      "--ignoreConfig",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--lib",
      "es2023,dom",
      "--types",
      "",
      "program.ts",
    ]);
    expect(compiled.output).toBe("");
    expect(compiled.code).toBe(0);
  });

  it("is what our own client has its types from: `npm run build:client` when this fails", () => {
    const kept = readFileSync(join(root, "src/client/schema.ts"), "utf8");

    expect(kept).toBe(clientSchema(document, types[1]));
  });
});
