/** Makes the test build of the present sources, see `build.ts`. */
import { testBuild } from "./build.ts";

await testBuild();
