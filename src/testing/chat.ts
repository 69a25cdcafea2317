import { openTestChat } from "./open.ts";
import type { TestBots, TestChatOptions } from "./options.ts";
import type { TestChat } from "./types.ts";

/**
 * Creates a chat with bots as the gateway runs them: messages take the real path, on a real database in a temporary folder.
 * The clock and the connection belong to the test, and nothing reaches the network. Close it with `await using` or `close()`.
 *
 * @throws {TypeError} when a bot or an option is not valid; {GatewayError} when a bot refuses its config
 */
export async function createTestChat(bots: TestBots, options: TestChatOptions = {}): Promise<TestChat> {
  const { chat } = await openTestChat(bots, options, () => null);
  return chat;
}
