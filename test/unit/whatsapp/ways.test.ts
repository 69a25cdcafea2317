import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DIRECTIONS, OTHER_WAYS } from "../../../src/whatsapp/everyday/classify.ts";

it("every reason and direction that is counted is explained, and no other", () => {
  const page = readFileSync(new URL("../../../docs/operations/monitoring.md", import.meta.url), "utf8");
  const section = page.split("### Which way messages take")[1]!.split("\n## ")[0]!;
  const first = section.split("\n").filter((line) => /^\| `[a-z]/.test(line));
  const named = first.flatMap((line) =>
    [...line.split("|")[1]!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name),
  );
  expect(named.filter((name) => name !== "direction" && name !== "reason").toSorted()).toEqual(
    [...DIRECTIONS, ...OTHER_WAYS].toSorted(),
  );
});
