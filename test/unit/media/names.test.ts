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
    expect(named(`attachment; filename="${"x".repeat(400)}.pdf"`)).toMatch(/^x{236}\.pdf$/);
  });

  it("is the last part of the address when nothing else names it", () => {
    expect(documentName("pdf", "  ", "inline", URL)).toBe("march 2026.pdf");
    expect(documentName("doc", undefined, null, "https://a.example/letter")).toBe("letter.doc");
    expect(documentName("doc", undefined, null, "https://a.example/100%")).toBe("100%.doc");
    expect(documentName("doc", undefined, null, "https://a.example/")).toBe("file.doc");
    expect(documentName("", undefined, null, "https://a.example/raw")).toBe("raw");
  });
});
