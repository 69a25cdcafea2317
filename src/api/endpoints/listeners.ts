import { z } from "zod";
import { listener, listenerChange, MOST_LISTENERS, newListener } from "../../webhooks/listeners/settings.ts";
import { endpoint } from "../endpoint.ts";
import { answer, listOf, record } from "../schemas/answer.ts";

const webhooks = { by: "key", permission: "webhooks" } as const;
const nothing = z.object({});
const path = "/devices/{number}/webhooks";
const secret = z.string().startsWith("whsec_");
const bounded = `a number has at most ${MOST_LISTENERS} listeners.`;

export const listListeners = endpoint({
  method: "GET",
  path,
  access: webhooks,
  summary: "Listeners of a number: told of what its webhook, which alone answers, may be told of",
  message: "Listeners.",
  input: nothing,
  bounded,
  output: listOf(listener),
});

export const createListener = endpoint({
  method: "POST",
  path,
  access: webhooks,
  summary: `Add a listener to a number, up to ${MOST_LISTENERS}; its answers are ignored`,
  message: "Listener added. Its secret is shown this once.",
  errors: ["URL_NOT_ALLOWED", "PLAN_LIMIT"],
  input: newListener,
  output: record(listener, { secret }),
});

export const changeListener = endpoint({
  method: "PATCH",
  path: `${path}/{id}`,
  access: webhooks,
  summary: "Change a listener; what is left out stays",
  message: "Listener changed.",
  errors: ["URL_NOT_ALLOWED"],
  input: listenerChange,
  output: record(listener),
});

export const deleteListener = endpoint({
  method: "DELETE",
  path: `${path}/{id}`,
  access: webhooks,
  summary: "Remove a listener; what is pending for it ends",
  message: "Listener removed.",
  input: nothing,
  output: answer({}),
});

export const rotateListener = endpoint({
  method: "POST",
  path: `${path}/{id}/rotate`,
  access: webhooks,
  summary: "A new signing secret of a listener; old and new sign for 24 hours",
  message: "Secret rotated. The new one is shown this once.",
  input: nothing,
  output: record(listener, { secret }),
});
