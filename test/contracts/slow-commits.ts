/**
 * Commits three times and prints how often the event loop went round meanwhile, looking every 10 ms.
 * Arguments: `thread` or `file`, folder.
 */
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { createFileEngine } from "../../src/store/file/file-engine.ts";
import { createThreadEngine } from "../../src/store/thread/engine.ts";
import { configFor } from "../unit/store/temporary-config.ts";
import { insert, TABLE } from "./engine.ts";

const [kind, folder] = process.argv.slice(2);
const file = join(folder!, "t.db");
const log = createLogger(configFor(folder!), { write: () => undefined });
const engine = kind === "thread" ? await createThreadEngine(file, log) : createFileEngine(file);
await engine.batch([{ sql: TABLE, args: [] }]);
let turns = 0;
const ticking = setInterval(() => turns++, 10);
let commits = 0;
for (const id of [1, 2, 3]) commits += (await engine.batch([insert(id)])).length;
clearInterval(ticking);
console.log(JSON.stringify({ turns, commits }));
await engine.close();
console.log("done");
