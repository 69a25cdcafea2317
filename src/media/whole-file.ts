import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FileDamaged, type Intake } from "./incoming-cipher.ts";

/**
 * Writes a file beside its place first: what has its name is whole and right.
 *
 * @param intake says what is written of what comes, and at the end whether it was right
 * @throws {FileDamaged}, what the disk and what `chunks` say; nothing is left then
 */
export async function writeWhole(path: string, chunks: AsyncIterable<Buffer>, intake: Intake): Promise<void> {
  const part = `${path}.${randomBytes(4).toString("hex")}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(part, "wx", 0o600);
  try {
    for await (const chunk of chunks) await file.appendFile(intake.update(chunk));
    await file.appendFile(intake.end());
    await file.close();
    await rename(part, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}

/** For a file that is kept as it comes, and known by the hash of all of it. @param sha256 base64 */
export function hashedIntake(sha256: string): Intake {
  const hash = createHash("sha256");
  return {
    update(chunk) {
      hash.update(chunk);
      return chunk;
    },
    end() {
      if (hash.digest("base64") !== sha256) throw new FileDamaged();
      return Buffer.alloc(0);
    },
  };
}

/** Whether there is a file with this name on this disk. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
