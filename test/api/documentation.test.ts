import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../src/api/endpoints/index.ts";
import { openApiDocument } from "../../src/api/openapi/document.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.dispose());

const paths = [...new Set(endpoints.map(({ path }) => path))];
const concrete = (path: string) => path.replace(/\{\w+\}/g, "1");
/** Of whatever answers there: `/deliveries/replay` is a path of its own and an id as well. */
const methodsOf = (path: string) => [
  ...new Set(
    endpoints
      .filter((endpoint) => patternOf(endpoint.path).test(concrete(path)))
      .map(({ method }) => method as string),
  ),
];
const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
const ANSWERS_HEAD = ["/health/live", "/health/ready", "/docs", "/openapi.json"];

describe("GET /openapi.json", () => {
  it("is served by the built gateway, word for word, without a key", async () => {
    const answer = await gateway.get("/openapi.json");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(await openApiDocument())));
    expect((await gateway.get("/v1/openapi.json/")).text).toBe(answer.text);
  });
});

describe("every documented path", () => {
  it.each(paths)(
    "%s answers OPTIONS with 204 and Allow, in /v1 too, and HEAD only where it should",
    async (path) => {
      const allow = [...methodsOf(path), ...(ANSWERS_HEAD.includes(path) ? ["HEAD"] : []), "OPTIONS"];
      for (const prefix of ["", "/v1"]) {
        const options = await gateway.request("OPTIONS", prefix + concrete(path));
        expect(options.status).toBe(204);
        expect(options.headers.get("allow")!.split(", ").toSorted()).toEqual(allow.toSorted());
      }
      const head = await gateway.request("HEAD", concrete(path));
      expect(head.status).toBe(ANSWERS_HEAD.includes(path) ? 200 : 405);
      expect(head.headers.has("allow")).toBe(head.status === 405);
    },
  );

  it.each(paths)("%s refuses every method that it has not, with 405 and Allow", async (path) => {
    const others = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter(
      (name) => !methodsOf(path).includes(name),
    );
    for (const method of others) {
      const answer = await gateway.request(method, concrete(path));
      expect([answer.status, answer.body["errors"].code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
      expect(answer.headers.get("allow")).toContain(methodsOf(path)[0]);
    }
  });

  it.each(
    endpoints.filter(({ access }) => access.by !== "everybody").map(({ method, path }) => [method, path]),
  )("%s %s wants its key or token before anything else of the request", async (method, path) => {
    const answer = await gateway.request(method!, concrete(path!));
    expect([answer.status, answer.body["errors"].code]).toEqual([401, refusalOf(path!)]);
  });
});

function refusalOf(path: string): string {
  if (/^\/console\/session(?!s)/.test(path)) return "SESSION_EXPIRED";
  return path.startsWith("/admin") || path === "/metrics" ? "INVALID_ADMIN_TOKEN" : "INVALID_API_KEY";
}

describe("GET /docs", () => {
  it("is one page that runs under its own policy and asks for nothing else", async () => {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      const complaints: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      page.on("console", (message) => void complaints.push(message.text()));
      page.on("pageerror", (error) => void complaints.push(error.message));

      const response = await page.goto(`${gateway.url}/docs`, { waitUntil: "networkidle" });

      expect(response!.headers()["content-security-policy"]).toMatch(/^default-src 'none'; /);
      expect(asked.filter((url) => !url.startsWith("data:"))).toEqual([`${gateway.url}/docs`]);
      expect(await page.locator("article").count()).toBe(endpoints.length);
      expect(await page.locator("#sendMessage pre").first().textContent()).toContain(
        `curl -X POST '${gateway.url}/send-message'`,
      );
      await page.getByRole("searchbox").fill("poll");
      const listed = await page.locator("nav li:visible").allTextContents();
      expect(listed.map((text) => text.trim())).toEqual(["POST/send-poll", "GET/send-poll"]);
      // The style was let through: the list stands beside the text.
      const [list, text] = await Promise.all([
        page.locator("nav").boundingBox(),
        page.locator("main").boundingBox(),
      ]);
      expect(text!.x).toBeGreaterThanOrEqual(list!.x + list!.width - 1);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it("can be read on a phone without moving sideways", async () => {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
      await page.goto(`${gateway.url}/docs`);
      const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
      expect((widths as number[])[0]).toBeLessThanOrEqual((widths as number[])[1]!);
    } finally {
      await browser.close();
    }
  });
});
