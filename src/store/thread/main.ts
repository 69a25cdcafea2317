/**
 * The thread that owns the writing connection to a file. It does one request after the other and answers each; that a
 * batch was answered means that it is on the disk. Built as a file of its own, see `nitro.config.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { createFileWriter } from "../file/file-engine.ts";
import type { RawResult } from "../result.ts";
import {
  createSqlTexts,
  toSentFailure,
  type ThreadAnswer,
  type Request,
  type ThreadData,
} from "./protocol.ts";

const { file } = workerData as ThreadData;
const port = parentPort!;
const textOf = createSqlTexts();
const writer = createFileWriter(file);

function carryOut(request: Request): RawResult[] | undefined {
  if (request.do === "batch") return writer.batch(request.statements.map(textOf));
  if (request.do === "checkpoint") writer.checkpoint();
  else if (request.do === "reconnect") writer.reconnect();
  else writer.close();
  return undefined;
}

function answerOf(request: Request): ThreadAnswer {
  try {
    return { id: request.id, results: carryOut(request) };
  } catch (error) {
    return { id: request.id, failed: toSentFailure(error) };
  }
}

port.on("message", (request: Request) => {
  port.postMessage(answerOf(request));
});
port.postMessage({ id: 0 } satisfies ThreadAnswer);
