import { built } from "./built.mjs";

await built("matchers");
