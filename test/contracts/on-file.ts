import { createClient } from "@libsql/client";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { createFileReader } from "../../src/store/file/file-engine.ts";
import { temporaryFolder } from "../unit/store/temporary.ts";
import { TABLE, type Rig } from "./engine.ts";

/** A rig on a file, for both engines that write one. */
export async function openFileRig(
  create: (file: string) => Engine | Promise<Engine>,
): Promise<Rig & { file: string }> {
  const file = join(temporaryFolder(), "t.db");
  const engine = await create(file);
  onTestFinished(() => engine.close());
  await engine.batch([{ sql: TABLE, args: [] }]);
  const source = createFileReader(file);
  onTestFinished(() => source.close());
  return {
    file,
    engine,
    source,
    async hold() {
      const other = createClient({ url: `file:${file}`, concurrency: 1 });
      const transaction = await other.transaction("write");
      return async () => {
        await transaction.rollback();
        other.close();
      };
    },
    async readOnly(on) {
      await engine
        .batch([{ sql: `PRAGMA query_only = ${on ? "ON" : "OFF"}`, args: [] }])
        .catch(() => undefined);
    },
    largestValue: 16 * 1024 * 1024,
  };
}
