import { createHash } from "node:crypto";
import { responsesIn } from "../openapi/responses.ts";
import type { OpenApiDocument, Operation, Parameter, ResponseObject } from "../openapi/types.ts";
import type { JsonSchema } from "../openapi/json-schema.ts";
import { curlFor } from "./curl.ts";
import { html, Html, prose } from "./html.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

interface Shown {
  method: string;
  path: string;
  operation: Operation;
  responses: Record<string, ResponseObject>;
}

// Made outside of the page's template: the policy's hashes are those of every byte between the tags.
const STYLE_TAG = new Html(`<style>${STYLE}</style>`);
const SCRIPT_TAG = new Html(`<script>${SCRIPT}</script>`);

/** Nothing but what stands in the page itself; its style and script by their hashes. */
export function docsPolicy(): string {
  return [
    "default-src 'none'",
    `style-src ${hash(STYLE)}`,
    `script-src ${hash(SCRIPT)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The OpenAPI document as one page that needs no other file, and no script to be read. */
export function docsHtml(document: OpenApiDocument): string {
  const shown = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      responses: responsesIn(document, operation),
    })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    shown: shown.filter(({ operation }) => operation.tags[0] === name),
  }));
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Parley API</title>
        <link rel="icon" href="data:," />
        ${STYLE_TAG}
      </head>
      <body>
        <div class="page">
          <nav aria-label="Endpoints">
            <h1>Parley <small>API</small></h1>
            <input type="search" placeholder="Find an endpoint" aria-label="Find an endpoint" hidden />
            ${groups.map(
              ({ name, shown: list }) =>
                html`<section>
                  <h2>${name}</h2>
                  <ul>
                    ${list.map(navItem)}
                  </ul>
                </section>`,
            )}
          </nav>
          <main>
            ${intro(String(document.info["description"]))}
            ${groups.map(
              ({ name, shown: list }) =>
                html`<h2 class="tag">${name}</h2>
                  ${list.map(article)}`,
            )}
          </main>
        </div>
        ${SCRIPT_TAG}
      </body>
    </html> `;
  return text;
}

function navItem({ method, path, operation }: Shown): Html {
  const words = `${method} ${path} ${operation.summary}`.toLowerCase();
  return html`<li data-words="${words}">
    <a href="#${operation.operationId}">${chip(method)}<code>${path}</code></a>
  </li>`;
}

const chip = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`;

function intro(description: string): Html {
  return html`<div class="intro">
    <h2>Send and receive, from any language</h2>
    <p>${prose(description)}</p>
    <p>
      Send the key in the header <code>Authorization: Bearer</code>, or in the field <code>api_key</code> of
      the body. Bodies are JSON or forms.
    </p>
    <p><a href="openapi.json">openapi.json</a> has the same for programs.</p>
  </div>`;
}

function article({ method, path, operation, responses }: Shown): Html {
  const { operationId, summary } = operation;
  return html`<article id="${operationId}">
    <h3>
      ${chip(method)}<a href="#${operationId}"><code>${path}</code></a
      >${who(operation)}
    </h3>
    <p>${prose(summary)}.</p>
    ${fields(operation)}
    <h4>Request</h4>
    <div class="sample"><pre>${curlFor(method, path, operation)}</pre></div>
    ${answer(responses)} ${codes(responses)}
  </article> `;
}

function who({ security }: Operation): Html {
  const [scheme, scopes = []] = Object.entries(security[0] ?? {})[0] ?? [];
  if (scheme === undefined) return html`<span class="who">no key</span>`;
  if (scheme === "operator") return html`<span class="who">the operator's token</span>`;
  if (scopes.length === 0) return html`<span class="who">any key</span>`;
  return html`<span class="who">a key with <code>${scopes[0]!}</code></span>`;
}

/** What a request says: path, header, query, body, in one list. */
function fields(operation: Operation): Html {
  const { schema } = operation.requestBody?.content["application/json"] ?? {};
  const required = (schema?.["required"] as string[] | undefined) ?? [];
  const inBody = Object.entries((schema?.["properties"] as Record<string, JsonSchema> | undefined) ?? {});
  const parameters = operation.parameters ?? [];
  const shown = (place: Parameter["in"], note = ""): Html[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema: type, required: needed }) => fieldRow(name, type, needed, note));
  const rows = [
    ...shown("path", "in the path, "),
    ...shown("query"),
    // The key comes last: most callers send it as a header.
    ...inBody
      .toSorted(([a], [b]) => Number(a === "api_key") - Number(b === "api_key"))
      .map(([name, field]) => fieldRow(name, field, required.includes(name), "")),
    ...shown("header", "in the header, "),
  ];
  return rows.length === 0
    ? html``
    : html`<h4>Fields</h4>
        <table>
          ${rows}
        </table>`;
}

function fieldRow(name: string, schema: JsonSchema, required: boolean, where: string): Html {
  const mark = required ? html`<span class="needed">required</span>` : html``;
  const description = typeof schema["description"] === "string" ? ` · ${schema["description"]}` : "";
  return html`<tr>
    <td><code>${name}</code>${mark}</td>
    <td><span class="type">${where}${typeText(schema)}</span>${prose(description)}</td>
  </tr>`;
}

/** `text, 1 to 100 characters`, `one of a, b`, `list of text, 2 to 5` */
function typeText(schema: JsonSchema): string {
  const choices = schema["enum"] as unknown[] | undefined;
  const first = schema["default"] === undefined ? "" : `, default ${JSON.stringify(schema["default"])}`;
  // Flags and numbers may be text as well: what they mean is the first of their forms.
  const [form] = (schema["anyOf"] as JsonSchema[] | undefined) ?? [];
  if (form !== undefined) return typeText({ ...form, default: schema["default"] });
  if (choices !== undefined) return `one of ${choices.join(", ")}${first}`;
  switch (schema["type"]) {
    case "string":
      return schema["format"] === "date-time"
        ? "time in ISO 8601"
        : `text${range(schema, "Length", " characters")}${first}`;
    case "integer":
      return `whole number${range(schema, "imum", "")}${first}`;
    case "boolean":
      return `1 or 0${first}`;
    case "array":
      return `list of ${typeText((schema["items"] as JsonSchema | undefined) ?? {})}${range(schema, "Items", "")}`;
    default:
      return "object";
  }
}

function range(schema: JsonSchema, what: string, unit: string): string {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]] as (number | undefined)[];
  if (most === undefined) return "";
  return `, ${least ? `${least.toLocaleString("en")} to ` : "up to "}${most.toLocaleString("en")}${unit}`;
}

function answer(responses: Shown["responses"]): Html {
  const [status, response] = Object.entries(responses)[0]!;
  const [type, content] = Object.entries(response.content)[0]!;
  if (content.example === undefined)
    return html`<h4>Answer ${status}</h4>
      <p><code>${type}</code></p>`;
  return html`<h4>Answer ${status}</h4>
    <div class="sample"><pre>${readable(content.example)}</pre></div>`;
}

const LINE = 76;

/** JSON whose short records stay on one line. */
function readable(value: unknown, indent = ""): string {
  const inline = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  if (typeof value !== "object" || value === null || (indent !== "" && inline.length + indent.length <= LINE))
    return inline;
  const deeper = `${indent}  `;
  const list = Array.isArray(value);
  const entries = Object.entries(value).map(
    ([name, entry]) => `${deeper}${list ? "" : `${JSON.stringify(name)}: `}${readable(entry, deeper)}`,
  );
  return `${list ? "[" : "{"}\n${entries.join(",\n")}\n${indent}${list ? "]" : "}"}`;
}

function codes(responses: Shown["responses"]): Html {
  const rows = Object.entries(responses).flatMap(([status, response]) =>
    Object.entries(response["x-codes"] ?? {}).map(
      ([code, text]) =>
        html`<tr>
          <td><span class="status">${status}</span><code>${code}</code></td>
          <td>${prose(text)}</td>
        </tr>`,
    ),
  );
  return html`<details>
    <summary>${rows.length} codes when it fails</summary>
    <table class="codes">
      ${rows}
    </table>
  </details>`;
}
