import type { HeaderObject } from "./headers.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The parts of an OpenAPI 3.1 document that ours uses. */
export interface OpenApiDocument {
  openapi: string;
  info: JsonSchema;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  /** What the gateway posts to the addresses of others. */
  webhooks: Record<string, { post: Omit<Operation, "security"> & { security: [] } }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
    examples: Record<string, { summary: string; value: unknown }>;
    securitySchemes: JsonSchema;
  };
}

/** What OpenAPI says about one method of one path. */
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  /** Failures are references to `components.responses`. */
  responses: Record<string, ResponseObject | { $ref: string }>;
}

/** A parameter of the path, the query or the headers. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

interface MediaType {
  schema: JsonSchema;
  example?: unknown;
  /** References to examples, by code. */
  examples?: Record<string, { $ref: string }>;
}

/** One answer of an operation. */
export interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content: Record<string, MediaType>;
  /** Codes of failures, each with what it means. */
  "x-codes"?: Record<string, string>;
}
