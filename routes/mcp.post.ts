import { defineApi } from "../src/api/define-api.ts";
import { mcp } from "../src/api/endpoints/mcp.ts";
import { answerMcp } from "../src/mcp/answer.ts";

/** `POST /mcp`: one message of the Model Context Protocol. */
export default defineApi(mcp, answerMcp);
