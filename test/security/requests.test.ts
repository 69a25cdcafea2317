import { describe, expect, it } from "vitest";
import { endpoints, nameOf, rightFields } from "./requests.ts";

describe("the requests of the security tests", () => {
  it.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    "know a right value for every field that %s demands",
    (_, endpoint) => {
      expect(endpoint.input.safeParse(rightFields(endpoint)).error?.issues ?? []).toEqual([]);
    },
  );
});
