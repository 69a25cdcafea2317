export { createClient, type Call, type Client, type FilledRequest } from "./client.ts";
export { ParleyError, type ErrorDetails } from "./error.ts";
export type { EventsOptions, StreamEvent } from "./events.ts";
export {
  reply,
  type ContactReply,
  type LocationReply,
  type MediaReply,
  type MediaType,
  type OneReply,
  type Person,
  type PollReply,
  type TextReply,
  type WebhookReply,
} from "./reply.ts";
export type { ClientOptions, Now } from "./request.ts";
export type { components, operations, paths } from "./schema.ts";
export type {
  AnswerOf,
  CallOptions,
  ErrorCode,
  InputOf,
  ItemOf,
  Method,
  OperationOf,
  PagedPath,
  PageOf,
  PathOf,
  Schemas,
  WebhookPayload,
} from "./types.ts";
export {
  verifyWebhook,
  WebhookError,
  type Delivery,
  type VerifyOptions,
  type WebhookEvent,
  type WebhookRequest,
} from "./webhook.ts";
