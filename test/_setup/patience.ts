import { vi, type VitestUtils } from "vitest";

/** The same for what polls by itself stands in `vitest.config.ts`. */
const PATIENCE_MS = 60_000;

/** Vitest's own second is too little where five workers share two cores: whoever waits is patient, unless the test says a time. */
const PATIENT = Symbol.for("parley.test.patient");
if (!(PATIENT in globalThis)) {
  const waitFor = vi.waitFor.bind(vi);
  vi.waitFor = ((callback, options) =>
    waitFor(
      callback,
      typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options },
    )) as VitestUtils["waitFor"];
  Object.assign(globalThis, { [PATIENT]: true });
}
