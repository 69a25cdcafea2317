import { expect, it } from "vitest";
import { CODE_TEXTS } from "../../../src/api/openapi/codes.ts";
import cures from "../../../src/console/locales/en/errors.json" with { type: "json" };

it("every error that the gateway answers has a cure, and no other has", () => {
  expect(Object.keys(cures).toSorted(), "src/console/locales/*/errors.json").toEqual(
    [...Object.keys(CODE_TEXTS), "NETWORK_ERROR"].toSorted(),
  );
});
