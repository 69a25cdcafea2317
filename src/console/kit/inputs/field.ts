import { inject, provide, type InjectionKey, type Ref } from "vue";

/** What a control inside of a field takes from it. */
export interface FieldContext {
  id: string;
  describedBy: Ref<string | undefined>;
  invalid: Ref<boolean>;
}

const KEY: InjectionKey<FieldContext> = Symbol("field");

/** For `Field`. */
export const provideField = (context: FieldContext): void => provide(KEY, context);

/** For a control; null outside of a field. */
export const useField = (): FieldContext | null => inject(KEY, null);
