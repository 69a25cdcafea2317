import { describe } from "vitest";
import { createFileEngine } from "../../src/store/file/file-engine.ts";
import { engineContract } from "./engine.ts";
import { openFileRig } from "./on-file.ts";

describe("the engine that writes a file on the event loop's thread", () => {
  engineContract(() => openFileRig(createFileEngine));
});
