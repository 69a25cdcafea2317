import { docsHtml, docsPolicy } from "./docs/page.ts";
import { RawResult } from "./answers/envelope.ts";
import { openApiDocument } from "./openapi/document.ts";

let json: Promise<string> | undefined;
let html: Promise<string> | undefined;

/** Both are the same for everybody and for as long as the process lives. */
export async function openApiAnswer(): Promise<RawResult> {
  json ??= openApiDocument().then((document) => JSON.stringify(document));
  return new RawResult(await json, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
  });
}

/** The page of `GET /docs`, made on first use. Its content policy lets in nothing but what the page itself holds. */
export async function docsPage(): Promise<RawResult> {
  html ??= openApiDocument().then(docsHtml);
  return new RawResult(await html, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": docsPolicy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
}
