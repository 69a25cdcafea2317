import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeShop, openShop, type Shop } from "./shop.ts";

/** Runs every example of docs/migrating.md: each fenced block is a question, or what comes of the one before it. */

const DOCUMENT = new URL("../../docs/migrating.md", import.meta.url);

interface Block {
  /** Line of its opening fence. */
  line: number;
  /** What stands after the fence. */
  is: string;
  text: string;
}

interface Example extends Block {
  results: Block[];
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: is, 2: text }) => ({
    line: markdown.slice(0, index).split("\n").length,
    is: is!.trim(),
    text: text!.trimEnd(),
  }));
}

function examplesOf(blocks: Block[]): Example[] {
  const examples: Example[] = [];
  for (const block of blocks) {
    const isResult = /^json (?:shows|records|answers \d{3})$/.test(block.is);
    if (!isResult) examples.push({ ...block, results: [] });
    else examples.at(-1)!.results.push(block);
  }
  return examples;
}

const examples = examplesOf(blocksOf(readFileSync(DOCUMENT, "utf8")));
const named = (kind: RegExp) =>
  examples.filter(({ is }) => kind.test(is)).map((example) => [`line ${example.line}`, example] as const);

function result(example: Example, is: RegExp): { is: string; value: any } | null {
  const block = example.results.find((candidate) => is.test(candidate.is));
  return block === undefined ? null : { is: block.is, value: JSON.parse(block.text) };
}

/** Sends a request as it is written, with a real key and address in it. */
async function request(shop: Shop, written: string) {
  const text = shop.really(written.replaceAll("API_KEY", shop.key));
  const [head = "", ...body] = text.split(/\n\n/);
  const [first = "", ...headers] = head.split("\n");
  const [method = "", path = ""] = first.split(" ");
  return shop.gateway.request(method, path, {
    headers: headers.map((header): [string, string] => {
      const colon = header.indexOf(":");
      return [header.slice(0, colon), header.slice(colon + 1).trim()];
    }),
    body: body.length > 0 ? Buffer.from(body.join("\n\n")) : undefined,
  });
}

/** What the gateway answers to a request, and what the page says of it. */
async function answered(shop: Shop, example: Example) {
  const { is, value } = result(example, /^json answers/)!;
  const { status, body } = await request(shop, example.text);
  const expected = {
    status: Number(is.split(" ").at(-1)),
    body: JSON.parse(shop.really(JSON.stringify(value))),
  };
  return { answer: { status, body }, expected };
}

it("every block of docs/migrating.md is an example with its result", () => {
  expect(examples.length).toBeGreaterThan(25);
  for (const { line, is, results } of examples) {
    expect(is, `line ${line}`).toMatch(/^(?:(?:json|text) prints|http|http with MPWA_COMPAT=1)$/);
    const needed = is.startsWith("http") ? /^json answers/ : /^json shows/;
    expect(
      results.filter((block) => needed.test(block.is)),
      `line ${line}`,
    ).toHaveLength(1);
  }
});

describe("docs/migrating.md", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
    // The first customer is the one that the requests name.
    await shop.newCustomer();
  });
  afterAll(() => closeShop(shop));

  it.each(named(/prints$/))("what a webhook prints, %s", async (_line, example) => {
    const { shown, reply } = await shop.ask(example.text);
    expect(shown).toEqual(result(example, /^json shows$/)!.value);
    expect(reply.ignored).toEqual(result(example, /^json records$/)?.value ?? []);
  });

  it.each(named(/^http$/))("a request, %s", async (_line, example) => {
    const { answer, expected } = await answered(shop, example);
    expect(answer).toMatchObject(expected);
  });
});

describe("docs/migrating.md with MPWA_COMPAT=1", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ MPWA_COMPAT: "1" });
    await shop.newCustomer();
  });
  afterAll(() => closeShop(shop));

  it.each(named(/^http with MPWA_COMPAT=1$/))("a request, %s", async (_line, example) => {
    const { answer, expected } = await answered(shop, example);
    expect(answer).toMatchObject(expected);
  });

  it("every failure is HTTP 400", async () => {
    const { key, gateway } = shop;
    const answers = [
      await gateway.post("/send-message", { api_key: "wrong", sender: "1", number: "1", message: "x" }),
      await gateway.get("/nothing/here"),
      await gateway.get("/send-message/no"),
      await gateway.post("/send-message", "{", { key }),
      await gateway.post("/send-message", "x", { key, headers: { "content-type": "image/png" } }),
      await gateway.delete("/send-message", { key }),
    ];
    for (const { status, body } of answers) expect([status, body.status]).toEqual([400, false]);
  });

  it("status is the text processing until the QR is there", async () => {
    const statuses = new Set<unknown>();
    for (let state = ""; state !== "qr";) {
      const { body } = await shop.gateway.post(
        "/generate-qr",
        { device: "31600000099", force: "1" },
        { key: shop.key },
      );
      state = body.state;
      statuses.add(`${state}: ${body.status}`);
    }
    expect([...statuses].filter((seen) => seen !== "processing: processing")).toEqual(["qr: false"]);
  });
});
