import { expect, it } from "vitest";
import { integer } from "../../../src/simulator/media/der.ts";

it.each([
  ["12", "020112"],
  ["80", "02020080"],
  ["0012", "020112"],
  ["000080", "02020080"],
  ["00", "020100"],
])("writes the number %s in its shortest form, the only one that is valid", (bytes, encoded) => {
  expect(integer(Buffer.from(bytes, "hex")).toString("hex")).toBe(encoded);
});
