/**
 * Tests of bots: `import { createTestChat } from "parley/testing"`.
 *
 * The path of a message is the gateway's own, on a database of its own; the clock and WhatsApp are the test's.
 */
export { createTestChat } from "./chat.ts";
export { CrashDifferenceError, crashEverywhere, type CrashOptions, type CrashReport } from "./crash.ts";
export { BotFailedError } from "./failures.ts";
export { matchers } from "./chats/matching.ts";
export { NetworkBlockedError, type Call, type Stub, type StubAnswer } from "./network/network.ts";
export { differenceOf, type Difference } from "./stories/difference.ts";
export { playStory, type Played, type PlayOptions } from "./stories/play.ts";
export { readStory, StoryError } from "./stories/read.ts";
export type { Answerer, OutsideAnswers, Said, Story, StoryLine, StoryReply } from "./stories/story.ts";
export { writeStory } from "./stories/write.ts";
export type { AnyBot, DeployOptions, TestBots, TestChatOptions, TestWebhook } from "./options.ts";
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
