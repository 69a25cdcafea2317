import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { BUILD_WITHIN_MS, whenBuilt } from "./build.ts";
import { disposeIdle } from "./gateways-again.ts";
import { endWorlds } from "./world.ts";

/** Hooks of all files whose tests start gateways. Not in `world.ts`, which is loaded once for all files of a process. */
beforeAll(() => whenBuilt(inject("serverEntry")), BUILD_WITHIN_MS);
afterEach(endWorlds);
afterAll(disposeIdle);
