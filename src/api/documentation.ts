import { docsHtml, docsPolicy } from "./docs/page.ts";
import { RawResult } from "./envelope.ts";
import { openApiDocument } from "./openapi/document.ts";

let json: string | undefined;
let html: string | undefined;

/** Both are the same for everybody and for as long as the process lives. */
export function openApiAnswer(): RawResult {
  json ??= JSON.stringify(openApiDocument());
  return new RawResult(json, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
  });
}

/** The page of `GET /docs`, made on first use. Its content policy lets in nothing but what the page itself holds. */
export function docsPage(): RawResult {
  html ??= docsHtml(openApiDocument());
  return new RawResult(html, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": docsPolicy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
}
