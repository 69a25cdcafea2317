/**
 * Tests of bots: `import { createTestChat } from "parley/testing"`.
 *
 * The path of a message is the gateway's own, on a database of its own; the clock and WhatsApp are the test's.
 */
export { createTestChat, type GroupChat, type TestChat } from "./chat.ts";
export type { Conversation, Decision, SentFile, UserMessage } from "./conversation.ts";
export type { Call, Stub, StubAnswer } from "./network.ts";
export { NetworkBlockedError } from "./network.ts";
export type { AnyBot, TestBots, TestChatOptions, TestWebhook } from "./options.ts";
export type { Expected, ExpectedFields, Reply } from "./replies.ts";
export { CrashDifferenceError, crashEverywhere, type CrashOptions, type CrashReport } from "./crash.ts";
export { matchers } from "./matching.ts";
