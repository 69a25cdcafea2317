import { downloadContentFromMessage } from "@whiskeysockets/baileys";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSealedWriter, readSealed, sealedLength } from "../../../src/media/seal.ts";
import { removeFolder } from "../../_setup/folders.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64");

async function seal(content: Buffer, pieces: number) {
  const folder = mkdtempSync(join(tmpdir(), "parley-seal-"));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, "file");
  const writer = await openSealedWriter(path, "document");
  const step = Math.ceil(content.length / pieces);
  for (let at = 0; at < content.length; at += step) await writer.write(content.subarray(at, at + step));
  return { path, sealed: await writer.finish() };
}

describe("an encrypted file", () => {
  it.each([1, 15, 16, 17, 100_000])("of %i bytes opens to what was written", async (size) => {
    const content = Buffer.alloc(size, "parley!");
    const { path, sealed } = await seal(content, 3);
    const stored = readFileSync(path);
    expect(sealed).toMatchObject({ size, sha256: sha256(content), encSha256: sha256(stored) });
    expect(stored).toHaveLength(sealedLength(size));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const pieces: Buffer[] = [];
    for await (const piece of readSealed(path, { ...sealed, kind: "document" })) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  });

  it("is read by another implementation of the same format", async () => {
    const content = Buffer.alloc(50_001, "parley!");
    const { path, sealed } = await seal(content, 5);
    const server = createServer((_request, response) => response.end(readFileSync(path)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/f`;
    const mediaKey = Buffer.from(sealed.mediaKey, "base64");
    const chunks: Buffer[] = [];
    for await (const chunk of await downloadContentFromMessage({ mediaKey, url }, "document"))
      chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });
});
