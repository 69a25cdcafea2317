import { parser } from "@prometheus-io/lezer-promql";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { LINK_STATES } from "../../src/numbers/link.ts";
import { DEPLOY_FOLDER } from "../_setup/deploy.ts";
import { temporaryStore } from "../unit/store/temporary.ts";

const dashboard: unknown = JSON.parse(
  readFileSync(join(DEPLOY_FOLDER, "grafana/parley-dashboard.json"), "utf8"),
);
const rules: unknown = parse(readFileSync(join(DEPLOY_FOLDER, "grafana/alerts.yaml"), "utf8"));

const gridPos = z.strictObject({
  h: z.int().min(1),
  w: z.int().min(1).max(24),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
});
const datasource = z.strictObject({ type: z.literal("prometheus"), uid: z.literal("${datasource}") });
const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource,
  expr: z.string(),
  legendFormat: z.string(),
});
const panel = z.object({
  id: z.int(),
  title: z.string().min(1),
  type: z.enum(["row", "stat", "timeseries"]),
  gridPos,
  targets: z.array(target).min(1).optional(),
});
/** The fields of a dashboard as Grafana documents its JSON, the classic model. */
const dashboardFormat = z.strictObject({
  id: z.null(),
  uid: z.string().max(40),
  title: z.string(),
  tags: z.array(z.string()),
  timezone: z.enum(["browser", "utc", ""]),
  editable: z.boolean(),
  graphTooltip: z.literal([0, 1, 2]),
  refresh: z.string(),
  schemaVersion: z.int(),
  version: z.int(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timepicker: z.object({}),
  annotations: z.strictObject({ list: z.array(z.unknown()) }),
  links: z.array(z.unknown()),
  templating: z.strictObject({
    list: z.array(z.object({ name: z.string(), type: z.enum(["datasource", "query"]), query: z.string() })),
  }),
  panels: z.array(panel),
});
const rulesFormat = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Parley[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smhd]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(["page", "warn"]) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

const { panels, templating } = dashboardFormat.parse(dashboard);
const alerts = rulesFormat.parse(rules).groups.flatMap((group) => group.rules);
/** Every expression, with a time in the place of Grafana's own. */
const expressions = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
].map(([where, expr]) => [where, expr.replaceAll("$__rate_interval", "5m")] as const);

/** Names and labels that the selectors of an expression ask for; null where it cannot be parsed. */
function read(expression: string): { names: string[]; labels: string[] } | null {
  const found = { names: [] as string[], labels: [] as string[] };
  let isBroken = false;
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) isBroken = true;
      if (type.name === "VectorSelector") found.names.push(/^[\w:]+/.exec(text)![0]);
      if (type.name === "LabelName") found.labels.push(text);
    },
  });
  return isBroken ? null : found;
}

async function exported(): Promise<string> {
  const store = await temporaryStore();
  const node = { name: "a", owns: () => true, redisIsAway: () => false };
  const clientVersion = () => ({ version: "2.3", refused: true });
  const metrics = createMetrics({ store, sessions: () => new Map([["connected", 1]]), node, clientVersion });
  metrics.received("text");
  metrics.sent({ kind: "text", result: "sent", seconds: 1 });
  metrics.webhookAttempt({ result: "accepted", statusCode: 200, durationMs: 1 });
  metrics.webhookDead();
  metrics.webhookTurned({ to: "paused" });
  metrics.disconnected(500);
  metrics.authFailed("x");
  metrics.ssrfBlocked({ reason: "x" });
  metrics.decryptFailed({ reason: "x" });
  metrics.way({ direction: "in", reason: null });
  metrics.redelivered(1);
  return metrics.read();
}

describe("deploy/grafana", () => {
  it("tells a broken expression from a whole one", () => {
    expect(read("sum by (le) (rate(a_b[5m]")).toBeNull();
    expect(read('max(a_b{c="d"}) or vector(0)')).toEqual({ names: ["a_b"], labels: ["c"] });
  });

  it.each(expressions)("%s: %s is PromQL", (_, expression) => {
    expect(read(expression)).not.toBeNull();
  });

  it("asks for nothing that a gateway does not export", async () => {
    const lines = (await exported()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const samples = new Map<string, Set<string>>();
    for (const line of lines) {
      const [, name = "", labels = ""] = /^([\w:]+)(?:\{(.*?)\})? /.exec(line)!;
      const known = samples.get(name) ?? samples.set(name, new Set(["job", "instance"])).get(name)!;
      for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
    }
    const variables = templating.list.map(({ query }) => /^label_values\((.*), \w+\)$/.exec(query)?.[1]);
    for (const expression of [
      ...expressions.map(([, one]) => one),
      ...variables.filter((one) => one !== undefined),
    ])
      for (const name of read(expression)!.names.filter((one) => one !== "up")) {
        expect(samples.has(name), `${name} of ${expression}`).toBe(true);
        const selector = new RegExp(`${name}\\{([^}]*)\\}`).exec(expression)?.[1] ?? "";
        for (const [, label] of selector.matchAll(/(\w+)[=!]/g))
          expect([...samples.get(name)!], `labels of ${name} in ${expression}`).toContain(label);
      }
  });

  it("knows the states that numbers have", () => {
    const asked = expressions.flatMap(([, one]) =>
      [...one.matchAll(/state[!=]~?"([^"]*)"/g)].map(([, text]) => text!),
    );
    for (const state of asked.flatMap((text) => text.split("|"))) expect(LINK_STATES).toContain(state);
  });

  it("gives each panel an id and a place of its own", () => {
    const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
    expect(new Set(places).size).toBe(panels.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { gridPos: place } of panels) expect(place.x + place.w).toBeLessThanOrEqual(24);
  });
});
