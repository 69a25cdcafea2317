/**
 * The package that bots import: `import { defineBot } from "parley"`.
 *
 * One file in `bots/` (or in `BOTS_DIR`, where no import is needed) is one bot. Exactly one bot answers a message: the first,
 * by priority, that has a matching route and does not call `ctx.next()`. A handler's replies leave together when it returns.
 * When a handler throws, or takes longer than `BOT_TIMEOUT_MS`, its replies are dropped and the next bot is asked.
 */
export { defineBot } from "./routes/define.ts";
export { ContextClosedError } from "./handlers/effects.ts";
export { fields, form, menu } from "./dialogues/index.ts";
export { flow } from "./flow/flow.ts";
export { FlowMistake, StepFailedError } from "./flow/errors.ts";
export type {
  AskOptions,
  CallOptions,
  Flow,
  FlowContext,
  FlowEntry,
  FlowFunction,
  FlowOptions,
  OnChange,
  ReviewOptions,
  StepOptions,
  Until,
  Woken,
} from "./flow/types.ts";
export type {
  Choice,
  Choices,
  DialogueOptions,
  DialogueTexts,
  Field,
  FieldOptions,
  Fields,
  FileAnswer,
  Form,
  Menu,
  MenuDefinition,
  MenuOption,
  Question,
  Shown,
  Values,
} from "./dialogues/index.ts";
export { OutboundError } from "../net/errors.ts";
export { url, type UrlOptions } from "./bindings/url.ts";
export type { FetchOptions } from "./handlers/fetching.ts";
export type { Duration } from "./duration.ts";
export type { Kept } from "./types/kept.ts";
export type { StandardSchema } from "./standard-schema.ts";
export type {
  AnyContext,
  BotChat,
  BotDefinition,
  BotLimits,
  BotLog,
  BotOptions,
  BotStore,
  Burst,
  CommandMatch,
  Content,
  Context,
  Dialogue,
  DialogueHost,
  DialogueState,
  FileOptions,
  FileSource,
  Filter,
  Filtered,
  HandoffOptions,
  Handler,
  Idle,
  InterruptOptions,
  KeepOptions,
  KeptEntry,
  Message,
  MessageOf,
  NewerOptions,
  Middleware,
  Observation,
  OnError,
  OwnTimer,
  PollOptions,
  ReceivedFile,
  ReplyOptions,
  RouteOptions,
  Routes,
  SendOptions,
  SessionOptions,
  Timer,
  TimerHandler,
  TimerKey,
  TimerOptions,
  Turn,
} from "./types.ts";
export type { PastMessage, Writer } from "../model/past-message.ts";
export type { ChatKind, MessageType } from "../model/messages.ts";
