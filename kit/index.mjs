import { built } from "./built.mjs";

export const {
  ContextClosedError,
  FlowMistake,
  OutboundError,
  StepFailedError,
  defineBot,
  fields,
  flow,
  form,
  menu,
  url,
} = await built("index");
