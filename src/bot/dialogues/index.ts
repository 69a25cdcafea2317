export { form, type Fields, type Form, type Values, type WithItsAnswers } from "./form.ts";
export { menu, type Menu, type MenuDefinition, type MenuOption } from "./menu.ts";
export type { Choice, Shown } from "./choices.ts";
export type { DialogueOptions, DialogueTexts } from "./texts.ts";
export type { Choices, Field, FieldOptions, FileAnswer, Question, ValueOf } from "./fields.ts";
/** Kinds of questions for `form`: `fields.text("Your name?")`. */
export * as fields from "./fields.ts";
