/**
 * Tests of bots: `import { createTestChat } from "parley/testing"`.
 *
 * The path of a message is the gateway's own, on a database of its own; the clock and WhatsApp are the test's.
 */
export { createTestChat } from "./chat.ts";
export { CrashDifferenceError, crashEverywhere, type CrashOptions, type CrashReport } from "./crash.ts";
export { matchers } from "./matching.ts";
export { NetworkBlockedError, type Call, type Stub, type StubAnswer } from "./network.ts";
export type { AnyBot, TestBots, TestChatOptions, TestWebhook } from "./options.ts";
export type {
  Conversation,
  Decision,
  Expected,
  ExpectedFields,
  GroupChat,
  Reply,
  SentFile,
  TestChat,
  UserMessage,
} from "./types.ts";
