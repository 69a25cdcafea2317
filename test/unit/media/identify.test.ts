import { describe, expect, it } from "vitest";
import { identify } from "../../../src/media/decoder/identify.ts";
import { mimetypeFor } from "../../../src/media/fit.ts";
import type { MediaType } from "../../../src/model/media/media.ts";
import { cfb, docx, pdf, png, wav, xlsx, zip } from "./samples.ts";

/** What `/send-media` would make of the bytes: the mimetype, or why not. */
async function judged(mediaType: MediaType, bytes: Buffer, tail = bytes): Promise<string> {
  const found = await identify(bytes.subarray(0, 65_536), tail.subarray(-65_536));
  return mimetypeFor(mediaType, found, bytes) ?? `is ${found.label}`;
}

const text = (content: string): Buffer => Buffer.from(content);

describe("what a file is", () => {
  it("is told by its bytes, and each type takes its own", async () => {
    expect(await judged("pdf", pdf())).toBe("application/pdf");
    expect(await judged("pdf", text(`mail header\r\n${pdf().toString("latin1")}`))).toBe("application/pdf");
    expect(await judged("image", png())).toBe("image/png");
    expect(await judged("audio", wav(1))).toMatch(/^audio\//);
    expect(await judged("zip", zip({ "a.txt": "a" }))).toBe("application/zip");
    expect(await judged("xml", text("<?xml version='1.0'?>\n<!-- a --><invoice/>"))).toBe("application/xml");
    expect(await judged("xml", text("\uFEFF<ns:a xmlns:ns='b'></ns:a>"))).toBe("application/xml");
    expect(
      await judged("xml", Buffer.from("\uFEFF<?xml version='1.0' encoding='UTF-16'?><a/>", "utf16le")),
    ).toBe("application/xml");
    expect(await judged("doc", cfb("WordDocument"))).toBe("application/msword");
    expect(await judged("xls", cfb("Workbook"))).toBe("application/vnd.ms-excel");
  });

  it("counts Word and Excel as what they are although they are zips", async () => {
    expect(await judged("docx", docx())).toContain("wordprocessingml.document");
    expect(await judged("xlsx", xlsx())).toContain("spreadsheetml.sheet");
    expect(await judged("zip", docx())).toMatch(/^is a DOCX file/);
    expect(await judged("docx", xlsx())).toMatch(/^is an XLSX file/);
    expect(await judged("docx", zip({ "a.txt": "a" }))).toMatch(/^is a ZIP file/);
    expect(await judged("doc", docx())).toMatch(/^is a DOCX file/);
    expect(await judged("xls", cfb("WordDocument"))).toBe("is an old Word document");
  });

  it("finds out at the end of a file whose beginning tells nothing", async () => {
    const late = docx({ "aaa.bin": "x".repeat(100_000) });
    expect(late.subarray(0, 65_536).includes("word/document.xml")).toBe(false);
    expect(await judged("docx", late)).toContain("wordprocessingml.document");
  });

  it.each([
    ["pages with a doctype", "<!DOCTYPE html>\n<html></html>"],
    ["pages without one", "\n\n <HTML><head></head>"],
    ["pages behind a comment", "<!-- saved --><html>"],
    ["XHTML", '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C"><html xmlns="x">'],
    ["parts of pages", "<script>location='/login'</script>"],
  ])("knows %s, whatever was asked for", async (_, page) => {
    for (const mediaType of ["image", "pdf", "xml", "zip", "doc"] as const)
      expect(await judged(mediaType, text(page))).toBe("is an HTML page");
  });

  it("names what contradicts", async () => {
    expect(await judged("image", pdf())).toBe("is a PDF file (application/pdf)");
    expect(await judged("pdf", png())).toBe("is a PNG file (image/png)");
    expect(await judged("mp3", wav(1))).toMatch(/^is a WAV file/);
    expect(await judged("xml", text("just words"))).toBe("is a plain text");
    expect(await judged("xml", text('{"a": "<b>"}'))).toBe("is a plain text");
    expect(await judged("xml", Buffer.from([0x3c, 0x61, 0x3e, 0, 1, 2]))).toBe("is bytes of no known type");
    expect(await judged("video", Buffer.from([1, 2, 3, 0]))).toBe("is bytes of no known type");
  });
});
