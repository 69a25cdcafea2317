/** Opens the store of a folder, says `open` or the reason why not, and stays. Argument: data folder. */
import { createLogger } from "../../../src/log.ts";
import { openStore } from "../../../src/store/open.ts";
import { configFor } from "./temporary-config.ts";

const config = configFor(process.argv[2]!);
try {
  await openStore(config, createLogger(config));
  console.log("open");
  setInterval(() => undefined, 60_000);
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
