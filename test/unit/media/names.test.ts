import { describe, expect, it } from "vitest";
import { documentName } from "../../../src/media/names.ts";

const URL = "https://files.example/invoices/march%202026.pdf?key=1";

const named = (header: string): string => documentName("pdf", undefined, header, URL);

describe("the name of a document", () => {
  it("is the caption as given, with its extension appended when it has none", () => {
    expect(documentName("pdf", "Invoice", null, URL)).toBe("Invoice.pdf");
    expect(documentName("pdf", "Invoice.pdf", null, URL)).toBe("Invoice.pdf");
    expect(documentName("pdf", "Invoice.PDF", null, URL)).toBe("Invoice.PDF");
    expect(documentName("xlsx", "Totals 2026.03", null, URL)).toBe("Totals 2026.03.xlsx");
    expect(documentName("zip", " Fotos à la carte ", null, URL)).toBe("Fotos à la carte.zip");
    expect(documentName("mp3", "song...", null, URL)).toBe("song.mp3");
  });

  it("is what the server calls it when there is no caption", () => {
    expect(named('attachment; filename="report.pdf"')).toBe("report.pdf");
    expect(named("attachment; filename=report")).toBe("report.pdf");
    expect(named("attachment; filename=\"x.pdf\"; filename*=UTF-8''%E2%82%AC%20rates.pdf")).toBe(
      "€ rates.pdf",
    );
    expect(named("attachment; filename*=ISO-8859-1''caf%E9.pdf")).toBe("café.pdf");
    expect(named(`inline; filename="${Buffer.from("größe.pdf").toString("latin1")}"`)).toBe("größe.pdf");
    expect(named(String.raw`attachment; filename="a \"b\".pdf"`)).toBe('a "b".pdf');
  });

  it("takes no folders and nothing unseen from elsewhere", () => {
    expect(named('attachment; filename="../../etc/passwd"')).toBe("passwd.pdf");
    expect(named('attachment; filename="C:\\\\temp\\\\a.pdf"')).toBe("a.pdf");
    expect(named("attachment; filename*=UTF-8''a%E2%80%AEfdp.exe%00.pdf")).toBe("afdp.exe.pdf");
    expect(named(`attachment; filename="${"x".repeat(400)}.pdf"`)).toMatch(/^x{251}\.pdf$/);
  });

  it("is at most 255 characters long, and plain, whatever names it", () => {
    const unseen = "\r\n\u0000\u202e\u2066\u200b\u200f\ufeff\u061c\u2028\u0085";
    for (const [words, expected] of [
      ["x".repeat(65_000), `${"x".repeat(251)}.pdf`],
      [`${".".repeat(65_000)}_`, "file.pdf"],
      [`${"a.".repeat(32_000)}pdf`, /^(a\.){125}a\.pdf$/],
      [`In${unseen}voice${unseen}`, "Invoice.pdf"],
      ["../../etc/passwd", ".._.._etc_passwd.pdf"],
      ["Rechnung 3/2024", "Rechnung 3_2024.pdf"],
      [`${"x".repeat(250)}😀😀`, `${"x".repeat(250)}.pdf`],
      ["\ud83d", "\ufffd.pdf"],
      [unseen, "march 2026.pdf"],
    ] as const) {
      const name = documentName("pdf", words, null, URL);
      expect(name.length).toBeLessThanOrEqual(255);
      if (typeof expected === "string") expect(name).toBe(expected);
      else expect(name).toMatch(expected);
      // The same name in the address and in the header.
      const escaped = encodeURIComponent(words.toWellFormed());
      if (words.length < 1_000) {
        expect(named(`attachment; filename*=UTF-8''${escaped}`).length).toBeLessThanOrEqual(255);
        expect(documentName("pdf", "", null, `https://a.example/${escaped}`)).not.toMatch(/[\p{Cc}\u202e/]/u);
      }
    }
  });

  it("is cleaned in time that grows with its length", () => {
    const before = process.cpuUsage();
    for (const hostile of [".", "a.", "/", "\\", " ", "\u202e", "\ud83d", ". ", "./"])
      for (const end of ["", "_", "."]) documentName("pdf", hostile.repeat(500_000) + end, null, URL);
    // Microseconds, generous: what is quadratic takes minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });

  it("is the last part of the address when nothing else names it", () => {
    expect(documentName("pdf", "  ", "inline", URL)).toBe("march 2026.pdf");
    expect(documentName("doc", undefined, null, "https://a.example/letter")).toBe("letter.doc");
    expect(documentName("doc", undefined, null, "https://a.example/100%")).toBe("100%.doc");
    expect(documentName("doc", undefined, null, "https://a.example/")).toBe("file.doc");
    expect(documentName("", undefined, null, "https://a.example/raw")).toBe("raw");
  });
});
