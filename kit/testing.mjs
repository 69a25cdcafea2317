import { built } from "./built.mjs";

export const {
  BotFailedError,
  CrashDifferenceError,
  NetworkBlockedError,
  StoryError,
  crashEverywhere,
  createTestChat,
  differenceOf,
  matchers,
  playStory,
  readStory,
  writeStory,
} = await built("testing");
