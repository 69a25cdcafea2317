import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isLogged } from "../../../src/api/audit/audit-log.ts";
import { endpoints, nameOf } from "../../../src/api/endpoints/index.ts";

const file = new URL("../../../src/console/locales/en/changes.json", import.meta.url);
const { done } = JSON.parse(readFileSync(file, "utf8")) as { done: Record<string, string> };

/** It changes something now and then: when it registers a number. */
const AT_TIMES = ["generateQr"];

it("every change that the log may have is told in words", () => {
  expect(
    Object.keys(done).toSorted(),
    "Say in src/console/locales/*/changes.json what the operation has done.",
  ).toEqual([...endpoints.filter(isLogged).map(nameOf), ...AT_TIMES].toSorted());
});
